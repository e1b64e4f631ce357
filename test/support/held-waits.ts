import { syncBuiltinESMExports } from 'node:module';
import type { TestContext } from 'node:test';
import timers from 'node:timers/promises';

interface HeldWaits {
  /** Resolves once something waits that long. */
  readonly begun: Promise<void>;
  /** Ends all such waits, present and future. */
  release(): void;
}

/** Holds up waits of one length in this process, which shows what has happened before them without measuring time. */
export function holdWaits(t: TestContext, milliseconds: number): HeldWaits {
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const wait = timers.setTimeout;
  const held = t.mock.method(
    timers,
    'setTimeout',
    (delay?: number, ...rest: [unknown?, object?]) => {
      if (delay !== milliseconds) return wait(delay, ...rest);
      begun.resolve();
      return released.promise;
    },
  );
  syncBuiltinESMExports();
  t.after(() => {
    released.resolve();
    held.mock.restore();
    syncBuiltinESMExports();
  });
  return { begun: begun.promise, release: () => released.resolve() };
}
