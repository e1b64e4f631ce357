import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { findPostgresPrograms } from '../../test/support/postgres.ts';
import { beginTable, figure, printNotMeasured } from '../report.ts';
import { type Rate, alternate, medianOf, ratioOf, sample } from '../sample.ts';
import { milliseconds } from '../settings.ts';
import { type Statement, captureStatement } from '../statements.ts';
import { type Workload, targetOf } from '../workloads.ts';
import type { World } from '../world.ts';
import type { Section } from './section.ts';
import { systemClock } from '../../src/clock.ts';
import { scopes } from '../../src/vocabulary.ts';

const connections = 4;

/** Each operation over REST against PostgreSQL's own load generator sending the same statement. */
export const pgbenchSection: Section = {
  name: 'pgbench',
  async measure(world, workloads) {
    const program = path.join(findPostgresPrograms() ?? '', 'pgbench');
    if (!existsSync(program)) {
      printNotMeasured('the service against pgbench', `There is no ${program}.`);
      return;
    }
    const folder = mkdtempSync(path.join(tmpdir(), 'retention-pgbench-'));
    try {
      await using service = await world.startWarm();
      const key = world.shop.keys[0] as string;
      const row = beginTable(['operation', 'of pgbench', 'requests/s', 'transactions/s']);
      for (const workload of workloads) {
        const statement = await captureStatement(world.databaseUrl, (store) =>
          workload.operation.run(
            { store, caller: callerOf(world), clock: systemClock },
            workload.operation.input.parse(
              workload.varied ? { [workload.varied.argument]: workload.varied.from } : {},
            ),
          ),
        );
        const script = path.join(folder, `${workload.name}.sql`);
        writeFileSync(script, scriptOf(workload, statement));
        const { ours, theirs } = await alternate({
          ours: () =>
            sample(
              targetOf(workload, 'REST', [service.port], () => key),
              { service: [service.pid], database: world.databasePid },
            ),
          theirs: () => runPgbench(program, script, statement, world.databaseUrl),
        });
        row(
          workload.name,
          figure(ratioOf(ours, theirs), 3),
          figure(medianOf(ours, 'perSecond')),
          figure(medianOf(theirs, 'perSecond')),
        );
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

function callerOf({ shop }: World) {
  return {
    shopId: shop.id,
    keyId: 'bench',
    scopes,
    tier: 'enterprise_plus',
    currency: 'USD',
    expiresAt: null,
  } as const;
}

/** The statement as a pgbench script, with a random value for the varied argument. */
function scriptOf({ varied }: Workload, { text, parameters }: Statement): string {
  const statement = text
    .replaceAll(/--.*$/gm, '')
    // pgbench takes a word after a colon for a variable, even inside literals; literals that are
    // separated by a line break count as one.
    .replaceAll(/'[^']*'/g, (literal) => literal.replaceAll(/:(?=\w)/g, ":'\n'"))
    .replaceAll(/\$(\d+)/g, (_, number: string) => {
      switch (String(parameters[Number(number) - 1])) {
        case String(varied?.from):
          return ':varied';
        case `{${varied?.from}}`:
          return 'array[:varied]';
        default:
          return `:p${number}`;
      }
    });
  if (varied && !statement.includes(':varied')) {
    throw new Error(`${varied.argument} is not among the statement's parameters.`);
  }
  return [varied && `\\set varied random(${varied.from}, ${varied.to})`, `${statement.trim()};`, '']
    .filter((line) => line !== undefined)
    .join('\n');
}

async function runPgbench(
  program: string,
  script: string,
  { parameters, settings }: Statement,
  databaseUrl: string,
): Promise<Rate> {
  const seconds = String(Math.max(1, Math.round(milliseconds / 1000)));
  const variables = parameters.flatMap((value, index) => ['-D', `p${index + 1}=${value}`]);
  const options = Object.entries(settings).map(
    ([name, value]) => `-c ${name}=${String(value).replaceAll(' ', '\\ ')}`,
  );
  const { stdout } = await promisify(execFile)(
    program,
    ['-n', '-M', 'prepared', '-c', String(connections), '-j', '2', '-T', seconds, '-f', script]
      .concat(variables)
      .concat(databaseUrl),
    { env: { ...process.env, PGOPTIONS: options.join(' ') } },
  );
  const failed = /number of failed transactions: (\d+)/.exec(stdout)?.[1] ?? '0';
  const perSecond = Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
  if (!(perSecond > 0) || failed !== '0') throw new Error(`pgbench failed:\n${stdout}`);
  return { perSecond };
}
