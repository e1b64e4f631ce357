import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../../faults/fault.ts';
import type { Outcome } from '../../test/support/traffic.ts';
import type { Node } from '../nodes.ts';
import type { World } from '../world.ts';

const awayMilliseconds = 4_000;
/** Longest time that a request for another worker's shop may take. */
const maxMilliseconds = 1_000;

/** @returns what was wrong, as sentences */
export type Watch = (outcomes: readonly Outcome[]) => string[];

/** Finds requests that a failed worker should not have affected. */
export async function watchOthers({ cluster, shops }: World, failing: Node): Promise<Watch> {
  const others = new Set<string>();
  for (const { id, keys } of shops) {
    if ((await cluster.placementOf(id)).worker === failing) continue;
    for (const key of keys) others.add(key);
  }
  return (outcomes) => {
    const ofOthers = outcomes.filter(({ key }) => others.has(key));
    const refused = ofOthers.filter(({ ending }) => ending === 'failed').length;
    const slow = ofOthers.filter(({ milliseconds }) => milliseconds > maxMilliseconds).length;
    return [
      refused > 0 && `${refused} requests for shops on other workers were refused`,
      slow > 0 && `${slow} requests for shops on other workers were slow`,
    ].filter((each) => each !== false);
  };
}

/** Nodes that end without warning, and come back. */
export function crashes(): readonly Fault<World>[] {
  let check: Watch | undefined;
  let killed: Node | undefined;
  let frozen: Node | undefined;
  return [
    {
      name: 'worker killed -9, started',
      async prepare(world) {
        killed = (await world.cluster.placementOf(world.importer.shopId)).worker;
        check = await watchOthers(world, killed);
      },
      async inject() {
        await killed?.server.stop('crash');
        await sleep(awayMilliseconds);
      },
      async end() {
        await killed?.server.start();
      },
      check: (_world, outcomes) => check?.(outcomes) ?? [],
    },
    {
      name: 'worker frozen, 4 s',
      async inject({ cluster, importer }) {
        frozen = (await cluster.placementOf(importer.shopId)).worker;
        frozen.server.freeze();
        await sleep(awayMilliseconds);
      },
      async end() {
        frozen?.server.thaw();
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
