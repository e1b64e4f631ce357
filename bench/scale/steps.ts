import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Sql } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { findPostgresPrograms } from '../../test/support/postgres.ts';
import { residentMegabytes } from '../cpu.ts';
import { runClosedLoop } from '../load.ts';
import { type ServerProcess, run, startService } from '../processes.ts';
import { figure } from '../report.ts';
import { type Sample, alternate, medianOf, sample } from '../sample.ts';
import { warmUpMilliseconds } from '../settings.ts';
import { median } from '../statistics.ts';
import { oneOf, targetOf, workloadsOf } from '../workloads.ts';
import type { Shop } from '../world.ts';
import { measurePages } from './pages.ts';

/** Figures by the names of their rows. */
export type Rows = Record<string, string>;

/** A database with shops. */
export interface ScaleWorld {
  readonly name: string;
  readonly databaseUrl: string;
  readonly databasePid: number;
  readonly sql: Sql;
  readonly subscriptions: number;
  /** Of each shop. */
  readonly keys: readonly string[];
}

/** Writes figures of each world into its rows. */
type Step = (worlds: readonly ScaleWorld[], rowsOf: (world: ScaleWorld) => Rows) => Promise<void>;

const largestTables = 8;
const sampleMilliseconds = 100;
/** With one connection, alike requests share nothing. */
const operations = [
  { name: 'entitlements', tool: 'get_entitlements', connections: 64 },
  { name: 'an entitlement at a time', tool: 'get_entitlements', connections: 1 },
  { name: 'a summary at a time', tool: 'get_metrics_summary', connections: 1 },
] as const;
/** What a next version may bring, slow work first. */
const migrations = {
  'an index': 'create index payments_next on payments (shop_id, processed_at, payment_id)',
  'a function': 'create function next_version() returns integer language sql return 1',
  'a column': 'alter table subscriptions add column next_version integer not null default 0',
};
const undo = `drop index payments_next; drop function next_version();
  alter table subscriptions drop column next_version;
  delete from schema_migrations where version > 9000`;

/** What entitlements read: a server that has run for days has it in memory, whatever else is larger than that. */
const warm = `create extension if not exists pg_prewarm;
  select pg_prewarm(oid) from pg_class
    where relname in ('subscriptions', 'subscriptions_by_customer', 'plans', 'plans_pkey')
      and relkind in ('r', 'i');
  drop extension pg_prewarm`;

const gigabytes = (bytes: number) => (bytes / 1e9).toFixed(2);

async function seconds(work: () => unknown): Promise<string> {
  const begin = performance.now();
  await work();
  return figure((performance.now() - begin) / 1000, 1);
}

/** A step that is the same for each world. */
const inEach =
  (work: (world: ScaleWorld, rows: Rows) => Promise<void>): Step =>
  async (worlds, rowsOf) => {
    for (const world of worlds) await work(world, rowsOf(world));
  };

async function measureSizes({ sql, subscriptions }: ScaleWorld, rows: Rows): Promise<void> {
  const tables = await sql<{ name: string; bytes: number; indexes: number }[]>`
    select relname as name, pg_total_relation_size(oid) as bytes, pg_indexes_size(oid) as indexes
    from pg_class where relkind = 'r' and relnamespace::regnamespace::text !~ '^(pg_|information)'
    order by bytes desc`;
  const sum = (field: 'bytes' | 'indexes') => tables.reduce((all, table) => all + table[field], 0);
  rows['on disk, GB'] = `${gigabytes(sum('bytes'))} (indexes ${gigabytes(sum('indexes'))})`;
  rows['bytes a subscription'] = figure(sum('bytes') / subscriptions);
  for (const { name, bytes, indexes } of tables.slice(0, largestTables)) {
    rows[`- ${name}, GB`] = `${gigabytes(bytes)} (${gigabytes(indexes)})`;
  }
}

function targetFor(tool: string, shop: Shop, { port }: ServerProcess, key: () => string) {
  const workload = workloadsOf(shop).find(({ name }) => name === tool);
  if (!workload) throw new Error(`There is no operation ${tool}.`);
  return targetOf(workload, 'REST', [port], key);
}

/** The first shop; the others have about as many customers. */
async function findShop({ sql, keys }: ScaleWorld): Promise<Shop> {
  const [to] = await sql<{ customers: number; subscriptions: number }[]>`
    select max(customer_id) as customers, max(subscription_id) as subscriptions
    from subscriptions where shop_id = 1`;
  const { customers = 0, subscriptions = 0 } = to ?? {};
  const customerIds = { from: 501, to: customers };
  return { id: 1, keys, customers: customerIds, subscriptions: { from: 1001, to: subscriptions } };
}

