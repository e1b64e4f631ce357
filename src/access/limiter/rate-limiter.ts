/** The window of every limit, in seconds. */
export const windowSeconds = 60;

export interface RateDecision {
  readonly admitted: boolean;
  readonly limit: number;
  /** Requests that would still be admitted right now. */
  readonly remaining: number;
  /**
   * Whole seconds, at least 1, until the next slot comes free: after a refusal, when a request is
   * let through again.
   */
  readonly resetSeconds: number;
}

/**
 * One exact rolling window per key: of any requests within 60 seconds, at most `limit` are admitted.
 * A refused request does not count.
 */
export interface RateLimiter {
  /** @param holder whose window it is, over all shops: the id of a key is its shop's own */
  take(holder: string, limit: number): RateDecision | Promise<RateDecision>;
}
