import type { Outcome } from '../test/support/traffic.ts';
import type { Cluster, Node } from './nodes.ts';
import type { World } from './world.ts';

/** Longest time that a request for another worker's shop may take. */
const maxMilliseconds = 2_000;
/** Longest time that a request for a shop of a worker that is gone may take. */
const atOnceMilliseconds = 500;

/** A worker that is about to fail. */
export interface Victim {
  readonly worker: Node;
  /** @returns how requests for shops on other workers were affected, as sentences */
  check(outcomes: readonly Outcome[]): string[];
  /**
   * While the worker is gone.
   * @param from since when, on the monotonic clock
   * @returns what did not behave as it should, as sentences
   */
  checkGone(outcomes: readonly Outcome[], from: number): string[];
}

/** Chooses the first shop's worker, moves the imported shop to it, and another shop away from it. */
export async function chooseVictim({ cluster, shops, importer }: World): Promise<Node> {
  const [first, second] = shops;
  if (!first || !second) throw new Error('There are too few shops.');
  const { worker } = await cluster.placementOf(first.id);
  const imported = await cluster.placementOf(importer.shopId);
  if (imported.worker !== worker) {
    await cluster.moveShard(imported.shardId, imported.worker, worker, 'force_logical');
  }
  const other = await cluster.placementOf(second.id);
  if (other.worker === worker) {
    await cluster.moveShard(other.shardId, worker, neighbourOf(cluster, worker), 'force_logical');
  }
  return worker;
}

/** From now on, watches requests for shops on other workers, and writes of a key of one of these. */
export async function watchOthers({ cluster, shops, owner }: World, worker: Node): Promise<Victim> {
  const own = new Set<string>();
  const others = new Set<string>();
  for (const { id, keys } of shops) {
    const isOwn = (await cluster.placementOf(id)).worker === worker;
    for (const key of keys) (isOwn ? own : others).add(key);
  }
  const since = performance.now();
  const checkedBefore = owner.checked;
  const firstWrite = owner.writes.length;
  return {
    worker,
    check: (outcomes) =>
      describe(outcomes.filter(({ key, begin }) => others.has(key) && begin >= since)),
    checkGone(outcomes, from) {
      const until = performance.now();
      const during = outcomes.filter(
        ({ key, begin, milliseconds }) =>
          own.has(key) && begin >= from && begin + milliseconds <= until,
      );
      const answered = during.filter(({ ending }) => ending !== 'failed').length;
      const slow = during.filter(({ milliseconds }) => milliseconds > atOnceMilliseconds).length;
      const failed = owner.writes
        .slice(firstWrite)
        .filter(({ begin, isAcknowledged }) => begin >= from && !isAcknowledged).length;
      const about = `of ${during.length} requests for its own shops`;
      return [
        during.length === 0 && 'its own shops got no requests',
        answered > 0 && `${answered} ${about} were answered`,
        slow > 0 && `${slow} ${about} were refused only after ${atOnceMilliseconds} ms`,
        failed > 0 && `${failed} writes of keys failed`,
        owner.checked === checkedBefore && 'no key was created, revoked and refused',
      ].filter((each) => each !== false);
    },
  };
}

function describe(ofOthers: readonly Outcome[]): string[] {
  const refused = ofOthers.filter(({ ending }) => ending === 'failed').length;
  const slow = ofOthers.filter(({ milliseconds }) => milliseconds > maxMilliseconds).length;
  const about = `of ${ofOthers.length} requests for shops on other workers`;
  return [
    refused > 0 && `${refused} ${about} were refused`,
    slow > 0 && `${slow} ${about} took more than ${maxMilliseconds / 1000} s`,
  ].filter((each) => each !== false);
}

export function neighbourOf({ workers }: Cluster, worker: Node): Node {
  return workers[(workers.indexOf(worker) + 1) % workers.length] as Node;
}
