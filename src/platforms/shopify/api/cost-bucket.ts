import type { Clock } from '../../../clock.ts';

/** `extensions.cost` of an answer. https://shopify.dev/docs/api/usage/limits */
export interface QueryCost {
  readonly requestedQueryCost: number;
  readonly actualQueryCost: number | null;
  readonly throttleStatus: {
    readonly maximumAvailable: number;
    readonly currentlyAvailable: number;
    /** Points a second. */
    readonly restoreRate: number;
  };
}

/**
 * What Shopify lets an app ask of a shop: a bucket of points that refills steadily. It is known from
 * the last answer; what others have taken with the same token since then is not.
 */
export class CostBucket {
  readonly #clock: Clock;
  /** What each document cost to ask when it was asked last. */
  readonly #costs = new Map<string, number>();
  #last: { readonly status: QueryCost['throttleStatus']; readonly at: number } | undefined;
  /** Points of queries that are under way. */
  #reserved = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds until the bucket should have what the document costs; 0 if nothing is known. */
  pauseBefore(document: string): number {
    const cost = this.#costs.get(document);
    if (cost === undefined || !this.#last) return 0;
    const { currentlyAvailable, restoreRate, maximumAvailable } = this.#last.status;
    if (restoreRate <= 0) return 0;
    const refilled = ((this.#clock.monotonic() - this.#last.at) / 1000) * restoreRate;
    const available = Math.min(maximumAvailable, currentlyAvailable + refilled) - this.#reserved;
    const lacking = Math.min(cost, maximumAvailable) - available;
    return lacking <= 0 ? 0 : Math.ceil((lacking / restoreRate) * 1000);
  }

  /** Counts a query as under way until what is returned is called. */
  reserve(document: string): () => void {
    const cost = this.#costs.get(document) ?? 0;
    this.#reserved += cost;
    return () => {
      this.#reserved -= cost;
    };
  }

  learn(document: string, { requestedQueryCost, throttleStatus }: QueryCost): void {
    this.#costs.set(document, requestedQueryCost);
    this.#last = { status: throttleStatus, at: this.#clock.monotonic() };
  }
}
