import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type PaidPeriod,
  type StoredPeriod,
  latestPeriods,
  mergePeriods,
  paidThroughOf,
} from './paid-periods.ts';

const period = (payment: number, through: number | null, isStated?: true): PaidPeriod => ({
  payment,
  through,
  ...(isStated && { isStated }),
});

/** The end of the last paid period after these reports, the first of them about a new subscription. */
function after(...reports: readonly PaidPeriod[][]): number | null {
  const [first = [], ...others] = reports;
  let periods: readonly PaidPeriod[] = first;
  for (const reported of others) {
    const stored = periods.map(({ payment, through }): StoredPeriod => [payment, through]);
    periods = mergePeriods(reported, stored, paidThroughOf(periods));
  }
  return paidThroughOf(periods);
}

test('keeps a period that is no longer reported', () => {
  assert.equal(after([period(0, 100)], []), 100);
  assert.equal(after([period(0, 100), period(7, 50)], [period(7, 50)]), 100);
  assert.equal(after([period(7, 100)], [period(7, 80)]), 100);
  assert.equal(after([], []), null);
});

test('goes back to what was paid for before when a payment is taken back', () => {
  assert.equal(after([period(0, 50), period(7, 100)], [period(7, null)]), 50);
  assert.equal(after([period(7, 100)], [period(7, null)]), null);
  assert.equal(after([period(0, 50), period(7, 100)], [period(0, null), period(7, 100)]), 100);
});

test('does not bring back what was taken back', () => {
  assert.equal(after([period(7, null)], [period(7, 100)]), null);
  assert.equal(after([period(0, 50), period(7, 100)], [period(7, null)], [period(7, 100)]), 50);
  assert.equal(after([period(7, null)], [period(7, 100, true)]), null);
});

test('shortens a period only if the platform states its end', () => {
  assert.equal(after([period(7, 100, true)], [period(7, 80, true)]), 80);
  assert.equal(after([period(7, 100, true)], [period(7, 80)]), 100);
});

test('lengthens a period only if the platform states its end', () => {
  assert.equal(after([period(7, 80)], [period(7, 100)]), 80);
  assert.equal(after([period(7, 80)], [period(7, 100, true)]), 100);
  const computed = (through: number) => ({ ...period(7, through, true), isComputed: true });
  assert.equal(after([period(7, 80)], [computed(100)]), 80);
  assert.equal(after([period(7, 100, true)], [computed(80)]), 80);
});

test('takes an end that was stored without its payment as that of the last payment', () => {
  const merge = (reported: PaidPeriod[], stored: StoredPeriod[] = []) =>
    paidThroughOf(mergePeriods(reported, stored, 100));
  assert.equal(merge([]), 100);
  assert.equal(merge([period(7, 80)]), 100);
  assert.equal(merge([period(7, null), period(6, 50)]), 50);
  assert.equal(merge([period(7, 80)], [[7, 60]]), 100);
  assert.equal(merge([period(7, 80)], [[7, null]]), null);
});

test('forgets what can hardly matter any more', () => {
  const many = Array.from({ length: 50 }, (_, index) => period(index, index % 2 ? index : null));
  const kept = latestPeriods(many);
  assert.deepEqual(
    kept.slice(0, 5).map(({ payment, through }) => [payment, through]),
    [
      [49, 49],
      [47, 47],
      [45, 45],
      [48, null],
      [46, null],
    ],
  );
  assert.equal(kept.length, 23);
});
