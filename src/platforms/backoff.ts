import { setTimeout as sleep } from 'node:timers/promises';

/** Waiting and randomness, which tests replace. */
export interface Backoff {
  /** @throws the signal's reason once it is aborted */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** From 0 up to, but not including, 1. */
  random(): number;
}

export const realBackoff: Backoff = {
  async wait(milliseconds, signal) {
    await sleep(milliseconds, undefined, { signal }).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw error;
    });
  },
  random: Math.random,
};

/**
 * Exponential backoff with full jitter, so that clients that failed together do not retry together.
 * @param attempt 1 after the first failure
 * @returns milliseconds
 */
export function jittered(attempt: number, random: number): number {
  return random * Math.min(30_000, 500 * 2 ** attempt);
}
