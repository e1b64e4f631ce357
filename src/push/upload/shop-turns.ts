/**
 * Two, so that a shop whose work is slow does not hold up the others. No more, because each takes a processor and memory
 * from the requests, and an import one of the four connections that write.
 */
const maxShops = 2;

type Job = () => Promise<void>;

/** Runs work of shops: one job of a shop at a time, of two shops at the same time. Shops that wait take turns. */
export class ShopTurns {
  /** By shop, in the order of their turns. */
  readonly #waiting = new Map<number, readonly Job[]>();
  readonly #running = new Set<number>();

  run<Result>(shopId: number, work: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const job = () => work().then(resolve, reject);
      this.#waiting.set(shopId, [...(this.#waiting.get(shopId) ?? []), job]);
      this.#startNext();
    });
  }

  #startNext(): void {
    for (const [shopId, [job, ...later]] of this.#waiting) {
      if (this.#running.size === maxShops) return;
      if (!job || this.#running.has(shopId)) continue;
      this.#waiting.delete(shopId);
      // Behind the other shops.
      if (later.length > 0) this.#waiting.set(shopId, later);
      this.#running.add(shopId);
      void job().finally(() => {
        this.#running.delete(shopId);
        this.#startNext();
      });
    }
  }
}
