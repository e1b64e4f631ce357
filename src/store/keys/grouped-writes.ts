import { type Sql, type Transaction, isOfStatement } from '../database.ts';

/** Enough that a statement and a commit cost little of each, few enough that others wait for some milliseconds. */
const writesPerTransaction = 1_000;

interface Waiting<Write> {
  readonly write: Write;
  readonly done: PromiseWithResolvers<void>;
}

/**
 * Stores small writes of many shops, one transaction at a time, each with all that are waiting by then: a statement and a
 * commit cost more than most of them. If the server refuses one, they are stored again alone, so that it affects no other.
 */
export class GroupedWrites<Write> {
  readonly #sql: Sql;
  readonly #store: (tx: Transaction, writes: readonly Write[]) => Promise<unknown>;
  readonly #waiting: Waiting<Write>[] = [];
  #isBusy = false;

  /** @param store must lock rows in an order that does not depend on that of the writes */
  constructor(sql: Sql, store: (tx: Transaction, writes: readonly Write[]) => Promise<unknown>) {
    this.#sql = sql;
    this.#store = store;
  }

  add(write: Write): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#waiting.push({ write, done });
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

  async #write(group: readonly Waiting<Write>[]): Promise<void> {
    try {
      await this.#sql.begin((tx) =>
        this.#store(
          tx,
          group.map(({ write }) => write),
        ),
      );
      for (const { done } of group) done.resolve();
    } catch (error) {
      // After a lost connection the outcome is unknown, and each write would fail alone, too.
      const areTriedAlone = group.length > 1 && isOfStatement(error);
      for (const each of group) {
        if (areTriedAlone) await this.#write([each]);
        else each.done.reject(error);
      }
    }
  }
}
