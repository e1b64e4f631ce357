/* Ten thousand shops, and one as large as all of them, on one PostgreSQL server: hours, and tens of gigabytes. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { migrate } from '../src/store/migrate.ts';
import { openStore } from '../src/store/open.ts';
import { type PostgresServer, startPostgres } from '../test/support/postgres.ts';
import { figure, print } from './report.ts';
import { fill } from './scale/import.ts';
import { type Portion, type Rows, readState, writeState } from './scale/state.ts';
import { type ScaleWorld, steps } from './scale/steps.ts';

const settings = ['shared_buffers=2GB', 'max_wal_size=4GB', 'maintenance_work_mem=256MB'];

const { values: given } = parseArgs({
  options: {
    folder: { type: 'string' },
    shops: { type: 'string', default: '10000' },
    subscriptions: { type: 'string', default: '1000' },
    large: { type: 'string' },
    worlds: { type: 'string', default: 'many,one' },
    only: { type: 'string' },
  },
});
if (given.folder === undefined) {
  throw new Error(`--folder says where the data is kept. --shops and --subscriptions of each scale it down, --worlds many
    leaves out the large shop, and --only ${Object.keys(steps).join(',')} repeats steps.`);
}
const folder = path.resolve(given.folder);
const [shops, subscriptions] = [Number(given.shops), Number(given.subscriptions)];
const only = given.only?.split(',');
const stopping = new AbortController();
process.once('SIGINT', () => stopping.abort());
mkdirSync(folder, { recursive: true });
const state = readState(folder, {
  endAt: Date.now(),
  sizes: {
    many: { shops, subscriptions },
    one: { shops: 1, subscriptions: Number(given.large ?? shops * subscriptions) },
  },
  keys: {},
  portions: {},
  results: {},
});

async function openWorld(server: PostgresServer, name: string): Promise<ScaleWorld> {
  const size = state.sizes[name];
  if (!size) throw new Error(`There is no world ${name}.`);
  const databaseUrl = server.url.replace(/postgres$/, name);
  const portions = (state.portions[name] ??= []);
  const keys = (state.keys[name] ??= []);
  if (!(await hasDatabase(server, name))) await server.createDatabase(name);
  const store = await openStore({ databaseUrl, dataDir: '', role: 'command' });
  try {
    await migrate(store.write);
    const done = (portion: Portion, fresh: readonly string[]) => {
      portions.push(portion);
      keys.push(...fresh);
      writeState(folder, state);
    };
    const { endAt } = state;
    await fill({
      store,
      databasePid: server.pid,
      ...size,
      endAt,
      signal: stopping.signal,
      portions,
      keys,
      done,
    });
  } finally {
    await store.close();
  }
  const all = size.shops * size.subscriptions;
  return { name, databaseUrl, databasePid: server.pid, subscriptions: all, keys };
}

async function hasDatabase(server: PostgresServer, name: string): Promise<boolean> {
  const store = await openStore({ databaseUrl: server.url, dataDir: '', role: 'command' });
  const rows = await store.write`select from pg_database where datname = ${name}`;
  await store.close();
  return rows.length > 0;
}

function importRows(portions: readonly Portion[]): Rows {
  const tenth = Math.ceil(portions.length / 10);
  const rows: Record<string, string> = {};
  for (const [name, of] of [
    ['first', portions.slice(0, tenth)],
    ['last', portions.slice(-tenth)],
  ] as const) {
    const sum = (field: keyof Portion) => of.reduce((total, each) => total + each[field], 0);
    const records = sum('records');
    const [own, database] = [sum('cpu') / records, sum('databaseCpu') / records];
    rows[`import, ${name} tenth: records/s; CPU µs a record`] =
      `${figure(records / sum('seconds'))}; ${figure(own, 1)} + ${figure(database, 1)}`;
  }
  return rows;
}

function report(names: readonly string[]): void {
  const columns = names.map((name): Rows => ({
    ...importRows(state.portions[name] ?? []),
    ...Object.assign({}, ...Object.keys(steps).map((step) => state.results[step]?.[name])),
  }));
  const heads = names.map((name) => {
    const { shops: count = 0, subscriptions: of = 0 } = state.sizes[name] ?? {};
    return `${count} × ${of}`;
  });
  print(`\n${new Date().toISOString().slice(0, 10)}, PostgreSQL with ${settings.join(', ')}`);
  print(
    `${'shops × subscriptions of each'.padEnd(50)}${heads.map((head) => head.padStart(34)).join('')}`,
  );
  for (const row of new Set(columns.flatMap((column) => Object.keys(column)))) {
    print(
      `${row.padEnd(50)}${columns.map((column) => (column[row] ?? '–').padStart(34)).join('')}`,
    );
  }
}

const server = await startPostgres(settings, { folder: path.join(folder, 'postgres') });
if (!server) throw new Error('PostgreSQL is not installed: nothing can be measured.');
try {
  const names = given.worlds.split(',');
  const worlds: ScaleWorld[] = [];
  for (const name of names) worlds.push(await openWorld(server, name));
  for (const [name, step] of Object.entries(steps)) {
    const known = (state.results[name] ??= {});
    const missing = worlds.filter((world) => !known[world.name]);
    const due = only?.includes(name) === true ? worlds : only ? [] : missing;
    if (due.length === 0) continue;
    stopping.signal.throwIfAborted();
    print(`${new Date().toISOString()} ${name}`);
    Object.assign(known, await step(due));
    writeState(folder, state);
  }
  report(Object.keys(state.portions));
} catch (error) {
  if (!stopping.signal.aborted) throw error;
  print('Stopped. The same command goes on from here.');
  process.exitCode = 130;
} finally {
  await server.destroy();
}
