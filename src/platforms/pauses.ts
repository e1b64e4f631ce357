import { setTimeout as sleep } from 'node:timers/promises';

/** How to wait, and how much chance there is in it; tests put others in their place. */
export interface Pauses {
  /** @throws the reason of the signal once it is aborted */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** From 0 to below 1. */
  random(): number;
}

export const realPauses: Pauses = {
  async wait(milliseconds, signal) {
    await sleep(milliseconds, undefined, { signal }).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw error;
    });
  },
  random: Math.random,
};

/**
 * Full jitter: anything from nothing to a bound that doubles with each attempt, so that many who
 * failed together do not come back together.
 * @param attempt 1 after the first failure
 */
export function jittered(attempt: number, random: number): number {
  return random * Math.min(30_000, 500 * 2 ** attempt);
}
