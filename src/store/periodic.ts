import type { Log } from '../log/log.ts';

interface Times {
  readonly everyMilliseconds: number;
  /** The first time is a random one within this long, so that several instances seldom work at once; by default, now. */
  readonly firstWithinMilliseconds?: number;
}

/** Does something again and again; a failure is logged, and made up for at the next time. */
export class Periodic {
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running = Promise.resolve();

  /** @param work may stop at its signal, by throwing its reason @param failure what the log says of a failure */
  constructor(
    { everyMilliseconds, firstWithinMilliseconds }: Times,
    work: (signal: AbortSignal) => Promise<void>,
    log: Log,
    failure: string,
  ) {
    const { signal } = this.#stopping;
    const schedule = (milliseconds: number) => {
      this.#timer = setTimeout(run, milliseconds).unref();
    };
    const run = () => {
      schedule(everyMilliseconds);
      this.#running = work(signal).catch((error: unknown) => {
        if (error !== signal.reason) log.warn({ err: error }, `${failure}, will retry`);
      });
    };
    if (firstWithinMilliseconds === undefined) run();
    else schedule(Math.random() * firstWithinMilliseconds);
  }

  /** Resolves once the database is no longer in use. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#stopping.abort();
    await this.#running;
  }
}
