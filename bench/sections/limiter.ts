import { createRedisClient } from '../../src/access/limiter/rolling-redis-limiter.ts';
import type { ServerProcess } from '../processes.ts';
import { beginTable, figure, print, printNotMeasured } from '../report.ts';
import { type Sample, alternate, medianOf, ratioOf, sample } from '../sample.ts';
import { median } from '../statistics.ts';
import { targetOf, workloadIn } from '../workloads.ts';
import type { Section } from './section.ts';

const manyConnections = 64;

interface Turn extends Sample {
  /** The share of requests that Redis counted; for the others, Redis was too slow. */
  readonly inRedis: number;
}

/** What counting each request in Redis costs compared with counting it in the process. */
export const limiterSection: Section = {
  name: 'limiter',
  async measure(world, workloads) {
    if (world.redisUrl === undefined) {
      printNotMeasured('what Redis adds', 'There is no redis-server or valkey-server on the PATH.');
      return;
    }
    await using local = await world.startWarm();
    await using shared = await world.startWarm({ redisUrl: world.redisUrl });
    const workload = workloadIn(world.limited, workloads[0]);
    const redis = createRedisClient(world.redisUrl);
    await redis.connect();
    const countInRedis = async () =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);
    const turn = async ({ port, pid }: ServerProcess, connections: number): Promise<Turn> => {
      const before = await countInRedis();
      const taken = await sample(
        { ...targetOf(workload, 'REST', [port], world.limitedKey), refusals: [429] },
        { service: [pid], database: world.databasePid },
        connections,
      );
      return { ...taken, inRedis: ((await countInRedis()) - before) / taken.requests };
    };
    const results = await alternate({
      localOne: () => turn(local, 1),
      sharedOne: () => turn(shared, 1),
      localMany: () => turn(local, manyConnections),
      sharedMany: () => turn(shared, manyConnections),
    });
    redis.destroy();

    const row = beginTable([
      `${workload.name}, counted in`,
      'connections',
      'requests/s',
      'CPU µs',
      'p50 ms',
      'p99 ms',
      'refused',
      'in Redis',
    ]);
    const printRow = (name: string, connections: number, samples: Turn[]) =>
      row(
        name,
        String(connections),
        figure(medianOf(samples, 'perSecond')),
        figure(medianOf(samples, 'serviceCpu'), 1),
        figure(medianOf(samples, 'p50'), 3),
        figure(medianOf(samples, 'p99'), 3),
        figure(medianOf(samples, 'refused'), 3),
        figure(medianOf(samples, 'inRedis'), 3),
      );
    printRow('the process', 1, results.localOne);
    printRow('Redis', 1, results.sharedOne);
    printRow('the process', manyConnections, results.localMany);
    printRow('Redis', manyConnections, results.sharedMany);
    const added = results.sharedOne.map(
      ({ p50 }, round) => p50 - (results.localOne[round] as Turn).p50,
    );
    print(
      `Redis adds ${median(added).toFixed(3)} ms at the median, one request at a time. With ${manyConnections} at once, throughput is ${ratioOf(results.sharedMany, results.localMany).toFixed(3)} of that without Redis.`,
    );
  },
};
