import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MemoryRateLimiter } from '../../src/access/limiter/rolling-memory-limiter.ts';
import { FixedClock } from '../../src/clock.ts';
import { limiterContract } from './contract.ts';

function open() {
  const clock = new FixedClock(0);
  const advance = (milliseconds: number) => clock.advance(milliseconds);
  return { limiter: new MemoryRateLimiter(clock), advance };
}

// Requirements: rest.limits.rolling, rest.limits.per-key.
describe('the limiter inside the process', () => {
  limiterContract(open);

  test('forgets a key one to two minutes after its last request', () => {
    const { limiter, advance } = open();
    for (let key = 0; key < 200_000; key += 1) limiter.take(`early ${key}`, 60);
    advance(30_000);
    for (let key = 0; key < 1000; key += 1) limiter.take(`late ${key}`, 60);
    assert.equal(limiter.size, 201_000);

    advance(30_000);
    assert.equal(limiter.take('early 0', 60).remaining, 59);
    assert.equal(limiter.take('late 0', 60).remaining, 58);
    assert.equal(limiter.size, 201_000);
    advance(59_999.875);
    limiter.take('late 0', 60);
    assert.equal(limiter.size, 201_000);
    advance(0.125);
    limiter.take('late 0', 60);
    // The two keys that were used again.
    assert.equal(limiter.size, 2);
    advance(60_000);
    limiter.take('another', 60);
    assert.equal(limiter.size, 2);
  });

  test('never says that a slot takes longer than the window to become free', () => {
    const { limiter, advance } = open();
    // A process that has run for a while: adding a minute to such a time rounds it, also up.
    advance(1_000_000.1);
    for (let key = 0; key < 1000; key += 1) {
      advance(0.7);
      assert.equal(limiter.take(`key ${key}`, 60).resetSeconds, 60);
    }
  });

  test('forgets a key that is only refused like an unused one', () => {
    const { limiter, advance } = open();
    limiter.take('eager', 1);
    for (let second = 1; second < 60; second += 1) {
      advance(1000);
      assert.equal(limiter.take('eager', 1).admitted, false);
    }
    advance(1000);
    limiter.take('another', 1);
    advance(60_000);
    limiter.take('another', 1);
    assert.equal(limiter.size, 1);
  });
});
