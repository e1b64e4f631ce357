import type { Clock } from '../../clock.ts';
import type { Log } from '../../log/log.ts';
import type { Sql } from '../../store/database.ts';
import { appendOmitted, installation, listAuditHeads } from '../../store/owners/audit.ts';

const intervalMilliseconds = 24 * 3_600_000;
const headsPerLine = 100;

/**
 * Logs the heads of the audit log's chains, at start and daily: kept with the log, they show whether the end of a chain
 * was cut.
 */
export class HeadLog {
  readonly #sql: Sql;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  readonly #logged = new Map<number, number>();
  #running: Promise<void>;

  constructor(sql: Sql, clock: Clock, log: Log) {
    this.#sql = sql;
    this.#clock = clock;
    this.#log = log;
    this.#running = this.#report();
    this.#timer = setInterval(() => (this.#running = this.#report()), intervalMilliseconds).unref();
  }

  /** Resolves once the database is no longer in use. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  async #report(): Promise<void> {
    try {
      await appendOmitted(this.#sql, installation, new Date(this.#clock.now()));
      const heads = (await listAuditHeads(this.#sql)).filter(
        ({ shopId, number }) => number > (this.#logged.get(shopId) ?? 0),
      );
      for (let from = 0; from < heads.length; from += headsPerLine) {
        this.#log.info({ heads: heads.slice(from, from + headsPerLine) }, 'audit heads');
      }
      for (const { shopId, number } of heads) this.#logged.set(shopId, number);
    } catch (error) {
      this.#log.warn({ err: error }, 'could not log the heads of the audit log, will retry');
    }
  }
}
