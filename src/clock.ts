/**
 * The only source of time. `now` is wall-clock time, for what is shown and stored. `monotonic` never
 * goes back, for durations (leases, rate-limit windows): adjusting the system clock must neither lock
 * out a key nor let it exceed its limit.
 */
export interface Clock {
  /** Whole milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
  /** Milliseconds since an arbitrary start, with a fraction. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** A clock that advances only when told to, for tests and reproducible runs. */
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
