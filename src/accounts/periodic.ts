import type { Log } from '../log/log.ts';

/** Does something at start and again after each interval; a failure is logged, and made up for at the next. */
export class Periodic {
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void>;

  /** @param failure what the log says of a failure */
  constructor(milliseconds: number, work: () => Promise<void>, log: Log, failure: string) {
    const run = () =>
      work().catch((error: unknown) => log.warn({ err: error }, `${failure}, will retry`));
    this.#running = run();
    this.#timer = setInterval(() => (this.#running = run()), milliseconds).unref();
  }

  /** Resolves once the database is no longer in use. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }
}
