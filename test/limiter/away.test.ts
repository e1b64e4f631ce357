import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, after, before, describe, test } from 'node:test';
import { RedisRateLimiter } from '../../src/access/limiter/rolling-redis-limiter.ts';
import { FixedClock } from '../../src/clock.ts';
import { type RedisServer, redisMissing, startRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { silentLog } from '../support/world.ts';

// Requirements: rest.limits.rolling.
describe('the limiter while Redis is away', { skip: redisMissing }, () => {
  let redis: RedisServer;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.destroy());

  /** @param timeoutMilliseconds long enough that a busy machine does not make it miss an answer */
  async function openLimiter(t: TestContext, timeoutMilliseconds: number) {
    const clock = new FixedClock(0);
    const options = { url: redis.url, clock, log: silentLog, timeoutMilliseconds };
    const limiter = new RedisRateLimiter(options);
    t.after(() => limiter.close());
    await limiter.open();
    await until(() => limiter.state === 'shared');
    return { clock, limiter };
  }

  test('goes on from the requests that it admitted before, not from those that it refused', async (t) => {
    const { clock, limiter } = await openLimiter(t, 30_000);
    const holder = randomUUID();
    for (const isAdmitted of [true, true, true, false, false]) {
      assert.equal((await limiter.take(holder, 3)).admitted, isAdmitted);
    }
    await redis.kill();
    t.after(() => redis.start());
    await until(() => limiter.state === 'local');
    const full = { admitted: false, limit: 3, remaining: 0, resetSeconds: 60 };
    assert.deepEqual(await limiter.take(holder, 3), full);
    assert.deepEqual(await limiter.take(holder, 5), {
      admitted: true,
      limit: 5,
      remaining: 1,
      resetSeconds: 60,
    });
    clock.advance(59_999);
    assert.equal((await limiter.take(holder, 4)).admitted, false);
    clock.advance(1);
    assert.deepEqual(await limiter.take(holder, 5), {
      admitted: true,
      limit: 5,
      remaining: 4,
      resetSeconds: 60,
    });
  });

  test('refuses beyond the limit also the request that finds out', async (t) => {
    const { limiter } = await openLimiter(t, 5_000);
    t.after(() => redis.thaw());
    const holder = randomUUID();
    for (let taken = 0; taken < 2; taken += 1) await limiter.take(holder, 2);
    redis.freeze();
    assert.equal(limiter.state, 'shared');
    assert.deepEqual(await limiter.take(holder, 2), {
      admitted: false,
      limit: 2,
      remaining: 0,
      resetSeconds: 60,
    });
    assert.equal(limiter.state, 'local');
  });
});
