import type { Clock } from '../clock.ts';
import type { Log } from '../log/log.ts';
import { deleteAttemptsBefore, deleteDevicesBefore } from '../store/owners/sign-in.ts';
import type { Sql } from '../store/database.ts';
import { oldestDevice } from './devices.ts';
import { attemptHours } from './throttle.ts';

const intervalMilliseconds = 3_600_000;

/** Deletes expired sign-in attempts and browsers, at start and every hour. */
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

  /** Resolves once the database is no longer in use. */
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
      this.#log.warn({ err: error }, 'could not delete expired sign-in attempts, will retry');
    }
  }
}
