import type { Clock } from '../../../clock.ts';

/** `extensions.cost` of an answer. https://shopify.dev/docs/api/usage/limits */
export interface QueryCost {
  readonly requestedQueryCost: number;
  readonly actualQueryCost: number | null;
  readonly throttleStatus: {
    readonly maximumAvailable: number;
    readonly currentlyAvailable: number;
    /** Points per second. */
    readonly restoreRate: number;
  };
}

/**
 * Shopify's rate limit for an app on a shop: a bucket of points that refills at a constant rate.
 * Its level is known from the last answer, but not what others used with the same token since.
 */
export class CostBucket {
  readonly #clock: Clock;
  /** The requested cost of each document, from its last answer. */
  readonly #costs = new Map<string, number>();
  #last: { readonly status: QueryCost['throttleStatus']; readonly at: number } | undefined;
  /** Points of queries in progress. */
  #reserved = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds until the bucket should have enough points for the document; 0 if unknown. */
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

  /** Reserves points for a query. @returns a function that releases them */
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
