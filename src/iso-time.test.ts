import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assert as check, integer, property } from 'fast-check';
import { isoTime } from './iso-time.ts';

const end = Date.UTC(10_000, 0, 1) - 1;

test('an instant is written as toISOString writes it', () => {
  for (const time of [0, 1, 951_782_400_000, 951_868_799_999, 4_107_542_400_000, end]) {
    assert.equal(isoTime(time), new Date(time).toISOString());
  }
  assert.equal(isoTime(1_795_176_000_123), '2026-11-20T12:00:00.123Z');
  check(
    property(integer({ min: 0, max: end }), (time) => {
      assert.equal(isoTime(time), new Date(time).toISOString());
    }),
    { numRuns: 5000 },
  );
});

test('every day of four centuries has its date', () => {
  for (let day = 0; day < 146_097; day += 1) {
    const time = day * 86_400_000;
    assert.equal(isoTime(time), new Date(time).toISOString());
  }
});
