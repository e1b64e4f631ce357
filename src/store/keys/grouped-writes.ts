import { type Sql, type Transaction, isOfStatement } from '../database.ts';

/** Enough that a commit costs little of each, few enough that others wait for some milliseconds. */
const writesPerTransaction = 100;

interface Write {
  readonly shopId: number;
  readonly sortKey: string;
  run(tx: Transaction): Promise<unknown>;
  readonly done: PromiseWithResolvers<void>;
}

/**
 * Runs small writes of many shops, one transaction at a time, each for all that are waiting by then: a commit costs more
 * than most of them. If the server refuses one, they are run again alone, so that it affects no other.
 */
export class GroupedWrites {
  readonly #sql: Sql;
  readonly #waiting: Write[] = [];
  #isBusy = false;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** @param sortKey the same for all writes that change the same rows of a shop */
  add(shopId: number, sortKey: string, run: Write['run']): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#waiting.push({ shopId, sortKey, run, done });
    if (!this.#isBusy) {
      this.#isBusy = true;
      setImmediate(() => void this.#work());
    }
    return done.promise;
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#write(this.#waiting.splice(0, writesPerTransaction));
    }
    this.#isBusy = false;
  }

  async #write(group: readonly Write[]): Promise<void> {
    // In one order, so that instances that write the same cannot deadlock.
    const ordered = group.toSorted(
      (one, other) => one.shopId - other.shopId || (one.sortKey < other.sortKey ? -1 : 1),
    );
    try {
      await this.#sql.begin((tx) => Promise.all(ordered.map(({ run }) => run(tx))));
      for (const { done } of group) done.resolve();
    } catch (error) {
      // After a lost connection the outcome is unknown, and each write would fail alone, too.
      const areTriedAlone = group.length > 1 && isOfStatement(error);
      for (const write of group) {
        if (areTriedAlone) await this.#write([write]);
        else write.done.reject(error);
      }
    }
  }
}
