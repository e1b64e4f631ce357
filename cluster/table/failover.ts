import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../../faults/fault.ts';
import { type Victim, chooseVictim, watchOthers } from '../victim.ts';
import type { World } from '../world.ts';

/** How long a cluster manager takes to notice the failure. */
const noticedMilliseconds = 2_000;

/** Nodes that are lost for good. The coordinator's standby is started with the drill. */
export function failovers(): readonly Fault<World>[] {
  let victim: Victim | undefined;
  return [
    {
      name: 'worker lost, standby promoted',
      async prepare(world) {
        const worker = await chooseVictim(world);
        await worker.startStandby();
        await worker.replicateSynchronously();
        victim = await watchOthers(world, worker);
      },
      async inject() {
        await victim?.worker.server.stop('crash');
        await sleep(noticedMilliseconds);
      },
      async end({ cluster, notes }) {
        if (!victim) return;
        const lost = victim.worker;
        const oldPort = lost.port;
        const promoting = await secondsOf(lost.promoteStandby());
        const announcing = await secondsOf(cluster.announceWorker(lost, oldPort));
        notes.push(
          `The standby of ${lost.name} was promoted in ${promoting} s; citus_update_node took ${announcing} s.`,
        );
      },
      check: (_world, outcomes) => victim?.check(outcomes) ?? [],
    },
    {
      name: 'coordinator lost, standby promoted',
      prepare: ({ cluster }) => cluster.coordinator.replicateSynchronously(),
      async inject({ cluster }) {
        await cluster.coordinator.server.stop('crash');
        await sleep(noticedMilliseconds);
      },
      async end({ cluster, notes }) {
        const promoting = await secondsOf(cluster.coordinator.promoteStandby());
        const announcing = await secondsOf(cluster.announceCoordinator());
        notes.push(
          `The standby of the coordinator was promoted in ${promoting} s; citus_set_coordinator_host took ${announcing} s.`,
        );
      },
    },
  ];
}

async function secondsOf(work: Promise<void>): Promise<string> {
  const begin = performance.now();
  await work;
  return ((performance.now() - begin) / 1000).toFixed(1);
}
