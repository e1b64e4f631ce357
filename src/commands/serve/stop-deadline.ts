import type { Log } from '../../log.ts';
import { exitFlushed } from './last-resort.ts';

/** For what comes after the connections are closed: saving, and closing the database. */
export const graceMilliseconds = 3_000;

/**
 * Bounds how long stopping takes, from now on. At the deadline the signal is aborted; if the process is
 * still there a few seconds later, whatever it waits for, it ends with status 1.
 */
export class StopDeadline {
  readonly #passed = new AbortController();
  readonly #timers: readonly NodeJS.Timeout[];

  constructor(seconds: number, log: Log) {
    const milliseconds = seconds * 1000;
    const giveUp = () => {
      log.error({ stopSeconds: seconds }, 'stopping took too long; what was left is given up');
      void exitFlushed(log, 1);
    };
    this.#timers = [
      setTimeout(() => this.#passed.abort(), milliseconds),
      setTimeout(giveUp, milliseconds + graceMilliseconds),
    ];
  }

  get signal(): AbortSignal {
    return this.#passed.signal;
  }

  /** Lets the process end before; it still ends one that something else keeps alive. */
  release(): void {
    for (const timer of this.#timers) timer.unref();
  }
}
