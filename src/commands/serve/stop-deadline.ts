import type { Log } from '../../log/log.ts';
import { exitFlushed } from './last-resort.ts';

/** For what comes after the connections are closed: saving, and closing the database. */
const maxReserveMilliseconds = 3_000;

/**
 * Bounds how long stopping takes in all, from now on. The signal is aborted early enough for what comes after;
 * if the process is still there at the end, whatever it waits for, it ends with status 1.
 */
export class StopDeadline {
  readonly #passed = new AbortController();
  readonly #timers: readonly NodeJS.Timeout[];

  constructor(seconds: number, log: Log) {
    const milliseconds = seconds * 1000;
    const reserve = Math.min(maxReserveMilliseconds, milliseconds / 2);
    const giveUp = () => {
      log.error({ stopSeconds: seconds }, 'stopping took too long; what was left is given up');
      void exitFlushed(log, 1);
    };
    this.#timers = [
      setTimeout(() => this.#passed.abort(), milliseconds - reserve),
      setTimeout(giveUp, milliseconds),
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
