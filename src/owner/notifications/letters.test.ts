import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DayOfCounts, findUnusual, usualDays } from './letters.ts';

const quiet = { day: '2026-11-20', cancelled: 9, failedPayments: 4, newSubscribers: 30 };

function daysBefore(
  last: Partial<DayOfCounts>,
  count = usualDays,
  others: Partial<DayOfCounts>[] = [],
) {
  const days = Array.from({ length: count }, (_, index) => ({ ...quiet, ...others[index] }));
  return findUnusual([...days, { ...quiet, ...last }]);
}

test('finds more cancellations and failures than on any day before, by three standard deviations', () => {
  assert.deepEqual(daysBefore({ cancelled: 18 }), []);
  assert.deepEqual(daysBefore({ cancelled: 19 }), [{ field: 'cancelled', count: 19, usual: 9 }]);
  assert.deepEqual(daysBefore({ failedPayments: 11 }), [
    { field: 'failedPayments', count: 11, usual: 4 },
  ]);
});

test('finds fewer new subscribers, but no day that is only better than usual', () => {
  assert.deepEqual(
    daysBefore({ newSubscribers: 13 }).map(({ field }) => field),
    ['newSubscribers'],
  );
  assert.deepEqual(daysBefore({ newSubscribers: 90, cancelled: 0, failedPayments: 0 }), []);
});

test('takes a spike for usual if there was one as high within 35 days, such as a billing day', () => {
  const spike = Array.from({ length: 5 }, () => ({}));
  assert.deepEqual(
    daysBefore({ failedPayments: 40 }, usualDays, [...spike, { failedPayments: 40 }]),
    [],
  );
});

test('does not judge small numbers or a short past', () => {
  const none = Array.from({ length: usualDays }, () => ({ cancelled: 0 }));
  assert.deepEqual(daysBefore({ cancelled: 4 }, usualDays, none), []);
  assert.equal(daysBefore({ cancelled: 5 }, usualDays, none).length, 1);
  assert.deepEqual(daysBefore({ cancelled: 900 }, usualDays - 1), []);
});
