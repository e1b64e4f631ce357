import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { runs } from '../../test/support/seed.ts';
import {
  boundsOf,
  lastBefore,
  monthBefore,
  nearestMonthsOf,
  restOfTime,
  seenFrom,
  wholeDaysOf,
} from './bounds.ts';

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

test('a period that begins and ends at midnight is whole days, without a rest at its ends', () => {
  const [from, until] = ['2026-11-01T00:00:00.000Z', '2026-11-08T00:00:00.000Z'] as const;
  assert.deepEqual(boundsOf(at(from), at(until)), {
    pieces: [{ grain: 'day', from, until }],
    ends: [],
  });
  assert.deepEqual(wholeDaysOf(at(from), at(until)), {
    days: [from, until],
    ends: [
      [from, from],
      [until, until],
    ],
  });
  assert.deepEqual(restOfTime(at(until)), { end: [until, until], days: until });
});

test('a period within a minute, an hour or a day has no larger parts', () => {
  const bounds = (from: string, until: string) =>
    boundsOf(at(`2026-11-01T${from}Z`), at(`2026-11-01T${until}Z`));
  const part = (from: string, until: string) => ({
    from: `2026-11-01T${from}Z`,
    until: `2026-11-01T${until}Z`,
  });
  assert.deepEqual(bounds('10:20:30.000', '10:20:30.001'), {
    pieces: [],
    ends: [
      { isFine: false, ...part('10:20:30.000', '10:20:30.001') },
      { isFine: true, ...part('10:20:30.000', '10:20:30.001') },
    ],
  });
  assert.deepEqual(bounds('10:20:00.000', '10:21:00.000'), {
    pieces: [{ grain: 'minute', ...part('10:20:00.000', '10:21:00.000') }],
    ends: [{ isFine: false, ...part('10:20:00.000', '10:21:00.000') }],
  });
  assert.deepEqual(bounds('10:00:00.000', '11:00:00.001'), {
    pieces: [{ grain: 'hour', ...part('10:00:00.000', '11:00:00.000') }],
    ends: [
      { isFine: false, ...part('10:00:00.000', '11:00:00.001') },
      { isFine: true, ...part('11:00:00.000', '11:00:00.001') },
    ],
  });
});

test('the end of a past period is not in it, and that of one that ends now is', () => {
  const midnight = at('2026-11-08T00:00:00.000Z');
  assert.equal(lastBefore(midnight), '2026-11-07T23:59:59.999999Z');
  const period = { from: at('2026-11-01Z'), until: midnight };
  assert.deepEqual(
    [seenFrom(period, midnight), seenFrom(period, midnight + 1)],
    [midnight, midnight - 1],
  );
  assert.deepEqual(monthBefore(midnight), {
    from: at('2026-10-09T00:00:00.000Z'),
    until: midnight,
  });
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
