import { UnavailableError } from './errors.ts';
import { numberOption } from './settings.ts';

/** Some entries of a list. */
export interface Page<Entry> {
  readonly entries: readonly Entry[];
  /** Continues the walk later, with the same filter; null on the last page. */
  readonly nextCursor: string | null;
}

/**
 * A list that is read page by page while it is walked: `for await (const entry of list)`. Awaited, it gives its first
 * page.
 */
export class Listing<Entry> implements AsyncIterable<Entry>, PromiseLike<Page<Entry>> {
  readonly #operation: string;
  readonly #load: (cursor: string | undefined) => Promise<Page<Entry>>;
  readonly #cursor: string | undefined;

  constructor(
    operation: string,
    load: (cursor: string | undefined) => Promise<Page<Entry>>,
    cursor?: string,
  ) {
    this.#operation = operation;
    this.#load = load;
    this.#cursor = cursor;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- what `await` calls
  then<Value = Page<Entry>, Failure = never>(
    onPage?: ((page: Page<Entry>) => Value | PromiseLike<Value>) | null,
    onError?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Value | Failure> {
    return this.#load(this.#cursor).then(onPage, onError);
  }

  /**
   * The first entries, from as many pages as they need.
   * @param options.limit how many at most: all are in memory at once
   * @throws TypeError if the limit is no whole number from 1 on, or Infinity
   */
  async toArray({ limit }: { readonly limit: number }): Promise<Entry[]> {
    numberOption('limit', limit);
    const entries: Entry[] = [];
    for await (const page of this.pages()) {
      entries.push(...page.entries.slice(0, limit - entries.length));
      if (entries.length >= limit) break;
    }
    return entries;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Entry, void> {
    for await (const { entries } of this.pages()) yield* entries;
  }

  /** The pages themselves. */
  async *pages(): AsyncGenerator<Page<Entry>, void> {
    let cursor = this.#cursor;
    do {
      const page = await this.#load(cursor);
      yield page;
      if (page.nextCursor !== null && page.nextCursor === cursor) {
        throw new UnavailableError(
          `${this.#operation}: The service gives the same page again, so the list would not end.`,
        );
      }
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }
}
