import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../clock.ts';

export interface Checked<T> {
  /** Undefined if it failed or timed out. */
  readonly answer: T | undefined;
  /** How long the answer took, or has been awaited. */
  readonly seconds: number;
}

const timeoutMilliseconds = 1_000;

/**
 * Creates a check for use by scrapes. At most one call runs at a time, so that a hanging database
 * does not accumulate calls, and each scrape waits at most a second.
 */
export function createTimedCheck<T>(
  call: () => Promise<T>,
  clock: Clock,
): () => Promise<Checked<T>> {
  let pending: { readonly start: number; readonly result: Promise<T | undefined> } | undefined;
  const start = () => {
    const result = call().catch(() => undefined);
    void result.then(() => (pending = undefined));
    return { start: clock.monotonic(), result };
  };

  return async () => {
    const current = (pending ??= start());
    const answer = await Promise.race([
      current.result,
      sleep(timeoutMilliseconds, undefined, { ref: false }),
    ]);
    return { answer, seconds: (clock.monotonic() - current.start) / 1000 };
  };
}
