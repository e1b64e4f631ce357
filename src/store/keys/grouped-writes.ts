import { isOfStatement } from '../database.ts';

/** Enough that a statement costs little of each, few enough that others wait for some milliseconds. */
const itemsPerWrite = 250;

interface Waiting<Item> {
  readonly item: Item;
  readonly done: PromiseWithResolvers<void>;
}

/**
 * Writes small things of many shops, one group at a time, each with all that are waiting by then: a statement costs more
 * than most of them. If the server refuses one, they are written again alone, so that it affects no other.
 */
export class GroupedWrites<Item> {
  readonly #write: (items: readonly Item[]) => Promise<unknown>;
  readonly #waiting: Waiting<Item>[] = [];
  #isBusy = false;

  constructor(write: (items: readonly Item[]) => Promise<unknown>) {
    this.#write = write;
  }

  add(item: Item): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#waiting.push({ item, done });
    if (!this.#isBusy) {
      this.#isBusy = true;
      setImmediate(() => void this.#work());
    }
    return done.promise;
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#writeGroup(this.#waiting.splice(0, itemsPerWrite));
    }
    this.#isBusy = false;
  }

  async #writeGroup(group: readonly Waiting<Item>[]): Promise<void> {
    try {
      await this.#write(group.map(({ item }) => item));
      for (const { done } of group) done.resolve();
    } catch (error) {
      // After a lost connection the outcome is unknown, and each write would fail alone, too.
      const areTriedAlone = group.length > 1 && isOfStatement(error);
      for (const each of group) {
        if (areTriedAlone) await this.#writeGroup([each]);
        else each.done.reject(error);
      }
    }
  }
}
