/* Ten thousand shops, and one as large as all of them, on one PostgreSQL server: hours, and tens of gigabytes. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { connect } from '../src/store/database.ts';
import { migrate } from '../src/store/migrate.ts';
import { connectAll } from '../src/store/open.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { print } from './report.ts';
import { type Filled, fill } from './scale/fill.ts';
import { type Rows, type ScaleWorld, steps } from './scale/steps.ts';

/** Operators are told to give it a quarter of the machine. */
const sharedMegabytes = Math.floor(totalmem() / 4 / 2 ** 20);
const settings = [
  `shared_buffers=${sharedMegabytes}MB`,
  'max_wal_size=4GB',
  'maintenance_work_mem=256MB',
];

const { folder, worlds, only, ...sizes } = parseArgs({
  options: {
    folder: { type: 'string', default: 'scale' },
    shops: { type: 'string', default: '10000' },
    subscriptions: { type: 'string', default: '1000' },
    large: { type: 'string', default: '10000000' },
    worlds: { type: 'string', default: 'many,one' },
    only: { type: 'string' },
  },
}).values;
const stopping = new AbortController();
process.once('SIGINT', () => stopping.abort());

/** What is done. A run goes on where another one in the folder has stopped. */
interface State {
  readonly endAt: number;
  readonly filled: Record<string, Filled>;
  /** By step and world. */
  readonly results: Record<string, Record<string, Rows>>;
}

mkdirSync(folder, { recursive: true });
const file = path.join(folder, 'state.json');
const empty = (shops: string, subscriptions: string): Filled => ({
  shops: Number(shops),
  subscriptions: Number(subscriptions),
  portions: [],
  keys: [],
  isFull: false,
});
const state: State = existsSync(file)
  ? JSON.parse(readFileSync(file, 'utf8'))
  : {
      endAt: Date.now(),
      filled: {
        many: empty(sizes.shops, sizes.subscriptions),
        one: empty('1', sizes.large),
      },
      results: {},
    };
const save = () => writeFileSync(file, JSON.stringify(state));

function importRows({ portions }: Filled): Rows {
  const tenth = Math.ceil(portions.length / 10);
  const rowsOf = (of: typeof portions) => {
    const sum = (field: keyof (typeof of)[number]) =>
      of.reduce((all, each) => all + each[field], 0);
    const [rate, cpu, database] = [
      (sum('records') / sum('seconds')).toFixed(0),
      (sum('cpu') / sum('records')).toFixed(1),
      (sum('databaseCpu') / sum('records')).toFixed(1),
    ];
    return `${rate}; ${cpu}; ${database}`;
  };
  return {
    'records imported': String(portions.reduce((all, { records }) => all + records, 0)),
    'records/s; CPU µs each: importer; database': '',
    '- the first tenth': rowsOf(portions.slice(0, tenth)),
    '- the last tenth': rowsOf(portions.slice(-tenth)),
  };
}

function report(): void {
  const filled = Object.entries(state.filled).filter(([, { isFull }]) => isFull);
  const columns = filled.map(([name, each]): Rows => {
    const measured = Object.keys(steps).map((step) => state.results[step]?.[name]);
    const size = {
      [`${new Date().toISOString().slice(0, 10)}`]: `${each.shops} × ${each.subscriptions}`,
    };
    return Object.assign(size, importRows(each), ...measured);
  });
  for (const row of new Set(columns.flatMap((column) => Object.keys(column)))) {
    print(row.padEnd(62) + columns.map((column) => (column[row] ?? '–').padStart(22)).join(''));
  }
}

const server = await startPostgres(settings, { folder: path.resolve(folder, 'postgres') });
if (!server) throw new Error('PostgreSQL is not installed: nothing can be measured.');
const opened: ScaleWorld[] = [];
try {
  for (const name of worlds.split(',')) {
    const filled = state.filled[name];
    if (!filled) throw new Error(`There is no world ${name}.`);
    const databaseUrl = server.url.replace(/postgres$/, name);
    if (filled.portions.length === 0) await server.createDatabase(name).catch(() => {});
    const store = connectAll(databaseUrl);
    await migrate(store.write);
    const { endAt } = state;
    const { signal } = stopping;
    await fill(filled, { store, databasePid: server.pid, endAt, signal, save });
    await store.close();
    const options = { name: 'bench', connections: 2, statementTimeoutMilliseconds: 0 };
    const sql = connect(databaseUrl, options);
    const subscriptions = filled.shops * filled.subscriptions;
    const { keys } = filled;
    opened.push({ name, databaseUrl, databasePid: server.pid, sql, subscriptions, keys });
  }
  for (const [name, step] of Object.entries(steps)) {
    const known = (state.results[name] ??= {});
    if (only ? !only.split(',').includes(name) : opened.every((world) => known[world.name]))
      continue;
    stopping.signal.throwIfAborted();
    print(`${new Date().toISOString()} ${name}`);
    const rows = Object.fromEntries(opened.map((world): [string, Rows] => [world.name, {}]));
    await step(opened, (world) => rows[world.name] as Rows);
    Object.assign(known, rows);
    save();
  }
  report();
} catch (error) {
  if (!stopping.signal.aborted) throw error;
  print('Stopped. The same command goes on from here.');
} finally {
  await Promise.all(opened.map(({ sql }) => sql.end(0)));
  await server.destroy();
}
