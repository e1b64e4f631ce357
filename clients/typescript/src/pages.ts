import { UnavailableError } from './errors.ts';

/** Some entries of a list. */
export interface Page<Entry> {
  readonly entries: readonly Entry[];
  /** Continues the walk later, with the same filter; null on the last page. */
  readonly nextCursor: string | null;
}

/** A list that is read page by page while it is walked: `for await (const entry of list)`. */
export class Listing<Entry> implements AsyncIterable<Entry> {
  readonly #load: (cursor: string | undefined) => Promise<Page<Entry>>;
  readonly #cursor: string | undefined;

  constructor(load: (cursor: string | undefined) => Promise<Page<Entry>>, cursor?: string) {
    this.#load = load;
    this.#cursor = cursor;
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
          'The service gives the same page again, so the list would not end.',
        );
      }
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }
}
