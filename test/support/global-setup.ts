import { randomInt } from 'node:crypto';
import { cpSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLog } from '../../src/log/log.ts';
import { JobQueue } from '../../src/platforms/webhooks/queue.ts';
import { distribute } from '../../src/store/cluster/distribute.ts';
import { migrate } from '../../src/store/migrate.ts';
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
  // Otherwise the process of each test file would compile the sources again.
  process.env['NODE_COMPILE_CACHE'] ??= path.join(checkout, 'node_modules', '.cache', 'compile');
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
  const data = inFolder('data');
  const save = (name: string) => {
    const copy = inFolder(name);
    cpSync(data, copy, { recursive: true });
    return copy;
  };
  await (await openEmbedded(data, { role: 'serve' })).close();
  process.env['TEST_EMBEDDED_EMPTY_FOLDER'] = save('empty');
  const created = await openEmbedded(data, { role: 'serve' });
  await migrateOnce(created.socketPath);
  await created.close();
  process.env['TEST_EMBEDDED_FOLDER'] = save('migrated');
  embedded = await openEmbedded(data, { role: 'serve' });
  process.env['TEST_EMBEDDED'] = embedded.socketPath;
  process.env['TEST_EMBEDDED_DATA'] = data;
}

/**
 * As operators come to a cluster: with a database that has data, and gets the extension last; or first, if
 * TEST_CITUS_FIRST is set.
 */
async function prepareCluster(): Promise<void> {
  cluster = await createClusterDatabase(`tests_${randomInt(2 ** 40)}`);
  process.env['TEST_CITUS_URL'] = cluster.target;
  const store = { ...connectAll(cluster.target), failed: new Promise<never>(() => {}) };
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
