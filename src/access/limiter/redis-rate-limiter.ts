import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log/log.ts';
import { MemoryRateLimiter } from './memory-rate-limiter.ts';
import type { RateDecision, RateLimiter } from './rate-limiter.ts';
import {
  createRedisClient,
  explainRedisError,
  isFromReplica,
  probe,
  type RedisClient,
  takeFromWindow,
} from './redis-window.ts';

interface RedisRateLimiterOptions {
  /** redis://… or rediss://… */
  readonly url: string;
  /** For the fallback limiter while Redis is unavailable. */
  readonly clock: Clock;
  readonly log: Log;
  /** How long a request waits for Redis; 100 by default. */
  readonly timeoutMilliseconds?: number | undefined;
  /** Overridden only by tests, for example to control time. */
  readonly script?: string;
}

const startTimeoutMilliseconds = 1_000;
const probePauseMilliseconds = 250;

/**
 * A limiter that all instances share, with its windows in Redis. While Redis does not answer in time, each
 * instance enforces limits on its own and regularly checks whether Redis is back.
 */
export class RedisRateLimiter implements RateLimiter {
  readonly #client: RedisClient;
  readonly #local: MemoryRateLimiter;
  readonly #log: Log;
  readonly #timeoutMilliseconds: number;
  readonly #decided = Promise.withResolvers<void>();
  #state: 'shared' | 'local' | undefined;

  constructor(options: RedisRateLimiterOptions) {
    this.#client = createRedisClient(options.url, options.script);
    this.#local = new MemoryRateLimiter(options.clock);
    this.#log = options.log;
    this.#timeoutMilliseconds = options.timeoutMilliseconds ?? 100;
    this.#client.on('error', (error) => this.#setState('local', error));
  }

  /** Which limiter decides at the moment. */
  get state(): 'shared' | 'local' {
    return this.#state ?? 'local';
  }

  get size(): number {
    return this.#local.size;
  }

  /** Connects, and keeps retrying. Resolves once the first state is known. */
  async open(): Promise<void> {
    void this.#watch();
    await this.#decided.promise;
  }

  close(): void {
    this.#client.destroy();
    // An attempt to reconnect that was under way goes on, and would keep the process alive.
    this.#client.once('ready', () => this.#client.destroy());
  }

  take(holder: string, limit: number): RateDecision | Promise<RateDecision> {
    return this.#state === 'shared'
      ? this.#takeShared(holder, limit)
      : this.#local.take(holder, limit);
  }

  async #takeShared(holder: string, limit: number): Promise<RateDecision> {
    try {
      const answer = takeFromWindow(this.#client, holder, limit);
      const decision = await this.#inTime(answer);
      // Also count it locally, so that this instance does not admit it again if Redis becomes unavailable.
      if (decision.admitted) this.#local.take(holder, Number.POSITIVE_INFINITY);
      return decision;
    } catch (error) {
      this.#setState('local', error);
      return this.#local.take(holder, limit);
    }
  }

  async #watch(): Promise<void> {
    const signal = AbortSignal.timeout(startTimeoutMilliseconds);
    const connected = once(this.#client, 'ready', { signal }).catch(() => {});
    this.#connect();
    await connected;
    while (this.#client.isOpen) {
      if (this.#state !== 'shared') await this.#probe();
      await sleep(probePauseMilliseconds, undefined, { ref: false });
    }
  }

  #connect(): void {
    this.#client.connect().catch(() => {
      // It was closed before it connected; after any other error the client reconnects by itself.
    });
  }

  async #probe(): Promise<void> {
    const answer = takeFromWindow(this.#client, probe.holder, probe.limit);
    await this.#inTime(answer).then(
      () => this.#setState('shared'),
      (error) => {
        this.#setState('local', error);
        if (isFromReplica(error)) this.#reconnect();
      },
    );
    // Wait for the answer before the next probe: the client drops a connection only if it is silent.
    await answer.catch(() => {});
  }

  /** After a failover the address may point to another server, but this connection never will. */
  #reconnect(): void {
    if (!this.#client.isOpen) return;
    this.#client.destroy();
    this.#connect();
  }

  #inTime<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const refuse = () =>
        reject(new Error(`no answer within ${this.#timeoutMilliseconds} milliseconds`));
      // Start when the command is sent, and process input before timing out, so that delays of this
      // process do not count against Redis.
      let timer: NodeJS.Timeout | undefined;
      const sent = setImmediate(() => {
        timer = setTimeout(() => setImmediate(refuse), this.#timeoutMilliseconds);
      });
      const stop = () => {
        clearImmediate(sent);
        clearTimeout(timer);
      };
      answer.then(resolve, reject).finally(stop);
    });
  }

  #setState(state: 'shared' | 'local', error?: unknown): void {
    if (state === this.#state || !this.#client.isOpen) return;
    this.#state = state;
    if (state === 'shared') this.#log.info('Redis answers: limits are shared with other instances');
    else {
      const reason = explainRedisError(error);
      this.#log.warn({ reason }, 'Redis does not answer: this instance limits by itself');
    }
    this.#decided.resolve();
  }
}
