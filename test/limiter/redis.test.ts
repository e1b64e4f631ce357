import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import * as fc from 'fast-check';
import { RedisRateLimiter } from '../../src/access/redis-rate-limiter.ts';
import {
  createRedisClient,
  prepareScript,
  type RedisClient,
  takeScript,
  windowKey,
} from '../../src/access/redis-window.ts';
import { FixedClock } from '../../src/clock.ts';
import { type RedisServer, redisMissing, startRedis } from '../support/redis.ts';
import { silentLog } from '../support/world.ts';
import { limiterContract } from './contract.ts';

/** The same script, but its time is what the test has put beside the windows. */
const timeKey = 'test:time';
const frozenScript = takeScript.replace(
  "redis.call('TIME')",
  `redis.call('LRANGE', '${timeKey}', 0, 1)`,
);

describe(
  '[rest.limits.rolling] [rest.limits.per-key] the limiter in Redis',
  { skip: redisMissing },
  () => {
    let redis: RedisServer;
    let client: RedisClient;
    let limiter: RedisRateLimiter;
    /** Of the frozen script, in microseconds. */
    let now = Date.parse('2026-11-20T12:00:00.000Z') * 1000;

    const setTime = async (microseconds: number) => {
      now = microseconds;
      const parts = [Math.floor(now / 1_000_000), now % 1_000_000].map(String);
      await client.sendCommand([
        'EVAL',
        "redis.call('DEL', KEYS[1]) redis.call('RPUSH', KEYS[1], ARGV[1], ARGV[2])",
        '1',
        timeKey,
        ...parts,
      ]);
    };
    const open = () => ({
      limiter,
      advance: async (milliseconds: number) => {
        if (milliseconds > 0) await setTime(now + milliseconds * 1000);
      },
    });
    const openLimiter = async (script?: string) => {
      const opened = new RedisRateLimiter({
        url: redis.url,
        clock: new FixedClock(0),
        log: silentLog,
        // What is tested here is the window; the machine may pause.
        patienceMilliseconds: 30_000,
        ...(script !== undefined && { script }),
      });
      await opened.open();
      return opened;
    };

    before(async () => {
      redis = await startRedis();
      client = createRedisClient(redis.url);
      client.on('error', () => {});
      await client.connect();
      await setTime(now);
      limiter = await openLimiter(frozenScript);
    });
    after(async () => {
      assert.equal(limiter.state, 'shared', 'all was decided in Redis');
      limiter.close();
      client.destroy();
      await redis.destroy();
    });

    test('the time of the script can be held', () => assert.notEqual(frozenScript, takeScript));

    limiterContract(open);
  },
);
