import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type Sql, connect } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { findPostgresPrograms } from '../../test/support/postgres.ts';
import { residentMegabytes } from '../cpu.ts';
import { runClosedLoop } from '../load.ts';
import { type ServerProcess, run, startService } from '../processes.ts';
import { figure } from '../report.ts';
import { type Sample, alternate, medianOf, sample } from '../sample.ts';
import { median } from '../statistics.ts';
import { warmUpMilliseconds } from '../settings.ts';
import { oneOf, targetOf, workloadsOf } from '../workloads.ts';
import type { Shop } from '../world.ts';
import type { Rows } from './state.ts';

/** A database with shops. */
export interface ScaleWorld {
  readonly name: string;
  readonly databaseUrl: string;
  readonly databasePid: number;
  readonly subscriptions: number;
  /** Of each shop. */
  readonly keys: readonly string[];
}

export type Step = (worlds: readonly ScaleWorld[]) => Promise<Record<string, Rows>>;

const largestTables = 8;
const starts = 3;
const restMilliseconds = 5_000;
const sampleMilliseconds = 100;
/** One connection sends one request at a time, so that alike requests share nothing. */
const operations = [
  { name: 'entitlement', tool: 'get_entitlements', connections: 64 },
  { name: 'entitlement alone', tool: 'get_entitlements', connections: 1 },
  { name: 'summary alone', tool: 'get_metrics_summary', connections: 1 },
] as const;

const gigabytes = (bytes: number, digits = 2) => figure(bytes / 1e9, digits);

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return (performance.now() - begin) / 1000;
}

async function withSql<Result>(
  { databaseUrl }: ScaleWorld,
  work: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  const sql = connect(databaseUrl, {
    name: 'bench',
    connections: 2,
    statementTimeoutMilliseconds: 0,
  });
  try {
    return await work(sql);
  } finally {
    await sql.end(0);
  }
}

/** A step that is the same for each world. */
const each =
  (work: (world: ScaleWorld, sql: Sql) => Promise<Rows>): Step =>
  async (worlds) => {
    const rows: Record<string, Rows> = {};
    for (const world of worlds) rows[world.name] = await withSql(world, (sql) => work(world, sql));
    return rows;
  };

const measureSizes = each(async ({ subscriptions }, sql) => {
  const tables = await sql<{ name: string; bytes: number; indexes: number }[]>`
    select relname as name, pg_total_relation_size(c.oid) as bytes, pg_indexes_size(c.oid) as indexes
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where relkind = 'r' and nspname not in ('pg_catalog', 'information_schema')
    order by bytes desc`;
  const all = tables.reduce((sum, { bytes }) => sum + bytes, 0);
  const indexes = tables.reduce((sum, table) => sum + table.indexes, 0);
  return {
    'on disk, GB': gigabytes(all),
    'of it indexes, GB': gigabytes(indexes),
    'bytes a subscription': figure(all / subscriptions),
    ...Object.fromEntries(
      tables
        .slice(0, largestTables)
        .map(({ name, ...table }) => [
          `${name}, GB`,
          `${gigabytes(table.bytes)} (indexes ${gigabytes(table.indexes)})`,
        ]),
    ),
  };
});

const measureVacuum = each(async (_world, sql) => ({
  'vacuum analyze, s': figure(await seconds(() => sql.script('vacuum analyze')), 1),
  'vacuum analyze again, s': figure(await seconds(() => sql.script('vacuum analyze')), 1),
}));

/** Starts a service until its first answer. */
async function start({ databaseUrl, keys }: ScaleWorld, shop: Shop): Promise<ServerProcess> {
  const service = await startService({ DATABASE_URL: databaseUrl, LOG_LEVEL: 'info' }, []);
  await runClosedLoop(
    targetFor('get_entitlements', shop, service, () => keys[0] as string),
    { requests: 1 },
    1,
  );
  return service;
}

function targetFor(tool: string, shop: Shop, { port }: ServerProcess, key: () => string) {
  const workload = workloadsOf(shop).find(({ name }) => name === tool);
  if (!workload) throw new Error(`There is no operation ${tool}.`);
  return targetOf(workload, 'REST', [port], key);
}

/** The first shop; the others have about as many customers. */
function findShop(world: ScaleWorld): Promise<Shop> {
  return withSql(world, async (sql) => {
    const [ids] = await sql<{ customers: number; subscriptions: number }[]>`
      select max(customer_id) as customers, max(subscription_id) as subscriptions
      from subscriptions where shop_id = 1`;
    if (!ids) throw new Error('There is no shop.');
    return {
      id: 1,
      keys: world.keys,
      customers: { from: 501, to: ids.customers },
      subscriptions: { from: 1001, to: ids.subscriptions },
    };
  });
}

