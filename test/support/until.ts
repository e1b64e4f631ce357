import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

/** Long enough for any machine; only ends a file whose condition never becomes true. */
const timeoutMilliseconds = 300_000;

/**
 * Polls until the answer fits or, by default, is truthy.
 * @throws after five minutes, with the last answer
 */
export async function until<T>(
  poll: () => T | Promise<T>,
  fits: (answer: T) => boolean = Boolean,
): Promise<T> {
  const error = new Error();
  const startedAt = performance.now();
  for (;;) {
    const answer = await poll();
    if (fits(answer)) return answer;
    const waited = performance.now() - startedAt;
    if (waited > timeoutMilliseconds) {
      error.message = `Waited five minutes for ${fits === Boolean ? poll : fits}; the last answer: ${inspect(answer)}`;
      throw error;
    }
    // Less often the longer it takes: asking takes time from the tests that run beside it.
    await sleep(Math.min(20 + waited / 20, 100));
  }
}
