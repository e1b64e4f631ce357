import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { deleteAttemptsBefore } from '../store/owners/attempts.ts';
import type { Sql } from '../store/database.ts';
import { deleteDevicesBefore } from '../store/owners/devices.ts';
import { oldestDevice } from './devices.ts';
import { attemptHours } from './throttle.ts';

const intervalMilliseconds = 3_600_000;

/** Deletes, now and every hour, what is kept of attempts and browsers beyond the time it counts. */
export class SignInSweep {
  readonly #sql: Sql;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void>;

  constructor(sql: Sql, clock: Clock, log: Log) {
    this.#sql = sql;
    this.#clock = clock;
    this.#log = log;
    this.#running = this.#sweep();
    this.#timer = setInterval(() => (this.#running = this.#sweep()), intervalMilliseconds).unref();
  }

  /** Resolves when nothing of it uses the database any more. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  async #sweep(): Promise<void> {
    const oldestAttempt = new Date(this.#clock.now() - attemptHours * 3_600_000);
    try {
      await deleteAttemptsBefore(this.#sql, oldestAttempt);
      await deleteDevicesBefore(this.#sql, oldestDevice(this.#clock));
    } catch (error) {
      this.#log.warn({ err: error }, 'old sign-in attempts not deleted yet');
    }
  }
}