const measureServices: Step = async (worlds) => {
  const rows: Record<string, Record<string, string>> = {};
  const contestants: Record<string, () => Promise<Sample>> = {};
  await using services = new AsyncDisposableStack();
  const sampling: (() => number)[] = [];
  for (const world of worlds) {
    const { name, keys, databasePid } = world;
    const shop = await findShop(world);
    const times: number[] = [];
    for (let count = 0; count < starts; count += 1) {
      const begin = performance.now();
      await using _ = await start(world, shop);
      times.push(performance.now() - begin);
    }
    const service = services.use(await start(world, shop));
    await sleep(restMilliseconds);
    const atRest = residentMegabytes(service.pid);
    let next = 0;
    const once = targetFor(
      'get_entitlements',
      shop,
      service,
      () => keys[next++ % keys.length] as string,
    );
    await runClosedLoop(once, { requests: keys.length });
    const used = residentMegabytes(service.pid);
    rows[name] = {
      'start to the first answer, ms': figure(median(times)),
      'memory at rest, MB': figure(atRest),
      'after each key was used once, MB': figure(used),
    };
    let max = 0;
    const timer = setInterval(
      () => (max = Math.max(max, residentMegabytes(service.pid))),
      sampleMilliseconds,
    );
    services.defer(() => clearInterval(timer));
    sampling.push(() => max);
    for (const { name: operation, tool, connections } of operations) {
      const turn = (key: () => string) => {
        const target = targetFor(tool, shop, service, key);
        return () => sample(target, { service: [service.pid], database: databasePid }, connections);
      };
      contestants[`${name}/${operation}, one shop`] = turn(() => keys[0] as string);
      if (keys.length > 1) contestants[`${name}/${operation}, all shops`] = turn(() => oneOf(keys));
    }
    // Until V8 has compiled the code, and the pages are in memory.
    const warm = targetFor('get_entitlements', shop, service, () => oneOf(keys));
    await runClosedLoop(warm, { milliseconds: warmUpMilliseconds });
  }
  const results = await alternate<Record<string, Sample>>(contestants);
  for (const [contestant, samples] of Object.entries(results)) {
    const [name = '', row] = contestant.split('/');
    const [p50, p99, cpu] = (['p50', 'p99', 'serviceCpu'] as const).map((of) =>
      medianOf(samples, of),
    );
    rows[name] = {
      ...rows[name],
      [`${row}: p50, p99 ms; CPU µs`]: `${figure(p50 as number, 2)}, ${figure(p99 as number, 2)}; ${figure(cpu as number, 1)} + ${figure(medianOf(samples, 'databaseCpu'), 1)}`,
    };
    const one = results[contestant.replace('all shops', 'one shop')];
    if (one === samples || !one) continue;
    const ratio = median(samples.map((each, turn) => each.p50 / (one[turn] as Sample).p50));
    rows[name] = { ...rows[name], [`${row}: p50 of one shop's`]: figure(ratio, 2) };
  }
  for (const [index, { name }] of worlds.entries()) {
    rows[name] = { ...rows[name], 'max under load, MB': figure(sampling[index]?.() ?? Number.NaN) };
  }
  return rows;
};

/** What operators run about all shops. */
const measureCommands = each(async ({ databaseUrl }) => {
  const commands = ['shops list', 'feeds status', 'doctor'];
  const rows: Record<string, string> = {};
  for (const command of commands) {
    const env = { DATABASE_URL: databaseUrl };
    const spent = await seconds(async () => run([...command.split(' '), '--json'], env));
    rows[`retention ${command}, s`] = figure(spent, 1);
  }
  return rows;
});

const measureBackup = each(async ({ databaseUrl }) => {
  const program = path.join(findPostgresPrograms() ?? '', 'pg_dump');
  let bytes = 0;
  const spent = await seconds(async () => {
    const dump = spawn(program, ['--format=custom', databaseUrl], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    dump.stdout.on('data', (chunk: Buffer) => (bytes += chunk.length));
    const [status] = await once(dump, 'close');
    if (status !== 0) throw new Error(`pg_dump ended with status ${status}.`);
  });
  return { 'pg_dump --format=custom, s': figure(spent), 'the dump, GB': gigabytes(bytes) };
});

/** What the next version may bring, slow work first as migrations should. */
const migrations = {
  'an index': 'create index payments_next on payments (shop_id, processed_at, payment_id)',
  'a function': `create function next_version(bigint) returns bigint language sql immutable as 'select $1 + 1'`,
  'a column': 'alter table subscriptions add column next_version integer not null default 0',
};
const undo = `
  drop index payments_next; drop function next_version(bigint);
  alter table subscriptions drop column next_version;
  delete from schema_migrations where version > 9000`;

const measureMigration = each(async (_world, sql) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'retention-scale-'));
  const rows: Record<string, string> = {};
  try {
    for (const [index, [name, script]] of Object.entries(migrations).entries()) {
      writeFileSync(path.join(folder, `900${index + 1}_next_version.sql`), script);
      const spent = await seconds(() => migrate(sql, { folder: pathToFileURL(`${folder}/`) }));
      rows[`migrate: ${name}, s`] = figure(spent, 1);
    }
    await sql.script(undo);
  } finally {
    rmSync(folder, { recursive: true });
  }
  return rows;
});

/** In their order. */
export const steps: Readonly<Record<string, Step>> = {
  sizes: measureSizes,
  vacuum: measureVacuum,
  measure: measureServices,
  commands: measureCommands,
  backup: measureBackup,
  migrate: measureMigration,
};
