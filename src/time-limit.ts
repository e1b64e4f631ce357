import { setTimeout as sleep } from 'node:timers/promises';

/** What did not come in time; the work may still continue. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut';
}

/**
 * Waits for some work, but not longer than this. The timer does not keep the process alive.
 * @throws TimedOut
 */
export async function within<Result>(
  milliseconds: number,
  work: PromiseLike<Result>,
): Promise<Result> {
  const over = new AbortController();
  try {
    return await Promise.race([
      work,
      sleep(milliseconds, undefined, { signal: over.signal, ref: false }).then(() => {
        throw new TimedOut(`no answer within ${milliseconds / 1000} s`);
      }),
    ]);
  } finally {
    over.abort();
  }
}
