import type { Clock } from '../../clock.ts';
import { type RateDecision, type RateLimiter, windowSeconds } from './rate-limiter.ts';

const windowMilliseconds = windowSeconds * 1000;
const initialCapacity = 4;

/** The times of one key's recent admitted requests, oldest first, in a ring buffer that grows. */
interface Window {
  times: Float64Array;
  oldest: number;
  count: number;
}

/**
 * A limiter within one process. Its memory is bounded by the requests that the process can admit in two minutes:
 * windows contain only times of the last minute, and keys are forgotten one to two minutes after their last request.
 */
export class MemoryRateLimiter implements RateLimiter {
  readonly #clock: Clock;
  /** Of keys that had a request admitted since `#since`, and of the others that had one in the minute before it. */
  #recent = new Map<string, Window>();
  #earlier = new Map<string, Window>();
  #since: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  get size(): number {
    return this.#recent.size + this.#earlier.size;
  }

  take(holder: string, limit: number): RateDecision {
    const now = this.#clock.monotonic();
    if (now - this.#since >= windowMilliseconds) this.#forgetEarlier(now);

    const window = this.#recent.get(holder) ??
      this.#earlier.get(holder) ?? {
        times: new Float64Array(initialCapacity),
        oldest: 0,
        count: 0,
      };
    dropOlderThan(window, now - windowMilliseconds);

    const admitted = window.count < limit;
    if (admitted) {
      append(window, now);
      this.#earlier.delete(holder);
      this.#recent.set(holder, window);
    }
    // After the limit was lowered, several slots may have to become free first.
    const blocking = Math.max(0, window.count - limit);
    // Subtract times first: adding to a fractional one can round up to 61 seconds.
    const age = now - at(window, blocking);
    return {
      admitted,
      limit,
      remaining: Math.max(0, limit - window.count),
      resetSeconds: Math.max(1, Math.ceil((windowMilliseconds - age) / 1000)),
    };
  }

  /** Not key by key: to find the oldest in a map of thousands passes all that were removed before it. */
  #forgetEarlier(now: number): void {
    this.#earlier = this.#recent;
    this.#recent = new Map();
    this.#since = now;
  }
}

function at(window: Window, index: number): number {
  return window.times[(window.oldest + index) % window.times.length] as number;
}

function dropOlderThan(window: Window, end: number): void {
  while (window.count > 0 && at(window, 0) <= end) {
    window.oldest = (window.oldest + 1) % window.times.length;
    window.count -= 1;
  }
}

function append(window: Window, time: number): void {
  if (window.count === window.times.length) {
    const grown = new Float64Array(window.times.length * 2);
    for (let index = 0; index < window.count; index += 1) grown[index] = at(window, index);
    window.times = grown;
    window.oldest = 0;
  }
  window.times[(window.oldest + window.count) % window.times.length] = time;
  window.count += 1;
}
