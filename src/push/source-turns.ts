import type { NextBatch } from '../store/push/batches.ts';

/**
 * The order in which a shop's sources have batches stored: weighted fair queueing, by bytes. Next is the batch after
 * which its source has had least; a source that was idle counts as having had as much as the one with least. So a
 * session's record passes the batches of other sources, however many these have queued, and none is starved. Batches of
 * one source keep their order.
 */
export class SourceTurns {
  /** What the source with least has had, of those that have batches. */
  #least = 0;
  /** What each source has had, if it is more than that. */
  readonly #had = new Map<string, number>();
  /** Until when a source is left out after a failure, in epoch milliseconds. */
  readonly #pausedUntil = new Map<string, number>();

  /**
   * @param heads the next batch of each source
   * @param now epoch milliseconds
   */
  choose(heads: readonly NextBatch[], now: number): NextBatch | undefined {
    const ready = heads.filter(
      ({ sourceId, dueAt }) =>
        now >= Math.max(dueAt?.getTime() ?? 0, this.#pausedUntil.get(sourceId) ?? 0),
    );
    if (ready.length === 0) return undefined;
    this.#least = Math.min(...ready.map((head) => this.#hadBy(head)));
    for (const [sourceId, bytes] of this.#had) {
      if (bytes <= this.#least) this.#had.delete(sourceId);
    }
    const after = (head: NextBatch) => this.#hadBy(head) + head.bytes;
    return ready.reduce((first, head) => (after(head) < after(first) ? head : first));
  }

  /** Counts a batch for its source. */
  charge(head: NextBatch): void {
    this.#had.set(head.sourceId, this.#hadBy(head) + head.bytes);
    this.#pausedUntil.delete(head.sourceId);
  }

  pause({ sourceId }: NextBatch, until: number): void {
    this.#pausedUntil.set(sourceId, until);
  }

  #hadBy({ sourceId }: NextBatch): number {
    return Math.max(this.#least, this.#had.get(sourceId) ?? 0);
  }
}
