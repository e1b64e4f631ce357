import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import * as fc from 'fast-check';
import {
  type RedisClient,
  RedisRateLimiter,
  createRedisClient,
  takeScript,
  windowKey,
} from '../../src/access/limiter/rolling-redis-limiter.ts';
import { FixedClock } from '../../src/clock.ts';
import { type RedisServer, redisMissing, startRedis } from '../support/redis.ts';
import { runs } from '../support/seed.ts';
import { silentLog } from '../support/world.ts';
import { limiterContract } from './contract.ts';

/** The same script, with the time that the test stores beside the windows. */
const timeKey = 'test:time';
const frozenScript = takeScript.replace(
  "redis.call('TIME')",
  `redis.call('LRANGE', '${timeKey}', 0, 1)`,
);

// Requirements: rest.limits.rolling, rest.limits.per-key.
describe('the limiter in Redis', { skip: redisMissing }, () => {
  let redis: RedisServer;
  let client: RedisClient;
  let limiter: RedisRateLimiter;
  const limiters: RedisRateLimiter[] = [];
  /** The frozen script's time, in microseconds. */
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
  const openLimiter = async (
    options: { script?: string; url?: string; timeoutMilliseconds?: number } = {},
  ) => {
    const opened = new RedisRateLimiter({
      url: redis.url,
      clock: new FixedClock(0),
      log: silentLog,
      // This tests the window, not the timeout; the machine may pause.
      timeoutMilliseconds: 30_000,
      ...options,
    });
    limiters.push(opened);
    await opened.open();
    return opened;
  };

  before(async () => {
    redis = await startRedis();
    client = createRedisClient(redis.url);
    client.on('error', () => {});
    await client.connect();
    await setTime(now);
    limiter = await openLimiter({ script: frozenScript });
  });
  after(async () => {
    const states = limiters.map(({ state }) => state);
    for (const each of limiters) each.close();
    client.destroy();
    await redis.destroy();
    assert.deepEqual(new Set(states), new Set(['shared']), 'all was decided in Redis');
  });

  test('the script’s time can be frozen', () => assert.notEqual(frozenScript, takeScript));

  limiterContract(open);

  test('a clock that goes back locks out no key for longer than a window', async () => {
    const keyId = randomUUID();
    for (let each = 0; each < 3; each += 1) {
      await limiter.take(keyId, 3);
      await open().advance(10_000);
    }
    await setTime(now - 3_600_000_000);
    const full = { admitted: false, limit: 3, remaining: 0 };
    assert.deepEqual(await limiter.take(keyId, 3), { ...full, resetSeconds: 60 });
    await open().advance(59_999.875);
    assert.deepEqual(await limiter.take(keyId, 3), { ...full, resetSeconds: 1 });
    await open().advance(0.125);
    const first = { admitted: true, limit: 3, remaining: 2, resetSeconds: 60 };
    assert.deepEqual(await limiter.take(keyId, 3), first);
  });

  /** Advances time for one key under the real script, by making its entries older. */
  const age = (keyId: string, microseconds: number) =>
    client.sendCommand([
      'EVAL',
      `for index, time in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
        redis.call('LSET', KEYS[1], index - 1, string.format('%.0f', time - ARGV[1]))
      end`,
      '1',
      windowKey(keyId),
      String(microseconds),
    ]);

  const timeOfRedis = async () => {
    const [seconds, microseconds] = await client.sendCommand<[string, string]>(['TIME']);
    return Number(seconds) * 1_000_000 + Number(microseconds);
  };

  test('no 60 seconds of Redis’s clock exceed the limit, and no request is refused too early', async () => {
    const instances = await Promise.all([openLimiter(), openLimiter()]);
    const step = fc.record({
      pause: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 40_000_000 })),
      instance: fc.constantFrom(0, 1),
    });
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 20, maxLength: 80, size: 'max' }),
      async (steps) => {
        const keyId = randomUUID();
        const admitted: number[] = [];
        let passed = 0;
        for (const { pause, instance } of steps) {
          await age(keyId, pause);
          passed += pause;
          const earliest = passed + (await timeOfRedis());
          const decision = await (instances[instance] as RedisRateLimiter).take(keyId, 5);
          if (decision.admitted) {
            const newest = await client.sendCommand<string>(['LINDEX', windowKey(keyId), '-1']);
            admitted.push(passed + Number(newest));
          } else {
            const holding = admitted.filter((time) => time > earliest - 60_000_000);
            assert.equal(holding.length, 5, 'refused with a free slot');
          }
        }
        for (const end of admitted) {
          const within = admitted.filter((time) => time > end - 60_000_000 && time <= end);
          assert.ok(within.length <= 5, `${within.length} within 60 seconds`);
        }
      },
    );
    await fc.assert(property, runs(50));
  });

  test('a window expires, and a refused request does not prolong it', async () => {
    const keyId = randomUUID();
    const own = await openLimiter();
    const timeLeft = () => client.sendCommand<number>(['PTTL', windowKey(keyId)]);
    /** Upper limit of the time to live at `begin`, however much has passed since. */
    const maxTimeLeft = async (begin: number) =>
      (await timeLeft()) + ((await timeOfRedis()) - begin) / 1000;
    const begin = await timeOfRedis();
    await own.take(keyId, 1);
    assert.ok((await timeLeft()) <= 61_000);
    assert.ok((await maxTimeLeft(begin)) > 60_000);
    await client.sendCommand(['PEXPIRE', windowKey(keyId), '30000']);
    assert.equal((await own.take(keyId, 1)).admitted, false);
    assert.ok((await timeLeft()) <= 30_000);
    const again = await timeOfRedis();
    assert.equal((await own.take(keyId, 2)).admitted, true);
    assert.ok((await maxTimeLeft(again)) > 60_000);

    // The remaining windows of the contract tests, and some more.
    await Promise.all(Array.from({ length: 101 }, () => own.take(randomUUID(), 1)));
    const keys = await client.sendCommand<string[]>(['KEYS', windowKey('*')]);
    assert.ok(keys.length > 100);
    for (const key of keys) {
      const left = await client.sendCommand<number>(['PTTL', key]);
      assert.ok(left > 0 || left === -2, `${key}: ${left}`);
    }
  });

  test('the script declares its only key, so that a cluster can route it', async () => {
    const keyId = randomUUID();
    const call = ['EVAL', takeScript, '1', windowKey(keyId), '60'];
    const declared = await client.sendCommand(['COMMAND', 'GETKEYS', ...call]);
    assert.deepEqual(declared, [`retention:limit:{${keyId}}`]);
  });

  test('needs only the Redis permissions listed in docs/operations.md', async () => {
    const rights =
      '~retention:limit:* +evalsha +eval +ping +time +llen +lindex +lpop +lset +rpush +pexpire';
    assert.ok(readFileSync('docs/operations.md', 'utf8').includes(rights));
    const user = ['ACL', 'SETUSER', 'limiter', 'on', '>sesame', ...rights.split(' ')];
    await client.sendCommand(user);
    await client.sendCommand(['SCRIPT', 'FLUSH']);
    const url = redis.url.replace('redis://', 'redis://limiter:sesame@');
    const own = await openLimiter({ url });
    const keyId = randomUUID();
    assert.equal((await own.take(keyId, 2)).remaining, 1);
    // Covers every path of the script: the clock going back, advancing, a lowered limit.
    await age(keyId, -3_600_000_000);
    assert.equal((await own.take(keyId, 2)).remaining, 0);
    assert.equal((await own.take(keyId, 1)).admitted, false);
    await age(keyId, 60_000_000);
    assert.equal((await own.take(keyId, 1)).admitted, true);
    assert.equal(await client.sendCommand(['LLEN', windowKey(keyId)]), 1);
    assert.equal(own.state, 'shared');
  });

  test('does not mistake a busy process for an unresponsive Redis', async () => {
    const own = await openLimiter({ timeoutMilliseconds: 500 });
    const decision = own.take(randomUUID(), 1);
    await new Promise(setImmediate);
    const end = performance.now() + 700;
    while (performance.now() < end);
    assert.equal((await decision).admitted, true);
    assert.equal(own.state, 'shared');
  });

  test('resends the script to a server that has lost it', async () => {
    const own = await openLimiter();
    await client.sendCommand(['SCRIPT', 'FLUSH']);
    const many = await Promise.all(Array.from({ length: 5 }, () => own.take('forgotten', 3)));
    assert.deepEqual(
      many.map(({ admitted }) => admitted),
      [true, true, true, false, false],
    );
    assert.equal(own.state, 'shared');
  });
});
