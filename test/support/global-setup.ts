import { createHash, randomInt } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLog } from '../../src/log/log.ts';
import { JobQueue } from '../../src/platforms/webhooks/queue.ts';
import { distribute } from '../../src/store/cluster/distribute.ts';
import { digestOfMigrations, migrate } from '../../src/store/migrate.ts';
import { connectAll } from '../../src/store/open.ts';
import { type EmbeddedServer, openEmbedded } from '../../src/store/embedded/open.ts';
import { generateShop } from '../../src/demo/generate.ts';
import { type ClusterDatabase, createClusterDatabase } from './citus.ts';
import { openClient } from './client.ts';
import { keepCompiled } from '../../src/store/embedded/compiled.ts';
import { type PostgresServer, startPostgres } from './postgres.ts';
import { redisMissing } from './redis.ts';
import { useTestFolder } from './test-folder.ts';

const checkout = path.join(import.meta.dirname, '..', '..');
const caches = path.join(checkout, 'node_modules', '.cache');

/** No test crashes it, and it has no standbys. */
const sharedSettings = [
  'max_connections=300',
  'fsync=off',
  'full_page_writes=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'wal_keep_size=0',
];

let server: PostgresServer | undefined;
let embedded: EmbeddedServer | undefined;
let cluster: ClusterDatabase | undefined;
let removeFolder = () => {};

/**
 * One server of each kind for the whole run; every test creates its own shop in it. Copies of their data,
 * migrated and empty, are for tests that need a separate server.
 */
export async function globalSetup(): Promise<void> {
  removeFolder = useTestFolder();
  // Otherwise each process would compile the sources again. V8 discards what it compiled with other flags, which the
  // processes with this preload have, and Node.js would replace it: the two need a cache each.
  process.env['NODE_COMPILE_CACHE'] ??= path.join(caches, 'short-lived');
  const preload = JSON.stringify(path.join(import.meta.dirname, 'short-lived.cjs'));
  process.env['NODE_OPTIONS'] = `${process.env['NODE_OPTIONS'] ?? ''} --require ${preload}`;
  if (redisMissing !== false && process.env['CI'])
    throw new Error('Redis is not installed, and in CI no test may be skipped.');
  await Promise.all([prepareServer(), prepareEmbedded()]);
  if (process.env['TEST_CITUS_URL'] !== undefined) await prepareCluster();
}

export async function globalTeardown(): Promise<void> {
  await embedded?.close();
  await server?.destroy();
  await cluster?.drop();
  removeFolder();
}

async function prepareServer(): Promise<void> {
  server = await startPostgres(sharedSettings);
  if (server) {
    process.env['TEST_POSTGRES'] = server.url;
    await migrateOnce(server.url);
    await server.stop();
    process.env['TEST_POSTGRES_FOLDER'] = server.saveData();
    await server.start();
    process.env['TEST_POSTGRES_TEMPLATE'] = await copyMigrated(server.url);
  } else if (process.env['CI']) {
    throw new Error('PostgreSQL is not installed, and in CI no test may be skipped.');
  }
}

async function prepareEmbedded(): Promise<void> {
  await keepCompiled();
  const kept = await keepDatabases();
  process.env['TEST_EMBEDDED_EMPTY_FOLDER'] = path.join(kept, 'empty');
  process.env['TEST_EMBEDDED_FOLDER'] = path.join(kept, 'migrated');
  const data = inFolder('data');
  cpSync(path.join(kept, 'migrated'), data, { recursive: true });
  embedded = await openEmbedded(data, { role: 'serve' });
  process.env['TEST_EMBEDDED'] = embedded.socketPath;
  process.env['TEST_EMBEDDED_DATA'] = data;
}

/** Data folders to copy, which later runs use again: creating them takes a processor five seconds. */
async function keepDatabases(): Promise<string> {
  const hash = createHash('sha256').update(await digestOfMigrations());
  const thisFile = path.relative(checkout, import.meta.filename);
  for (const file of ['package-lock.json', 'src/store/embedded/session.ts', thisFile]) {
    hash.update(readFileSync(path.join(checkout, file)));
  }
  const kept = path.join(caches, `databases-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(kept)) return kept;
  mkdirSync(caches, { recursive: true });
  const unfinished = mkdtempSync(`${kept}-`);
  const data = inFolder('new');
  const save = (name: string) => cpSync(data, path.join(unfinished, name), { recursive: true });
  await (await openEmbedded(data, { role: 'serve' })).close();
  shrinkBuffers(data);
  save('empty');
  const created = await openEmbedded(data, { role: 'serve' });
  await migrateOnce(created.socketPath);
  await created.close();
  save('migrated');
  rmSync(data, { recursive: true });
  try {
    renameSync(unfinished, kept);
  } catch (error) {
    rmSync(unfinished, { recursive: true });
    // Another run may have been faster.
    if (!existsSync(kept)) throw error;
  }
  return kept;
}

/** It clears all of its buffers at each start, which takes half of the processor time of opening a copy. */
function shrinkBuffers(folder: string): void {
  const file = path.join(folder, 'db', 'postgresql.conf');
  const settings = readFileSync(file, 'utf8');
  const smaller = settings.replace(/^shared_buffers = .*/m, 'shared_buffers = 8MB');
  if (smaller === settings) throw new Error(`${file} has no line shared_buffers.`);
  writeFileSync(file, smaller);
}

/**
 * As operators come to a cluster: with a database that has data, and gets the extension last; or first, if
 * TEST_CITUS_FIRST is set.
 */
async function prepareCluster(): Promise<void> {
  cluster = await createClusterDatabase(`tests_${randomInt(2 ** 40)}`);
  process.env['TEST_CITUS_URL'] = cluster.target;
  const store = connectAll(cluster.target);
  const isFirst = process.env['TEST_CITUS_FIRST'] !== undefined;
  if (isFirst) await cluster.addCitus();
  await migrate(store.write);
  const { createShop, importAll } = await import('./world.ts');
  const endAt = Date.parse('2026-11-20T12:00:00.000Z');
  const made = { subscriptions: 100, seed: 3, endAt, currency: 'USD', minorDigits: 2 };
  await importAll(store, await createShop(store), [...generateShop(made)]);
  if (!isFirst) await cluster.addCitus();
  await distribute(store.write);
  await store.close();
}

const inFolder = (name: string) => path.join(tmpdir(), name);

/** A copy of the migrated database, for others to be created from while that one is in use. */
async function copyMigrated(target: string): Promise<string> {
  const sql = openClient(target.replace(/postgres$/, 'template1'));
  await sql.unsafe('create database migrated template postgres');
  await sql.end();
  return 'migrated';
}

/** Also creates the tables of jobs, which otherwise each server does that is the first to serve a copy. */
async function migrateOnce(target: string): Promise<void> {
  const { write, close } = connectAll(target);
  await migrate(write);
  const jobs = new JobQueue(write, createLog('silent'));
  await jobs.open();
  await jobs.close();
  await close();
}
