import { randomInt } from 'node:crypto';
import { execFile } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { importDemoData } from '../faults/demo-data.ts';
import { Instance, environmentOf, retention } from '../faults/instance.ts';
import { Owner } from '../faults/owner.ts';
import type { Scene } from '../faults/scene.ts';
import { systemClock } from '../src/clock.ts';
import { connectAll } from '../src/store/open.ts';
import { insertShop } from '../src/store/shops.ts';
import { startTraffic } from '../test/support/traffic.ts';
import { createTestKey } from '../test/support/world.ts';
import { Importer } from './importer.ts';
import { Cluster, type Node } from './nodes.ts';

interface Shop {
  readonly id: number;
  readonly keys: readonly string[];
}

export interface World extends Scene {
  readonly cluster: Cluster;
  readonly importer: Importer;
  /** Shops that get requests: one on each worker at first, and one from before the cluster. */
  readonly shops: readonly Shop[];
  /** Measured times and the like, to be printed below the table. */
  readonly notes: string[];
  /** Runs a command of the service. @throws if its exit status is not 0 */
  runCommand(...args: readonly string[]): Promise<string>;
}

const workers = 3;
const keysPerShop = 3;
const clients = 10;
/** Leaves CPU time for the programs under test. */
const maxPauseMilliseconds = 20;
const stopSeconds = 2;

/**
 * @param deferred disposes of everything that was started, even after a failure
 * @param folder for the logs of the instances
 */
export async function openWorld(deferred: AsyncDisposableStack, folder: string): Promise<World> {
  const earlier: Shop[] = [];
  const cluster = await Cluster.start(deferred, workers, async (server) => {
    await commandsOn(server, folder)('migrate');
    earlier.push(await createShop(server, randomInt(1, 2 ** 47), folder));
  });
  const { coordinator } = cluster;
  const runCommand = commandsOn(coordinator, folder);
  await runCommand('distribute');
  const [ofWorkers, imported] = await fillShops(cluster, folder);
  const shops = [...ofWorkers, ...earlier];

  const standbyPort = await coordinator.startStandby();
  const hosts = [coordinator.port, standbyPort].map((port) => `127.0.0.1:${port}`);
  const databaseUrl = `postgres://postgres@${hosts.join()}/postgres`;
  const settings = {
    DATABASE_URL: databaseUrl,
    LOG_LEVEL: 'warn',
    STOP_SECONDS: String(stopSeconds),
  };
  const instances: Instance[] = [];
  for (const name of ['one', 'two']) {
    const instance = await Instance.start(name, folder, settings);
    deferred.defer(() => instance.kill());
    instances.push(instance);
  }
  const keys = shops.flatMap((shop) => shop.keys);
  const traffic = await startTraffic(instances, keys, clients, maxPauseMilliseconds);
  deferred.defer(() => traffic.end());
  const owner = new Owner(databaseUrl, (shops[1] as Shop).id, instances);
  deferred.defer(() => owner.end());
  const importer = new Importer(
    databaseUrl,
    { id: imported.id, key: imported.keys[0] as string },
    instances,
  );
  deferred.defer(async () => {
    await importer.end();
    const errors = [...importer.errors].map(([message, count]) => `${count} × ${message}\n`);
    appendFileSync(path.join(folder, 'importer.log'), errors.join(''));
  });
  const world: World = {
    cluster,
    instances,
    traffic,
    owner,
    importer,
    shops,
    notes: [],
    runCommand,
    listServers: () => [coordinator, ...cluster.workers].map(({ server }) => server),
    findObstacle: (since) => findUnready(world, since),
  };
  return world;
}

async function findUnready(
  { instances, importer }: World,
  since: number,
): Promise<string | undefined> {
  for (const instance of instances) {
    const readiness = await instance.readiness();
    if (!readiness.includes('"ready"')) return `instance ${instance.name} reports ${readiness}`;
  }
  return importer.lastBegin > since ? undefined : 'nothing can be imported';
}

function commandsOn(coordinator: Node, folder: string): World['runCommand'] {
  return async (...args) => {
    const env = environmentOf({ DATABASE_URL: coordinator.server.url, LOG_LEVEL: 'error' });
    const { stdout } = await promisify(execFile)(retention, [...args], { cwd: folder, env });
    return stdout;
  };
}

/** @returns a shop on each worker, and an empty one that shares the first worker */
async function fillShops(
  cluster: Cluster,
  folder: string,
): Promise<readonly [shops: readonly Shop[], imported: Shop]> {
  const { coordinator } = cluster;
  const shops: Shop[] = [];
  for (const worker of cluster.workers) {
    shops.push(await createShop(coordinator, await findIdOn(cluster, worker), folder));
  }
  const id = await findIdOn(cluster, cluster.workers[0] as Node);
  return [shops, await createShop(coordinator, id)];
}

/** @param folder for importing demo data, without which it stays empty */
async function createShop({ server }: Node, id: number, folder?: string): Promise<Shop> {
  const store = { ...connectAll(server.url), failed: new Promise<never>(() => {}) };
  try {
    await insertShop(store.write, {
      id,
      name: 'Test',
      tier: 'enterprise_plus',
      currency: 'USD',
      createdAt: new Date(systemClock.now()),
    });
    const keys: string[] = [];
    while (keys.length < keysPerShop) keys.push((await createTestKey(store, id)).key);
    if (folder !== undefined) await importDemoData(server.url, id, folder);
    return { id, keys };
  } finally {
    await store.close();
  }
}

/** A random id of a shop that would be on this worker. */
async function findIdOn(cluster: Cluster, worker: Node): Promise<number> {
  for (;;) {
    const id = randomInt(1, 2 ** 47);
    if ((await cluster.placementOf(id)).worker === worker) return id;
  }
}
