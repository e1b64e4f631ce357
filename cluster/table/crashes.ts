import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../../faults/fault.ts';
import { type Victim, chooseVictim, watchOthers } from '../victim.ts';
import type { World } from '../world.ts';

const awayMilliseconds = 4_000;

/** Nodes that end or freeze without warning, and come back. */
export function crashes(): readonly Fault<World>[] {
  let victim: Victim | undefined;
  const prepare = async (world: World) => {
    victim = await watchOthers(world, await chooseVictim(world));
  };
  return [
    {
      name: 'worker killed -9, started',
      prepare,
      async inject() {
        await victim?.worker.server.stop('crash');
        await sleep(awayMilliseconds);
      },
      async end() {
        await victim?.worker.server.start();
      },
      check: (_world, outcomes) => victim?.check(outcomes) ?? [],
    },
    {
      name: 'worker frozen, 4 s',
      prepare,
      async inject() {
        victim?.worker.server.freeze();
        await sleep(awayMilliseconds);
      },
      async end() {
        victim?.worker.server.thaw();
      },
      check({ notes }, outcomes) {
        // All requests share connections to the coordinator, so they may wait, but no longer than that.
        notes.push(
          ...(victim?.check(outcomes) ?? []).map((each) => `worker frozen, 4 s: ${each}.`),
        );
        return [];
      },
    },
    {
      name: 'coordinator killed -9, started',
      async inject({ cluster }) {
        await cluster.coordinator.server.stop('crash');
        await sleep(awayMilliseconds);
      },
      end: ({ cluster }) => cluster.coordinator.server.start(),
    },
  ];
}
