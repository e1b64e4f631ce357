import type { Fault } from '../../faults/fault.ts';
import { neighbourOf } from '../victim.ts';
import type { World } from '../world.ts';

/** How often the moves of a rebalancing failed and were repeated. */
const countRetries = 'select sum(retry_count)::int as retries from pg_dist_background_task';

const noRepair = async () => {};

/** Shards that change places while they are in use. */
export const moves: readonly Fault<World>[] = [
  {
    name: 'worker added, shards rebalanced',
    mayRefuse: false,
    async inject({ cluster, runCommand, notes }) {
      await cluster.addWorker();
      await runCommand('distribute');
      await cluster.coordinator.run(
        `select citus_rebalance_start(shard_transfer_mode => 'block_writes')`,
      );
      await cluster.coordinator.run('select citus_rebalance_wait()');
      const [moved] = await cluster.coordinator.run<{ retries: number }>(countRetries);
      if (moved?.retries) notes.push(`The rebalancing repeated moves ${moved.retries} times.`);
    },
    end: noRepair,
  },
  ...(['block_writes', 'force_logical'] as const).map((mode): Fault<World> => ({
    name: `shard moved, ${mode}`,
    mayRefuse: false,
    async inject({ cluster, importer }) {
      const { shardId, worker } = await cluster.placementOf(importer.shopId);
      await cluster.moveShard(shardId, worker, neighbourOf(cluster, worker), mode);
    },
    end: noRepair,
  })),
  {
    name: 'shop gets a shard of its own',
    mayRefuse: false,
    async inject({ cluster, importer }) {
      await cluster.isolateShop(importer.shopId);
    },
    end: noRepair,
  },
];
