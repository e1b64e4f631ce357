import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { migrate } from '../src/store/migrate.ts';
import { type Store, openStore } from '../src/store/open.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { redisMissing, startRedis } from '../test/support/redis.ts';
import { createShop, createTestKey } from '../test/support/world.ts';
import { runClosedLoop } from './load.ts';
import {
  type ServerProcess,
  importDemoShop,
  run,
  startImport,
  startService,
  writeDemoRecords,
} from './processes.ts';
import { subscriptions, warmUpMilliseconds } from './settings.ts';
import { mixtureOf, workloadsOf } from './workloads.ts';
import type { Tier } from '../src/vocabulary.ts';

/** A range of ids without gaps, both ends included. */
interface Range {
  readonly from: number;
  readonly to: number;
}

export interface Shop {
  readonly id: number;
  readonly keys: readonly string[];
  readonly customers: Range;
  readonly subscriptions: Range;
}

export interface World extends AsyncDisposable {
  readonly databaseUrl: string;
  readonly databasePid: number;
  /** Undefined if the machine has no Redis. */
  readonly redisUrl: string | undefined;
  /** The main shop; its one key has no limit. */
  readonly shop: Shop;
  /** A small shop with many keys, each with the limit of its tier. */
  readonly limited: Shop;
  /** A thousand shops with the same few customers and one key each, without limits. */
  readonly many: { readonly keys: readonly string[]; readonly customers: Range };
  /** A key of the small shop within its limit; moves to the next key after some requests. */
  limitedKey(): string;
  /** Starts a service on this database, by default one process that logs and limits alone. */
  start(options?: StartOptions): Promise<ServerProcess>;
  /** Imports records into another shop, a new one each time; they last for a minute at least. */
  startImport(): ReturnType<typeof startImport>;
  /** The same as `start`, warmed up. */
  startWarm(options?: StartOptions): Promise<ServerProcess>;
}

interface StartOptions {
  /** Needs Redis if more than 1. */
  readonly workers?: number;
  /** Shares limits through this Redis. */
  readonly redisUrl?: string | undefined;
  /** Whether it may use what earlier starts have compiled; true by default. */
  readonly isCompiled?: boolean;
}

const limitedKeys = 8000;
/** Within tier pro's 300 requests a minute; all keys together allow 30,000 a second. */
const requestsPerKey = 250;
const limitedSubscriptions = 2000;
/** Far from the ids of the shops that are filled. */
const firstImportedShop = 900_000_000;
/** More than a million records: no machine imports them within a section. */
const importedSubscriptions = 200_000;
const manyShops = 1000;
const customersOfEach = 20;

/** Starts PostgreSQL and Redis for the benchmark, and fills two shops. */
export async function openWorld(): Promise<World> {
  const postgres = await startPostgres(['fsync=off', 'shared_buffers=512MB']);
  if (!postgres) throw new Error('PostgreSQL is not installed: nothing can be measured.');
  const redis = redisMissing === false ? await startRedis() : undefined;
  const env = { DATABASE_URL: postgres.url, LOG_LEVEL: 'info' };
  const store = await openStore({ databaseUrl: postgres.url, dataDir: '', role: 'command' });
  await migrate(store.write);
  const shop = await fillShop(store, postgres.url, 'enterprise_plus', subscriptions, 1);
  const limited = await fillShop(store, postgres.url, 'pro', limitedSubscriptions, limitedKeys);
  const many = await fillManyShops(store);
  await store.write`vacuum analyze`;
  await store.close();

  const folder = mkdtempSync(path.join(tmpdir(), 'retention-bench-'));
  let records: string | undefined;
  let importedShops = firstImportedShop;
  let limitedRequests = 0;
  const start = ({ workers = 1, redisUrl, isCompiled = true }: StartOptions = {}) =>
    startService(
      {
        ...env,
        ...(redisUrl !== undefined && { REDIS_URL: redisUrl }),
        ...(!isCompiled && { NODE_COMPILE_CACHE: '' }),
      },
      ['--workers', String(workers)],
    );
  return {
    databaseUrl: postgres.url,
    databasePid: postgres.pid,
    redisUrl: redis?.url,
    shop,
    limited,
    many,
    limitedKey() {
      const index = Math.floor(limitedRequests / requestsPerKey) % limitedKeys;
      limitedRequests += 1;
      return limited.keys[index] as string;
    },
    start,
    startImport() {
      const file = (records ??= writeDemoRecords(folder, importedSubscriptions));
      const id = String((importedShops += 1));
      run(['shops', 'create', '--id', id, '--name', 'Imported', '--currency', 'USD'], env);
      return startImport(Number(id), file, env);
    },
    async startWarm(options) {
      const service = await start(options);
      const everything = mixtureOf(workloadsOf(shop), [service.port], () => shop.keys[0] as string);
      await runClosedLoop(everything, { milliseconds: warmUpMilliseconds });
      return service;
    },
    async [Symbol.asyncDispose]() {
      await postgres.destroy();
      await redis?.destroy();
      rmSync(folder, { recursive: true });
    },
  };
}

async function fillShop(
  store: Store,
  databaseUrl: string,
  tier: Tier,
  size: number,
  keyCount: number,
): Promise<Shop> {
  const { id } = await createShop(store, { tier });
  importDemoShop(id, size, { DATABASE_URL: databaseUrl, LOG_LEVEL: 'error' });
  const keys = await Promise.all(Array.from({ length: keyCount }, () => createTestKey(store, id)));
  const [customers] = await store.write<[Range]>`
    select min(customer_id) as from, max(customer_id) as to from customers where shop_id = ${id}`;
  const [subscriptionIds] = await store.write<[Range]>`
    select min(subscription_id) as from, max(subscription_id) as to
    from subscriptions where shop_id = ${id}`;
  return { id, keys: keys.map(({ key }) => key), customers, subscriptions: subscriptionIds };
}

/** Without triggers: only look-ups read these shops. */
async function fillManyShops(store: Store): Promise<World['many']> {
  const shops: number[] = [];
  for (let count = 0; count < manyShops; count += 1) {
    shops.push((await createShop(store, { tier: 'enterprise_plus' })).id);
  }
  await store.write.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`
      insert into plans
      select s, n, 'Box', '', 'subscription', 'month', 1, true, 0, 'none', 0, '', null, gen_random_uuid()
      from unnest(${`{${shops.join(',')}}`}::bigint[]) s, generate_series(1, 5) n`;
    await tx`
      insert into subscriptions
      select s, n, n, n % 5 + 1, 'active', now(), 10, null, null, now(), null, now(), null,
        gen_random_uuid()
      from unnest(${`{${shops.join(',')}}`}::bigint[]) s, generate_series(1, ${customersOfEach}::int) n`;
  });
  const keys = await Promise.all(shops.map((id) => createTestKey(store, id)));
  return { keys: keys.map(({ key }) => key), customers: { from: 1, to: customersOfEach } };
}
