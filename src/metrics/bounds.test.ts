import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { runs } from '../../test/support/seed.ts';
import { nearestMonthsOf } from './bounds.ts';

const at = Date.parse;

test('a period is the months between the starts nearest to its ends, and what those lack or have too much', () => {
  assert.deepEqual(
    nearestMonthsOf({ from: at('2025-11-23T05:00:00Z'), until: at('2026-11-23T05:00:00Z') }),
    {
      months: ['2025-12-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'],
      ends: [
        { interval: ['2025-11-23T05:00:00.000Z', '2025-12-01T00:00:00.000Z'], sign: 1 },
        { interval: ['2026-11-23T05:00:00.000Z', '2026-12-01T00:00:00.000Z'], sign: -1 },
      ],
    },
  );
  assert.deepEqual(nearestMonthsOf({ from: at('2026-02-03Z'), until: at('2026-03-14Z') }), {
    months: ['2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
    ends: [
      { interval: ['2026-02-01T00:00:00.000Z', '2026-02-03T00:00:00.000Z'], sign: -1 },
      { interval: ['2026-03-01T00:00:00.000Z', '2026-03-14T00:00:00.000Z'], sign: 1 },
    ],
  });
  const days = { from: at('2026-11-20Z'), until: at('2026-11-27Z') };
  assert.deepEqual(nearestMonthsOf(days).ends, [
    { interval: ['2026-11-20T00:00:00.000Z', '2026-11-27T00:00:00.000Z'], sign: 1 },
  ]);
});

test('each instant of a period counts once, any other not at all', () => {
  const instant = fc.integer({ min: at('2023-12-01Z'), max: at('2024-05-01Z') });
  fc.assert(
    fc.property(instant, instant, instant, (one, other, when) => {
      const [from, until] = [Math.min(one, other), Math.max(one, other)];
      const { months, ends } = nearestMonthsOf({ from, until });
      const isIn = ([start, end]: readonly [string, string]) =>
        Number(at(start) <= when && when < at(end));
      const counted = ends.reduce(
        (sum, { interval, sign }) => sum + sign * isIn(interval),
        isIn(months),
      );
      assert.equal(counted, Number(from <= when && when < until));
      assert.ok(months.every((each) => each.endsWith('-01T00:00:00.000Z')));
    }),
    runs(1000),
  );
});
