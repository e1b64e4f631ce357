import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** How /healthz answered since the last question. */
export interface Health {
  /**
   * The longest time until an answer, in milliseconds, as far as the service's thread was on a core meanwhile and the asking
   * one did not wait for one.
   */
  readonly longest: number;
  readonly failures: readonly string[];
}

/** Asks a service's /healthz all the time. */
export class HealthProbe implements AsyncDisposable {
  readonly #worker: Worker;

  constructor(baseUrl: string, pid: number) {
    const workerData = { baseUrl, pid };
    this.#worker = new Worker(new URL('./health-thread.ts', import.meta.url), { workerData });
    this.#worker.on('error', (error) => {
      throw error;
    });
  }

  async take(): Promise<Health> {
    this.#ask('take');
    const [health] = (await once(this.#worker, 'message')) as [Health];
    return health;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ask('end');
    await once(this.#worker, 'exit');
  }

  #ask(question: 'take' | 'end'): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    this.#worker.postMessage(question);
  }
}