const measureServices: Step = async (worlds, rowsOf) => {
  const contestants: Record<string, () => Promise<Sample>> = {};
  await using services = new AsyncDisposableStack();
  const ends: (() => void)[] = [];
  for (const world of worlds) {
    const { name, keys, databasePid: database, databaseUrl } = world;
    const rows = rowsOf(world);
    const shop = await findShop(world);
    await world.sql.script(warm);
    const start = async () => {
      const env = { DATABASE_URL: databaseUrl, LOG_LEVEL: 'info' };
      const service = await startService(env, []);
      const target = targetFor('get_entitlements', shop, service, () => keys[0] as string);
      await runClosedLoop(target, { requests: 1 }, 1);
      return service;
    };
    // Compiles what is compiled only once.
    await (await start())[Symbol.asyncDispose]();
    const begin = performance.now();
    const service = services.use(await start());
    rows['start to the first answer, ms'] = figure(performance.now() - begin);
    let [next, max] = [0, 0];
    const each = () => keys[next++ % keys.length] as string;
    const requests = keys.length;
    await runClosedLoop(targetFor('get_entitlements', shop, service, each), { requests });
    rows['memory once each key was used, MB'] = figure(residentMegabytes(service.pid));
    const note = () => (max = Math.max(max, residentMegabytes(service.pid)));
    const timer = setInterval(note, sampleMilliseconds);
    services.defer(() => clearInterval(timer));
    ends.push(() => (rows['max memory, MB'] = figure(max)));
    for (const { name: operation, tool, connections } of operations) {
      const turn = (key: () => string) => {
        const target = targetFor(tool, shop, service, key);
        return () => sample(target, { service: [service.pid], database }, connections);
      };
      contestants[`${name}/${operation} of one shop`] = turn(() => keys[0] as string);
      if (keys.length > 1) contestants[`${name}/${operation} of all`] = turn(() => oneOf(keys));
    }
    // Until V8 has compiled the code, and the pages are in memory.
    const any = targetFor('get_entitlements', shop, service, () => oneOf(keys));
    await runClosedLoop(any, { milliseconds: warmUpMilliseconds });
  }
  const results = await alternate<Record<string, Sample>>(contestants);
  for (const end of ends) end();
  for (const world of worlds) {
    const rows = rowsOf(world);
    for (const [contestant, samples] of Object.entries(results)) {
      const [name, row] = contestant.split('/');
      if (name !== world.name) continue;
      const of = (field: keyof Sample, digits: number) => figure(medianOf(samples, field), digits);
      rows[`${row}: p50; p99 ms`] = `${of('p50', 2)}; ${of('p99', 2)}`;
      rows['- CPU µs: service; database'.padEnd(30) + row] =
        `${of('serviceCpu', 1)}; ${of('databaseCpu', 1)}`;
      const others = results[contestant.replace(/^.*\/(.*) of all$/, `${name}/$1 of one shop`)];
      for (const [other, against] of [
        ["one shop's", others],
        ["the large one's", results[`one/${row?.replace(' of all', ' of one shop')}`]],
      ] as const) {
        if (!against || against === samples || name === 'one') continue;
        const ratios = samples.map(({ p50 }, turn) => p50 / (against[turn] as Sample).p50);
        rows[`- p50 of ${other}`.padEnd(30) + row] = figure(median(ratios), 2);
      }
    }
  }
};

/** What operators run about all shops. */
async function measureCommands({ databaseUrl }: ScaleWorld, rows: Rows): Promise<void> {
  for (const command of ['shops list', 'feeds status', 'doctor']) {
    const args = [...command.split(' '), '--json'];
    rows[`retention ${command}, s`] = await seconds(() => run(args, { DATABASE_URL: databaseUrl }));
  }
}

async function measureBackup({ databaseUrl }: ScaleWorld, rows: Rows): Promise<void> {
  const program = path.join(findPostgresPrograms() ?? '', 'pg_dump');
  let bytes = 0;
  rows['pg_dump --format=custom, s'] = await seconds(async () => {
    const args = ['--format=custom', databaseUrl];
    const dump = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    dump.stdout.on('data', (chunk: Buffer) => (bytes += chunk.length));
    const [status] = await once(dump, 'close');
    if (status !== 0) throw new Error(`pg_dump ended with status ${status}.`);
  });
  rows['- the dump, GB'] = gigabytes(bytes);
}

async function measureMigrations({ sql }: ScaleWorld, rows: Rows): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'retention-scale-'));
  for (const [index, [name, script]] of Object.entries(migrations).entries()) {
    writeFileSync(path.join(folder, `900${index + 1}_next_version.sql`), script);
    const options = { folder: pathToFileURL(`${folder}/`) };
    rows[`migrate with ${name}, s`] = await seconds(() => migrate(sql, options));
  }
  await sql.script(undo);
  rmSync(folder, { recursive: true });
}

/** In their order. */
export const steps: Readonly<Record<string, Step>> = {
  sizes: inEach(measureSizes),
  vacuum: inEach(async ({ sql }, rows) => {
    rows['vacuum analyze, s'] = await seconds(() => sql.script('vacuum analyze'));
  }),
  measure: measureServices,
  pages: inEach(measurePages),
  commands: inEach(measureCommands),
  backup: inEach(measureBackup),
  migrate: inEach(measureMigrations),
};
