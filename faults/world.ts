import { migrate } from '../src/store/migrate.ts';
import { type Store, connectAll } from '../src/store/open.ts';
import { startTraffic } from '../test/support/traffic.ts';
import { type PostgresServer, startPostgres } from '../test/support/postgres.ts';
import { type RedisServer, startRedis } from '../test/support/redis.ts';
import { createShop, createTestKey } from '../test/support/world.ts';
import { type Wire, startWire } from '../test/support/wire.ts';
import { importDemoData } from './demo-data.ts';
import { Instance } from './instance.ts';
import { Owner } from './owner.ts';
import type { Scene } from './scene.ts';
import type { Tier } from '../src/vocabulary.ts';

/** A database server, and the wire through which instances and owners reach it. */
interface Host {
  server: PostgresServer;
  readonly wire: Wire;
}

export interface World extends Scene {
  /** Changes with a failover. */
  primary: Host;
  standby: Host;
  /** False once it is promoted. */
  hasStandby: boolean;
  readonly redis: RedisServer;
  readonly instances: readonly [Instance, Instance];
  /** A key with all scopes and no rate limit. */
  readonly key: string;
}

const clients = 12;
/** Leaves CPU time for the programs under test. */
const maxPauseMilliseconds = 20;
/** How long a stopping instance waits for unfinished requests. */
const stopSeconds = 2;

/** A database address with one or more hosts. */
export const urlOf = (...wires: readonly Wire[]) =>
  `postgres://postgres@${wires.map(({ port }) => `127.0.0.1:${port}`).join()}/postgres`;

/**
 * @param deferred disposes of everything that was started, even after a failure
 * @param folder for the logs of the instances
 */
export async function openWorld(deferred: AsyncDisposableStack, folder: string): Promise<World> {
  const primary = await startHost(deferred, await startServer());
  const redis = deferred.adopt(await startRedis(), (each) => each.destroy());
  const shop = await fillShops(primary.server.url, folder);
  const standby = await startHost(deferred, await primary.server.startReplica());

  const bothHosts = urlOf(primary.wire, standby.wire);
  const settings = {
    DATABASE_READ_URL: urlOf(standby.wire),
    REDIS_URL: redis.url,
    LOG_LEVEL: 'warn',
    STOP_SECONDS: String(stopSeconds),
  };
  const start = async (name: string, databaseUrl: string) => {
    const instance = await Instance.start(name, folder, { ...settings, DATABASE_URL: databaseUrl });
    deferred.defer(() => instance.kill());
    return instance;
  };
  // One instance uses an address with one host, the other with two.
  const one = await start('one', urlOf(primary.wire));
  const two = await start('two', bothHosts);
  const instances = [one, two] as const;
  const traffic = await startTraffic(instances, shop.keys, clients, maxPauseMilliseconds);
  deferred.defer(() => traffic.end());
  const owner = new Owner(bothHosts, shop.id, instances);
  deferred.defer(() => owner.end());
  const [key = ''] = shop.keys;
  const world: World = {
    primary,
    standby,
    hasStandby: true,
    redis,
    instances,
    traffic,
    owner,
    key,
    // Connections silenced by an earlier fault would otherwise be noticed only on their next use.
    cleanUp() {
      for (const { wire } of [world.primary, world.standby]) wire.cut();
    },
    listServers() {
      const hosts = world.hasStandby ? [world.primary, world.standby] : [world.primary];
      return hosts.map(({ server }) => server);
    },
    findObstacle: () => findUnready(world),
  };
  return world;
}

async function findUnready({ instances, hasStandby }: World): Promise<string | undefined> {
  for (const instance of instances) {
    const readiness = await instance.readiness();
    const isReady =
      readiness.includes('"redis":"up"') && (!hasStandby || readiness.includes('in use'));
    if (!isReady) return `instance ${instance.name} reports ${readiness}`;
  }
  return undefined;
}

async function startServer(): Promise<PostgresServer> {
  const server = await startPostgres(['fsync=off'], { isNew: true });
  if (!server) throw new Error('PostgreSQL is not installed.');
  return server;
}

async function startHost(deferred: AsyncDisposableStack, server: PostgresServer): Promise<Host> {
  const host: Host = { server, wire: await startWire(() => host.server.port) };
  deferred.defer(async () => {
    await host.wire.close();
    host.server.thaw();
    await host.server.destroy();
  });
  return host;
}

interface Shop {
  readonly id: number;
  readonly keys: readonly string[];
}

/** A shop without a rate limit; the last key belongs to another shop that has one. */
async function fillShops(databaseUrl: string, folder: string): Promise<Shop> {
  const store: Store = { ...connectAll(databaseUrl), failed: new Promise(() => {}) };
  const fill = async (tier: Tier, keyCount: number): Promise<Shop> => {
    const { id } = await createShop(store, { tier });
    await importDemoData(databaseUrl, id, folder);
    const keys: string[] = [];
    while (keys.length < keyCount) keys.push((await createTestKey(store, id)).key);
    return { id, keys };
  };
  try {
    await migrate(store.write);
    const shop = await fill('enterprise_plus', 8);
    const limited = await fill('growth', 1);
    return { id: shop.id, keys: [...shop.keys, ...limited.keys] };
  } finally {
    await store.close();
  }
}
