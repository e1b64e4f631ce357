import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../clock.ts';

export interface Checked<T> {
  /** Undefined where it failed, or did not come in time. */
  readonly answer: T | undefined;
  /** How long the answer took, or has been waited for. */
  readonly seconds: number;
}

const patienceMilliseconds = 1_000;

/**
 * Makes a question that scrapes may ask: at most one is under way, so that a database that is frozen
 * is not asked ever more, and none waits longer than a second.
 */
export function createPatientCheck<T>(
  ask: () => Promise<T>,
  clock: Clock,
): () => Promise<Checked<T>> {
  let asked: { readonly begin: number; readonly answered: Promise<T | undefined> } | undefined;
  const begin = () => {
    const answered = ask().catch(() => undefined);
    void answered.then(() => (asked = undefined));
    return { begin: clock.monotonic(), answered };
  };

  return async () => {
    const question = (asked ??= begin());
    const answer = await Promise.race([
      question.answered,
      sleep(patienceMilliseconds, undefined, { ref: false }),
    ]);
    return { answer, seconds: (clock.monotonic() - question.begin) / 1000 };
  };
}
