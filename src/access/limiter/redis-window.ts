import { type CommandParser, createClient, defineScript } from '@redis/client';
import { type RateDecision, windowSeconds } from './rate-limiter.ts';

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
export function isFromReplica(error: unknown): boolean {
  return error instanceof Error && error.message.includes('READONLY');
}

/** Why a Redis command failed, without secrets. */
export function explainRedisError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : error.name;
  // For an unknown command Redis repeats the arguments, which may include the password.
  return error.message.replace(/,? with args beginning with.*$/s, '') || code;
}
