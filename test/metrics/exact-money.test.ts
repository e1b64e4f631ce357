import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MetricsRow, rowOf } from '../../src/metrics/facts.ts';
import { toSummary } from '../../src/metrics/figures.ts';

const summaryOf = (row: Partial<MetricsRow>, currency = 'USD') =>
  toSummary({ ...rowOf([], true), ...row }, currency, 0);

test('revenue is the exact difference of payments and refunds, rounded once', () => {
  for (const [currency, paid, refunded, expected] of [
    // As floating-point numbers, 0.19999999999999998.
    ['USD', '0.3', '0.1', 0.2],
    ['KWD', '0.3', '0.1', 0.2],
    ['USD', '0.1', '0.3', -0.2],
    ['USD', '0.3', '0.3', 0],
    // As a floating-point number, 1.00499999999999989, which is rounded down.
    ['USD', '1.005', '0', 1.01],
    ['USD', '1.115', '0.01', 1.11],
    ['USD', '0', '1.005', -1.01],
    ['JPY', '0.3', '0.8', -1],
    // Floating-point numbers of this size have no cents.
    ['USD', '9007199254740993.01', '9007199254740992.99', 0.02],
  ] as const) {
    const { revenue30d } = summaryOf({ paid, refunded }, currency);
    assert.equal(revenue30d, expected, `${currency} ${paid} - ${refunded}`);
  }
});

test('recurring revenue, averages and renewals are exact, too', () => {
  const { mrr, avgSubscriptionValue, upcomingRenewalsValue7d } = summaryOf({
    activeValue: [
      { unit: 'month', count: 1, sum: '3.005' },
      { unit: 'month', count: 3, sum: '0.030' },
    ],
    activeSubscriptions: 3,
    upcomingRenewalsValue: '1.005',
  });
  // 3.015, 3.035 / 3 and 1.005.
  assert.deepEqual([mrr, avgSubscriptionValue, upcomingRenewalsValue7d], [3.02, 1.01, 1.01]);
});
