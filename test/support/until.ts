import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

interface UntilOptions {
  /** When a minute may be too short on a machine with ten times its load; the caller says why. */
  readonly minutes?: number;
}

/**
 * Polls until the answer fits or, by default, is truthy.
 * @throws after a minute, with the last answer
 */
export async function until<T>(
  poll: () => T | Promise<T>,
  fits: (answer: T) => boolean = Boolean,
  { minutes = 1 }: UntilOptions = {},
): Promise<T> {
  const error = new Error();
  const startedAt = performance.now();
  for (;;) {
    const answer = await poll();
    if (fits(answer)) return answer;
    const waited = performance.now() - startedAt;
    if (waited > minutes * 60_000) {
      const what = fits === Boolean ? poll : fits;
      const time = `${minutes} minute${minutes === 1 ? '' : 's'}`;
      error.message = `Waited ${time} for ${what}; the last answer: ${inspect(answer)}`;
      throw error;
    }
    // Less often the longer it takes: asking takes time from the tests that run beside it.
    await sleep(Math.min(20 + waited / 20, Math.max(100, waited / 50)));
  }
}
