import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

/** Long enough for any machine; it only keeps a file whose condition never comes from running for ever. */
const timeoutMilliseconds = 300_000;

/**
 * Asks until the answer fits, or is something.
 * @throws after five minutes, with the last answer
 */
export async function until<T>(
  ask: () => T | Promise<T>,
  fits: (answer: T) => boolean = Boolean,
): Promise<T> {
  const error = new Error();
  const endsAt = performance.now() + timeoutMilliseconds;
  for (;;) {
    const answer = await ask();
    if (fits(answer)) return answer;
    if (performance.now() > endsAt) {
      error.message = `Waited five minutes for ${fits === Boolean ? ask : fits}; the last answer: ${inspect(answer)}`;
      throw error;
    }
    await sleep(20);
  }
}
