import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Cohort } from '../../metrics/cohorts.ts';
import { averageShare, compare, monthsOver, obstaclesTo } from './shares.ts';

const now = Date.parse('2026-06-10T00:00:00Z');
const cohort = (month: string, customers: number, retained: number[]): Cohort => ({
  month,
  customers,
  retained,
  mrr: retained.map((count) => count * 10),
});
const cohorts = [
  cohort('2026-01', 100, [100, 90, 80, 70, 60, 50]),
  cohort('2026-02', 10, [10, 8, 6, 4, 2]),
  cohort('2026-03', 50, [50, 40, 30, 29]),
  cohort('2026-05', 20, [20, 19]),
  cohort('2026-06', 5, [5]),
];
const compared = (pair: (string | undefined)[], measure: 'customers' | 'revenue' = 'customers') => {
  const found = compare(cohorts, { pair: [pair[0], pair[1]], measure }, now);
  return found && [...found.cohorts.map(({ month }) => month), found.since, ...found.shares];
};

test('counts the months that are over', () => {
  assert.deepEqual(
    cohorts.map((each) => monthsOver(each, now)),
    [5, 4, 3, 1, 0],
  );
});

test('compares the newest cohorts of which three months are over, in the last that both have', () => {
  assert.deepEqual(compared([]), ['2026-02', '2026-01', 3, 0.4, 0.7]);
  assert.deepEqual(compared([], 'revenue'), ['2026-02', '2026-01', 3, 0.4, 0.7]);
});

test('compares the cohorts that are chosen, as far as they can be', () => {
  assert.deepEqual(compared(['2026-03', '2026-02']), ['2026-03', '2026-02', 2, 0.6, 0.6]);
  assert.deepEqual(compared(['2026-01']), ['2026-01', '2026-02', 3, 0.7, 0.4]);
  assert.deepEqual(compared(['2026-03', '2026-03']), ['2026-03', '2026-02', 2, 0.6, 0.6]);
  // Of May, only its own month is over.
  assert.deepEqual(compared(['2026-05', '2026-02']), compared([undefined, '2026-02']));
  // The second is kept if only it is chosen, also if it is the default of the first.
  assert.deepEqual(compared([undefined, '2026-02']), ['2026-01', '2026-02', 3, 0.7, 0.4]);
});

test('compares with the one before, also where only the oldest has the usual months', () => {
  const asked = { pair: [undefined, undefined], measure: 'customers' } as const;
  const early = Date.parse('2026-05-10T00:00:00Z');
  const found = compare(cohorts.slice(0, 3), asked, early)?.cohorts.map(({ month }) => month);
  assert.deepEqual(found, ['2026-02', '2026-01']);
  const young = Date.parse('2026-04-10T00:00:00Z');
  const { cohorts: pair, since } = compare(cohorts.slice(0, 2), asked, young) ?? {};
  assert.deepEqual([pair?.map(({ month }) => month), since], [['2026-02', '2026-01'], 1]);
});

test('says why a chosen month is not compared', () => {
  const obstacles = (
    a: string | undefined,
    b: string | undefined,
    measure: 'customers' | 'revenue' = 'customers',
  ) =>
    obstaclesTo([...cohorts, free], { pair: [a, b], measure }, now).map(
      ({ month, obstacle }) => `${month} ${obstacle}`,
    );
  const free = { ...cohort('2025-12', 10, [10, 9, 8, 7, 6, 5, 4]), mrr: [0, 0, 0, 0, 0, 0, 0] };
  assert.deepEqual(obstacles(undefined, undefined), []);
  assert.deepEqual(obstacles('2026-01', '2026-03'), []);
  assert.deepEqual(obstacles('2026-05', '2026-04'), ['2026-05 too young', '2026-04 not shown']);
  assert.deepEqual(obstacles('2026-03', '2026-03'), ['2026-03 twice']);
  assert.deepEqual(obstacles('2026-06', '2026-06'), ['2026-06 too young']);
  assert.deepEqual(obstacles('2025-12', '2026-01'), []);
  assert.deepEqual(obstacles('2025-12', '2026-01', 'revenue'), ['2025-12 without MRR']);
});

test('compares nothing while there is only one', () => {
  assert.equal(
    compare(cohorts.slice(0, 1), { pair: [undefined, undefined], measure: 'customers' }, now),
    undefined,
  );
});

test('averages the months that are over by the size of the cohort', () => {
  assert.equal(averageShare(cohorts, 'customers', 2, now)?.share, (80 + 6 + 30) / 160);
  assert.equal(averageShare(cohorts, 'customers', 2, now)?.of, 160);
  assert.equal(averageShare(cohorts, 'revenue', 1, now)?.share, (900 + 80 + 400) / 1600);
  assert.equal(averageShare(cohorts, 'customers', 5, now), undefined);
});
