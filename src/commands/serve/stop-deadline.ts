import type { Log } from '../../log/log.ts';
import { exitStatus, explain } from '../framework/command.ts';
import { flushLogAndExit } from './last-resort.ts';
import { processIo } from './process-io.ts';

/** Time reserved for saving and for closing the database, once connections are closed. */
const maxReserveMilliseconds = 3_000;

/**
 * Limits how long stopping takes in all, from now on. The signal is aborted early enough to leave
 * time for what follows. If the process is still running at the end, it exits with status 1.
 */
export class StopDeadline {
  /** Why the command ends, if it failed. Explained at the deadline, when nothing else will. */
  failure: Error | undefined;
  readonly #passed = new AbortController();
  readonly #timers: readonly NodeJS.Timeout[];

  constructor(seconds: number, log: Log) {
    const milliseconds = seconds * 1000;
    const reserve = Math.min(maxReserveMilliseconds, milliseconds / 2);
    const giveUp = () => {
      if (this.failure !== undefined) explain(this.failure, processIo);
      log.error({ stopSeconds: seconds }, 'stopping took too long; exiting anyway');
      void flushLogAndExit(log, exitStatus.failed);
    };
    this.#timers = [
      setTimeout(() => this.#passed.abort(), milliseconds - reserve),
      setTimeout(giveUp, milliseconds),
    ];
  }

  get signal(): AbortSignal {
    return this.#passed.signal;
  }

  /** Lets the process exit early; the deadline still ends one that something else keeps alive. */
  release(): void {
    for (const timer of this.#timers) timer.unref();
  }
}
