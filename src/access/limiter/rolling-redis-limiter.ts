import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CommandParser, createClient, defineScript } from '@redis/client';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log/log.ts';
import { MemoryRateLimiter } from './rolling-memory-limiter.ts';
import { type RateDecision, type RateLimiter, windowSeconds } from './rate-limiter.ts';

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

const windowMicroseconds = windowSeconds * 1_000_000;

/**
 * Checks one request against one key's window: a list of the times of its admitted requests, oldest first,
 * in microseconds of Redis's own clock. Returns whether the request is admitted (1 or 0), the number of
 * requests now in the window, and the microseconds until the next slot is free.
 */
export const takeScript = `
local key, limit = KEYS[1], tonumber(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
-- Formatted explicitly: as a number it would become 1.7e+15.
local stamp = string.format('%.0f', now)

local oldest = tonumber(redis.call('LINDEX', key, 0))
while oldest and oldest <= now - ${windowMicroseconds} do
  redis.call('LPOP', key)
  oldest = tonumber(redis.call('LINDEX', key, 0))
end
local count = oldest and redis.call('LLEN', key) or 0

-- The clock went back, for example in a failover. Otherwise the key would be locked out until it catches up.
if oldest and oldest > now then
  for index = 0, count - 1 do redis.call('LSET', key, index, stamp) end
  oldest = now
end

local admitted = count < limit
if admitted then
  count = redis.call('RPUSH', key, stamp)
  -- A second longer than the window, so that rounding never ends it early.
  redis.call('PEXPIRE', key, ${windowSeconds * 1000 + 1000})
  oldest = oldest or now
end
-- After the limit was lowered, several slots may have to become free first.
if count > limit then oldest = tonumber(redis.call('LINDEX', key, count - limit)) end
return { admitted and 1 or 0, count, oldest + ${windowMicroseconds} - now }
`;

/** A dummy request that tests whether Redis works; its limit is never reached. */
export const probe = { holder: 'probe', limit: 1_000_000 };

export type RedisClient = ReturnType<typeof createRedisClient>;

/** All in milliseconds. */
const connection = {
  connectTimeout: 2_000,
  /** A connection without any input for this long is closed; pings are more frequent. */
  socketTimeout: 3_000,
  pingInterval: 1_000,
  maxRetryPause: 500,
};

/**
 * Creates an unconnected client. It reconnects by itself indefinitely; while it is disconnected, commands
 * fail at once.
 * @param url redis://… or rediss://…
 * @param script overridden only by tests, for example to control time
 */
export function createRedisClient(url: string, script = takeScript) {
  return createClient({
    url,
    scripts: {
      take: defineScript({
        SCRIPT: script,
        NUMBER_OF_KEYS: 1,
        parseCommand(parser: CommandParser, holder: string, limit: number) {
          parser.pushKey(windowKey(holder));
          parser.push(String(limit));
        },
        transformReply: ([admitted, count, freeInMicroseconds]: [number, number, number]) => ({
          isAdmitted: admitted === 1,
          count,
          freeInMicroseconds,
        }),
      }),
    },
    // RESP 2 authenticates with AUTH, which errors never repeat; those of HELLO may contain its arguments.
    RESP: 2,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    pingInterval: connection.pingInterval,
    // Callers have their own time limits; the library's ends once a command is sent.
    commandOptions: { timeout: 0 },
    socket: {
      connectTimeout: connection.connectTimeout,
      socketTimeout: connection.socketTimeout,
      reconnectStrategy: (retries) => Math.min(25 * 2 ** retries, connection.maxRetryPause),
    },
  });
}

/** The Redis key of a window. Its hash tag lets a cluster distribute windows over slots. */
export function windowKey(holder: string): string {
  return `retention:limit:{${holder}}`;
}

/**
 * Checks one request in Redis, in one round trip, or two if Redis does not have the script yet.
 * @throws errors of the connection and of Redis
 */
export async function takeFromWindow(
  client: RedisClient,
  holder: string,
  limit: number,
): Promise<RateDecision> {
  const { isAdmitted, count, freeInMicroseconds } = await client.take(holder, limit);
  return {
    admitted: isAdmitted,
    limit,
    remaining: Math.max(0, limit - count),
    resetSeconds: Math.max(1, Math.ceil(freeInMicroseconds / 1_000_000)),
  };
}

/** Whether a former primary reports that it is now a replica. */
function isFromReplica(error: unknown): boolean {
  return error instanceof Error && error.message.includes('READONLY');
}

/** Why a Redis command failed, without secrets. */
export function explainRedisError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : error.name;
  // For an unknown command Redis repeats the arguments, which may include the password.
  return error.message.replace(/,? with args beginning with.*$/s, '') || code;
}
