import { setTimeout as sleep } from 'node:timers/promises';

/** Asks until the answer fits, or is something; the runner's own patience is the limit. */
export async function until<T>(
  ask: () => T | Promise<T>,
  fits: (answer: T) => boolean = Boolean,
): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (fits(answer)) return answer;
    await sleep(20);
  }
}
