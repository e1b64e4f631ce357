import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beginTable, figure, print } from '../bench/report.ts';
import { findPostgresPrograms } from '../test/support/postgres.ts';
import { redisMissing } from '../test/support/redis.ts';
import type { Fault } from './fault.ts';
import { companionFaults } from './table/companions.ts';
import { connectionFaults } from './table/connections.ts';
import { failovers } from './table/failover.ts';
import { instanceFaults } from './table/instances.ts';
import { lockFaults } from './table/locks.ts';
import { primaryFaults } from './table/primary.ts';
import { type Result, tryFault } from './trial.ts';
import { summarise } from './verdict.ts';
import { type World, openWorld } from './world.ts';

const faults: readonly Fault[] = [
  ...connectionFaults,
  ...primaryFaults,
  ...lockFaults(),
  ...companionFaults,
  ...instanceFaults(),
  ...failovers,
];
const maxMinutes = 10;
/** How long an orderly shutdown may take. */
const giveUpMilliseconds = 15_000;

/** Runs all faults, or those whose names contain one of the arguments. */
async function main(opened: () => Promise<World>): Promise<boolean> {
  const only = process.argv.slice(2);
  const selected = faults.filter(
    ({ name }) => only.length === 0 || only.some((each) => name.includes(each)),
  );
  if (selected.length === 0) {
    print(`No fault matches. Available: ${faults.map(({ name }) => name).join('; ')}.`);
    return false;
  }
  const begin = performance.now();
  const world = await opened();
  const results = await tryAll(selected, world);
  await world.traffic.end();
  await world.owner.end();
  const { problems, closing } = summarise(results, world, (performance.now() - begin) / 1000);
  for (const problem of problems) print(`WRONG: ${problem}`);
  if (problems.length > 0) print(`The logs of the instances are in ${folder}.`);
  print(closing);
  return problems.length === 0;
}

async function tryAll(selected: readonly Fault[], world: World): Promise<Result[]> {
  const row = beginTable([
    'fault',
    'answers',
    'refused',
    'recovered s',
    'slowest s',
    'writes failed',
    'writing s',
    'died',
  ]);
  const results: Result[] = [];
  for (const fault of selected) {
    const result = await tryFault(fault, world);
    results.push(result);
    row(
      result.name,
      figure(result.answers),
      figure(result.refused),
      figure(result.recoverySeconds, 1),
      figure(result.slowestSeconds, 1),
      figure(result.writesFailed),
      figure(result.writingSeconds, 1),
      figure(result.deaths.length),
    );
  }
  return results;
}

const missing = [
  findPostgresPrograms() === undefined && 'PostgreSQL (postgres and initdb)',
  redisMissing !== false && 'Redis or Valkey',
].filter((each) => each !== false);
if (missing.length > 0) {
  print(`The drill needs ${missing.join(' and ')} on this machine.`);
  process.exit(1);
}
const folder = mkdtempSync(path.join(tmpdir(), 'retention-faults-'));
const deferred = new AsyncDisposableStack();
let opening: Promise<World> | undefined;
let isGivenUp = false;
const giveUp = async (reason: string, code: number) => {
  if (isGivenUp) process.exit(code);
  isGivenUp = true;
  print(reason);
  // Exiting kills whatever cannot be stopped in time.
  setTimeout(() => process.exit(code), giveUpMilliseconds).unref();
  // Wait for it, so that nothing that is being started is left running.
  await opening?.catch(() => {});
  await deferred.disposeAsync().catch(() => {});
  rmSync(folder, { recursive: true });
  process.exit(code);
};
process.on('SIGINT', () => void giveUp('Stopped.', 130));
process.on('SIGTERM', () => void giveUp('Stopped.', 143));
setTimeout(
  () => void giveUp(`WRONG: the drill took longer than ${maxMinutes} minutes.`, 1),
  maxMinutes * 60_000,
).unref();
try {
  const hasPassed = await main(() => (opening = openWorld(deferred, folder)));
  await deferred.disposeAsync();
  if (hasPassed) rmSync(folder, { recursive: true });
  process.exitCode = hasPassed ? 0 : 1;
} catch (error) {
  // Errors during an early shutdown are caused by it.
  if (!isGivenUp) {
    await deferred.disposeAsync();
    throw error;
  }
}
