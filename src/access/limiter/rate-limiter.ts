/** The length of every limit's window, in seconds. */
export const windowSeconds = 60;

export interface RateDecision {
  readonly admitted: boolean;
  readonly limit: number;
  /** How many more requests would be admitted now. */
  readonly remaining: number;
  /**
   * Whole seconds, at least 1, until the next slot is free; after a refusal, until a request is admitted
   * again.
   */
  readonly resetSeconds: number;
}

/**
 * An exact rolling window per key: in any 60 seconds at most `limit` requests are admitted. Refused requests
 * do not count.
 */
export interface RateLimiter {
  /** Number of keys in this process's memory. */
  readonly size: number;
  /** @param holder identifies the window across shops; key ids are unique only within a shop */
  take(holder: string, limit: number): RateDecision | Promise<RateDecision>;
}
