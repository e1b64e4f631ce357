import { createHash } from 'node:crypto';
import { createClient } from '@redis/client';
import { type RateDecision, windowSeconds } from './rate-limiter.ts';

const windowMicroseconds = windowSeconds * 1_000_000;

/**
 * Weighs one request against one key's window: a list of the times of its admitted requests, oldest
 * first, in microseconds of Redis' own clock. Answers whether it is admitted (1 or 0), how many are
 * in the window now, and in how many microseconds the next place comes free.
 */
export const takeScript = `
local key, limit = KEYS[1], tonumber(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
-- Written out: as a number it would become 1.7e+15.
local stamp = string.format('%.0f', now)

local oldest = tonumber(redis.call('LINDEX', key, 0))
while oldest and oldest <= now - ${windowMicroseconds} do
  redis.call('LPOP', key)
  oldest = tonumber(redis.call('LINDEX', key, 0))
end
local count = oldest and redis.call('LLEN', key) or 0

-- The clock was put back, as by a failover. Else the key would be locked out until it catches up.
if oldest and oldest > now then
  for index = 0, count - 1 do redis.call('LSET', key, index, stamp) end
  oldest = now
end

local admitted = count < limit
if admitted then
  count = redis.call('RPUSH', key, stamp)
  -- A second longer than the window, so that no rounding ends it early.
  redis.call('PEXPIRE', key, ${windowSeconds * 1000 + 1000})
  oldest = oldest or now
end
-- With a limit that was lowered, more than one place may have to come free first.
if count > limit then oldest = tonumber(redis.call('LINDEX', key, count - limit)) end
return { admitted and 1 or 0, count, oldest + ${windowMicroseconds} - now }
`;

/** What is asked for nobody, to see whether Redis answers: a limit that is not reached. */
export const probe = { holder: 'probe', limit: 1_000_000 };

export interface Script {
  readonly text: string;
  readonly sha1: string;
}

export function prepareScript(text: string): Script {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}

export type RedisClient = ReturnType<typeof createRedisClient>;

/** Milliseconds, all of them. */
const connection = {
  connectTimeout: 2_000,
  /** A connection on which nothing is heard for so long is given up; a ping goes more often. */
  socketTimeout: 3_000,
  pingInterval: 1_000,
  longestPause: 500,
};

/**
 * A client that is not connected yet. It connects again by itself, for ever; meanwhile commands are
 * refused at once.
 * @param url redis://… or rediss://…
 */
export function createRedisClient(url: string) {
  return createClient({
    url,
    // Its greeting is AUTH alone, which is never repeated in an error as HELLO may be.
    RESP: 2,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    pingInterval: connection.pingInterval,
    // Whoever asks has a limit of their own; the library's ends with the sending.
    commandOptions: { timeout: 0 },
    socket: {
      connectTimeout: connection.connectTimeout,
      socketTimeout: connection.socketTimeout,
      reconnectStrategy: (retries) => Math.min(25 * 2 ** retries, connection.longestPause),
    },
  });
}

/** Where a key's window is: in one slot of its own, so that a cluster can spread them. */
export function windowKey(holder: string): string {
  return `retention:limit:{${holder}}`;
}

/**
 * Weighs one request in Redis, in one round trip; in two where Redis does not know the script yet.
 * @throws what the connection or Redis itself has to say
 */
export async function takeFromWindow(
  client: RedisClient,
  { text, sha1 }: Script,
  holder: string,
  limit: number,
): Promise<RateDecision> {
  const rest = ['1', windowKey(holder), String(limit)];
  const [admitted, count, freeInMicroseconds] = await client
    .sendCommand<[number, number, number]>(['EVALSHA', sha1, ...rest])
    .catch((error: Error) => {
      if (!error.message.startsWith('NOSCRIPT')) throw error;
      return client.sendCommand<[number, number, number]>(['EVAL', text, ...rest]);
    });
  return {
    admitted: admitted === 1,
    limit,
    remaining: Math.max(0, limit - count),
    resetSeconds: Math.max(1, Math.ceil(freeInMicroseconds / 1_000_000)),
  };
}

/** Whether a server that used to be the primary says that it is no longer. */
export function isFromReplica(error: unknown): boolean {
  return error instanceof Error && error.message.includes('READONLY');
}

/** Why Redis could not be asked, in words that may be shown. */
export function explainRedisError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : error.name;
  // Redis repeats the arguments of a command that it does not know, and one may be the password.
  return error.message.replace(/,? with args beginning with.*$/s, '') || code;
}
