/**
 * The only source of time. `now` is wall-clock time for what is shown and stored; `monotonic` only
 * ever moves forward and is for durations (leases, rate-limit windows), so that a corrected system
 * clock neither locks a key out nor lets it through.
 */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z, whole. */
  now(): number;
  /** Milliseconds since an arbitrary start, with fractions. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** A clock that stands still until told otherwise; tests and reproducible runs use it. */
export class FixedClock implements Clock {
  #now: number;
  #monotonic = 0;

  /** @param start an ISO 8601 instant or epoch milliseconds */
  constructor(start: string | number) {
    this.#now = new Date(start).getTime();
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  /** Moves both clocks forward by `milliseconds`. */
  advance(milliseconds: number): void {
    this.#now += milliseconds;
    this.#monotonic += milliseconds;
  }
}
