import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../clock.ts';

export interface DatabaseCheck {
  readonly isUp: boolean;
  /** How long the answer took, or has been waited for. */
  readonly seconds: number;
}

const patienceMilliseconds = 1_000;

/**
 * Makes a check of whether the database answers. One question is under way at most, so that a
 * database that is frozen is not asked ever more.
 * @param ask sends the question
 */
export function createDatabaseCheck(
  ask: () => Promise<unknown>,
  clock: Clock,
): () => Promise<DatabaseCheck> {
  let asked: { readonly begin: number; readonly answered: Promise<boolean> } | undefined;
  const begin = () => {
    const answered = ask().then(
      () => true,
      () => false,
    );
    void answered.then(() => (asked = undefined));
    return { begin: clock.monotonic(), answered };
  };

  return async () => {
    const question = (asked ??= begin());
    const isUp = await Promise.race([
      question.answered,
      sleep(patienceMilliseconds, false, { ref: false }),
    ]);
    return { isUp, seconds: (clock.monotonic() - question.begin) / 1000 };
  };
}
