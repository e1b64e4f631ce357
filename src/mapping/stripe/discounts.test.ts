import assert from 'node:assert/strict';
import { test } from 'node:test';
import { discountsOf } from './discounts.ts';

test('a discount for some months ends on the last day of a month that is shorter', () => {
  const seconds = (text: string) => Date.parse(text) / 1000;
  const coupon = { percent_off: 50, duration: 'repeating', duration_in_months: 1 };
  const discount = { id: 'di_1', start: seconds('2026-01-31T10:00:00Z'), coupon };
  const at = (text: string) =>
    discountsOf({ discounts: [discount] }, { currency: 'USD', at: seconds(text) }).length;
  assert.equal(at('2026-02-28T09:59:59Z'), 1);
  assert.equal(at('2026-02-28T10:00:00Z'), 0);
});
