import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { MemoryRateLimiter } from './memory-rate-limiter.ts';
import type { RateDecision, RateLimiter } from './rate-limiter.ts';
import {
  createRedisClient,
  explainRedisError,
  isFromReplica,
  prepareScript,
  probe,
  type RedisClient,
  type Script,
  takeFromWindow,
  takeScript,
} from './redis-window.ts';

interface RedisRateLimiterOptions {
  /** redis://… or rediss://… */
  readonly url: string;
  /** For the time while Redis is away. */
  readonly clock: Clock;
  readonly log: Log;
  /** How long one request waits for Redis; 100 if not given. */
  readonly patienceMilliseconds?: number | undefined;
  /** Only tests have another, one in which time stands still. */
  readonly script?: string;
}

const startPatienceMilliseconds = 1_000;
const probePauseMilliseconds = 250;

/**
 * The limiter that all instances share, with the windows in Redis. While Redis does not answer in
 * time, each instance limits by itself, and asks now and then whether Redis is back.
 */
export class RedisRateLimiter implements RateLimiter {
  readonly #client: RedisClient;
  readonly #script: Script;
  readonly #local: MemoryRateLimiter;
  readonly #log: Log;
  readonly #patienceMilliseconds: number;
  readonly #decided = Promise.withResolvers<void>();
  #state: 'shared' | 'local' | undefined;

  constructor(options: RedisRateLimiterOptions) {
    this.#client = createRedisClient(options.url);
    this.#script = prepareScript(options.script ?? takeScript);
    this.#local = new MemoryRateLimiter(options.clock);
    this.#log = options.log;
    this.#patienceMilliseconds = options.patienceMilliseconds ?? 100;
    this.#client.on('error', (error) => this.#turn('local', error));
  }

  /** Where requests are weighed at this moment. */
  get state(): 'shared' | 'local' {
    return this.#state ?? 'local';
  }

  /** Connects, and goes on trying where that fails; returns as soon as it is known which it is. */
  async open(): Promise<void> {
    void this.#watch();
    await this.#decided.promise;
  }

  close(): void {
    this.#client.destroy();
  }

  take(holder: string, limit: number): RateDecision | Promise<RateDecision> {
    return this.#state === 'shared'
      ? this.#takeShared(holder, limit)
      : this.#local.take(holder, limit);
  }

  async #takeShared(holder: string, limit: number): Promise<RateDecision> {
    try {
      const answer = takeFromWindow(this.#client, this.#script, holder, limit);
      const decision = await this.#inTime(answer);
      // Noted, so that this instance does not admit it once more when Redis goes away.
      if (decision.admitted) this.#local.take(holder, Number.POSITIVE_INFINITY);
      return decision;
    } catch (error) {
      this.#turn('local', error);
      return this.#local.take(holder, limit);
    }
  }

  async #watch(): Promise<void> {
    const signal = AbortSignal.timeout(startPatienceMilliseconds);
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
      // It was closed before it had connected; whatever else goes wrong, it tries again.
    });
  }

  async #probe(): Promise<void> {
    const answer = takeFromWindow(this.#client, this.#script, probe.holder, probe.limit);
    await this.#inTime(answer).then(
      () => this.#turn('shared'),
      (error) => {
        this.#turn('local', error);
        if (isFromReplica(error)) this.#leave();
      },
    );
    // None follows one without an answer: the client gives up a connection only in silence.
    await answer.catch(() => {});
  }

  /** After a failover the address may lead to another server; this connection never will. */
  #leave(): void {
    if (!this.#client.isOpen) return;
    this.#client.destroy();
    this.#connect();
  }

  #inTime<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const refuse = () =>
        reject(new Error(`no answer within ${this.#patienceMilliseconds} milliseconds`));
      // From when it is sent until what has arrived is read: that this process itself was busy in
      // between is not the fault of Redis.
      let timer: NodeJS.Timeout | undefined;
      const sent = setImmediate(() => {
        timer = setTimeout(() => setImmediate(refuse), this.#patienceMilliseconds);
      });
      const stop = () => {
        clearImmediate(sent);
        clearTimeout(timer);
      };
      answer.then(resolve, reject).finally(stop);
    });
  }

  #turn(state: 'shared' | 'local', error?: unknown): void {
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
