import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { RateDecision, RateLimiter } from '../../src/access/limiter/rate-limiter.ts';
import { runs } from '../support/seed.ts';

interface LimiterUnderTest {
  readonly limiter: RateLimiter;
  /** Advances the limiter's time; must support eighths of a millisecond. */
  advance(milliseconds: number): void | Promise<void>;
}

/**
 * The tests that every limiter must pass.
 * @param open returns a limiter and a way to advance its time; it may be shared, since keys are not
 */
export function limiterContract(open: () => LimiterUnderTest): void {
  const begin = (keyId: string = randomUUID()) => {
    const { limiter, advance } = open();
    return {
      advance,
      take: (limit: number) => limiter.take(keyId, limit),
      async takeMany(count: number, limit: number) {
        let admitted = 0;
        for (let each = 0; each < count; each += 1) {
          if ((await limiter.take(keyId, limit)).admitted) admitted += 1;
        }
        return admitted;
      },
    };
  };

  test('admits the limit within a minute, and refuses one more', async () => {
    const { take, takeMany, advance } = begin();
    assert.equal(await takeMany(60, 60), 60);
    assert.equal((await take(60)).admitted, false);
    await advance(59_999.875);
    assert.equal((await take(60)).admitted, false);
  });

  test('frees a slot exactly a minute after its request', async () => {
    const { take, advance } = begin();
    await take(1);
    await advance(60_000);
    assert.equal((await take(1)).admitted, true);
    await advance(59_999.875);
    assert.equal((await take(1)).admitted, false);
    await advance(0.125);
    assert.equal((await take(1)).admitted, true);
  });

  test('frees slots one by one, as they were taken', async () => {
    const { takeMany, advance } = begin();
    assert.equal(await takeMany(30, 60), 30);
    await advance(45_000);
    assert.equal(await takeMany(31, 60), 30);
    await advance(15_000);
    assert.equal(await takeMany(31, 60), 30);
    await advance(44_999.875);
    assert.equal(await takeMany(1, 60), 0);
    await advance(0.125);
    assert.equal(await takeMany(31, 60), 30);
  });

  test('refused requests do not count', async () => {
    const { takeMany, advance } = begin();
    await takeMany(60, 60);
    for (let second = 1; second < 60; second += 1) {
      await advance(1000);
      assert.equal(await takeMany(3, 60), 0);
    }
    await advance(1000);
    assert.equal(await takeMany(61, 60), 60);
  });

  test('returns the remaining slots, and when the next is free', async () => {
    const { take, advance } = begin();
    const decided: RateDecision[] = [];
    for (const wait of [0, 10_000, 0.125, 999.875, 48_999.875, 0.125]) {
      await advance(wait);
      decided.push(await take(2));
    }
    assert.deepEqual(decided, [
      { admitted: true, limit: 2, remaining: 1, resetSeconds: 60 },
      { admitted: true, limit: 2, remaining: 0, resetSeconds: 50 },
      { admitted: false, limit: 2, remaining: 0, resetSeconds: 50 },
      { admitted: false, limit: 2, remaining: 0, resetSeconds: 49 },
      { admitted: false, limit: 2, remaining: 0, resetSeconds: 1 },
      { admitted: true, limit: 2, remaining: 0, resetSeconds: 10 },
    ]);
  });

  test('keys are independent', async () => {
    const { limiter } = open();
    const [one, other] = [randomUUID(), randomUUID()];
    await limiter.take(one, 1);
    assert.equal((await limiter.take(one, 1)).admitted, false);
    const first = { admitted: true, limit: 1, remaining: 0, resetSeconds: 60 };
    assert.deepEqual(await limiter.take(other, 1), first);
  });

  test('applies a raised or lowered limit from the next request', async () => {
    const { take, takeMany, advance } = begin();
    assert.equal(await takeMany(61, 60), 60);
    await advance(10_000);
    assert.equal(await takeMany(241, 300), 240);
    const full = { admitted: false, limit: 60, remaining: 0 };
    assert.deepEqual(await take(60), { ...full, resetSeconds: 60 });
    await advance(50_000);
    assert.deepEqual(await take(60), { ...full, resetSeconds: 10 });
    assert.equal((await take(300)).remaining, 59);
    await advance(10_000);
    assert.deepEqual(await take(60), {
      admitted: true,
      limit: 60,
      remaining: 58,
      resetSeconds: 50,
    });
  });

  test('admits the limit of concurrent requests', async () => {
    const { take } = begin();
    const decisions = await Promise.all(Array.from({ length: 100 }, () => take(60)));
    assert.equal(decisions.filter(({ admitted }) => admitted).length, 60);
  });

  test('decides any sequence of requests like a list of all admitted ones', async () => {
    const step = fc.record({
      wait: fc.oneof(
        fc.constantFrom(0, 0, 0.125, 999.875, 1000, 20_000, 59_999.875, 60_000),
        fc.integer({ min: 0, max: 8 * 30_000 }).map((eighths) => eighths / 8),
      ),
      key: fc.constantFrom('a', 'a', 'a', 'b'),
      limit: fc.constantFrom(1, 2, 3, 5, 9, 60),
    });
    const property = fc.asyncProperty(
      fc.array(step, { maxLength: 120, size: 'max' }),
      async (steps) => {
        const { limiter, advance } = open();
        const run = randomUUID();
        const model = new ListedLimiter();
        for (const { wait, key, limit } of steps) {
          await advance(wait);
          model.now += wait;
          assert.deepEqual(await limiter.take(run + key, limit), model.take(key, limit));
        }
      },
    );
    await fc.assert(property, runs(100));
  });
}

/** The definition itself: keeps all admitted requests and counts them. */
class ListedLimiter {
  now = 0;
  readonly #admitted: { key: string; at: number }[] = [];

  take(key: string, limit: number): RateDecision {
    const countAt = (time: number) =>
      this.#admitted.filter((each) => each.key === key && each.at > time - 60_000).length;

    const admitted = countAt(this.now) < limit;
    if (admitted) this.#admitted.push({ key, at: this.now });
    const count = countAt(this.now);
    let resetSeconds = 1;
    while (countAt(this.now + resetSeconds * 1000) >= Math.min(count, limit)) resetSeconds += 1;
    return { admitted, limit, remaining: Math.max(0, limit - count), resetSeconds };
  }
}
