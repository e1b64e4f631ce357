import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Period } from '../../src/metrics/bounds.ts';
import { ageBands } from '../../src/metrics/churn.ts';
import {
  type CountedFigure,
  countedFigures,
  listCounted,
} from '../../src/metrics/segments/lists.ts';
import { type Figures, readFigures } from '../../src/metrics/segments/figures.ts';
import type { Store } from '../../src/store/open.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type TestShop, createShop, importAll, now } from '../support/world.ts';
import {
  at,
  beforeEnd,
  beforeStart,
  begun,
  day,
  end,
  iso,
  left,
  payment,
  start,
  week,
} from './edge-records.ts';

const firstPage = { after: undefined, limit: 100 };

onOneDatabase('figures at exact instants', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  /** @param hoursSince from when on hours and minutes of the shop are stored; undefined for the usual */
  async function shopWith(records: readonly object[], hoursSince?: string): Promise<TestShop> {
    const shop = await createShop(store);
    if (hoursSince !== undefined) {
      await store.write`insert into metric_shops values (${shop.id}, ${hoursSince})`;
    }
    assert.deepEqual((await importAll(store, shop, [plan(), ...records])).refused, []);
    return shop;
  }

  /** What the ledger gives for a shop, and what the records give for a segment that has all of it. */
  async function bothOf<Result>(shop: TestShop, work: (figures: Figures) => Promise<Result>) {
    const all = { segment: {}, now: at(now) };
    return [
      await readFigures(store.primary, shop, undefined, work),
      await readFigures(store.primary, shop, all, work),
    ];
  }

  /** The same from both. */
  async function assertFigures<Result>(
    shop: TestShop,
    work: (figures: Figures) => Promise<Result>,
    expected: Result,
  ) {
    assert.deepEqual(await bothOf(shop, work), [expected, expected]);
  }

  async function counted(shop: TestShop, figure: CountedFigure, period: Period, seenAt: number) {
    const rows = await listCounted(
      store.primary,
      shop,
      { figure, ...period, at: seenAt },
      firstPage,
      undefined,
    );
    return rows
      .map(({ json }) => JSON.parse(json).subscriptionId as number)
      .toSorted((a, b) => a - b);
  }

  test('a subscription is as many days old as have passed when it leaves, to the millisecond', async () => {
    const leftAt = at('2026-11-10T00:00:00.000Z');
    const shop = await shopWith(
      [30, 90, 180, 365].flatMap((days) => [
        left(days, iso(leftAt - days * day), iso(leftAt)),
        left(1000 + days, iso(leftAt - days * day + 1), iso(leftAt), 'failed'),
      ]),
    );
    const window = { from: leftAt, until: leftAt + 1, now: at(now) };
    const groups = async (figures: Figures) =>
      (await figures.churnGroups(window)).map(
        ({ age, cause, count }) => `${age.name} ${cause} ${count}`,
      );
    const [ledger, records] = await bothOf(shop, groups);
    for (const each of [ledger, records]) {
      assert.deepEqual(each?.toSorted(), [
        '0-29 failed 1',
        '180-364 cancelled 1',
        '180-364 failed 1',
        '30-89 cancelled 1',
        '30-89 failed 1',
        '365 cancelled 1',
        '90-179 cancelled 1',
        '90-179 failed 1',
      ]);
    }
    const listed: Readonly<Record<string, readonly [number, number][]>> = {
      '0-29': [[1030, 29]],
      '30-89': [
        [1090, 89],
        [30, 30],
      ],
      '90-179': [
        [1180, 179],
        [90, 90],
      ],
      '180-364': [
        [1365, 364],
        [180, 180],
      ],
      '365': [[365, 365]],
    };
    for (const age of ageBands) {
      const rows = async (figures: Figures) =>
        (await figures.churned(window, { ...firstPage, age })).map(
          ({ subscriptionId, ageDays }): [number, number] => [subscriptionId, ageDays],
        );
      await assertFigures(shop, rows, [...(listed[age.name] ?? [])]);
    }
  });

  test('what leaves when a period begins is in it, and what leaves when it ends is not', async () => {
    const began = '2026-01-01T00:00:00Z';
    const shop = await shopWith([
      left(1, began, beforeStart),
      left(2, began, start),
      left(3, began, beforeEnd, 'failed'),
      left(4, began, end, 'failed'),
    ]);
    const window = { ...week, now: at(now) };
    const ids = async (figures: Figures) =>
      (await figures.churned(window, firstPage)).map(({ subscriptionId }) => subscriptionId);
    await assertFigures(shop, ids, [3, 2]);
    await assertFigures(shop, async (figures) => [...(await figures.churnDays(window))], [
      { day: at('2026-11-01T00:00:00Z'), cancelled: 1, failed: 0 },
      { day: at('2026-11-07T00:00:00Z'), cancelled: 0, failed: 1 },
    ]);
    const groups = async (figures: Figures) =>
      (await figures.churnGroups(window)).map(({ cause, count }) => [cause, count]);
    await assertFigures(shop, groups, [
      ['cancelled', 1],
      ['failed', 1],
    ]);
  });

  test('what leaves now has left; what leaves a millisecond later has not', async () => {
    const began = '2026-01-01T00:00:00Z';
    const shop = await shopWith([left(1, began, beforeEnd), left(2, began, end)]);
    for (const [seenAt, expected] of [
      [week.until - 2, []],
      [week.until - 1, [1]],
      [week.until, [2, 1]],
    ] as const) {
      // The week's last day goes on.
      const window = { from: week.from, until: week.until + day, now: seenAt };
      const ids = async (figures: Figures) =>
        (await figures.churned(window, firstPage)).map(({ subscriptionId }) => subscriptionId);
      await assertFigures(shop, ids, [...expected]);
      const total = async (figures: Figures) =>
        (await figures.churnDays(window)).reduce((sum, each) => sum + each.cancelled, 0);
      await assertFigures(shop, total, expected.length);
      const grouped = async (figures: Figures) =>
        (await figures.churnGroups(window)).reduce((sum, each) => sum + each.count, 0);
      await assertFigures(shop, grouped, expected.length);
    }
  });

  test('what held for a while is seen from its first instant to the one at which it ended', async () => {
    const failedAt = at('2020-06-01T00:00:00.000Z');
    const lengths = [1, 4, 16, 64, 256, 1024];
    const shop = await shopWith(
      lengths.map((days) =>
        subscription(days, {
          customerId: days,
          createdAt: '2020-01-01T00:00:00Z',
          statusEvents: [
            { at: iso(failedAt), to: 'failed' },
            { at: iso(failedAt + days * day), to: 'active' },
          ],
        }),
      ),
    );
    const failed = (seenAt: number) => async (figures: Figures) =>
      (await figures.churnDays({ from: failedAt, until: failedAt + 1, now: seenAt })).reduce(
        (sum, each) => sum + each.failed,
        0,
      );
    await assertFigures(shop, failed(failedAt), 6);
    for (const [index, days] of lengths.entries()) {
      await assertFigures(shop, failed(failedAt + days * day - 1), 6 - index);
      await assertFigures(shop, failed(failedAt + days * day), 5 - index);
    }
  });

  // The days, hours and minutes of a period, and its rest at both ends, wherever the stored hours begin.
  const instants: readonly string[] = [
    '2026-11-01T10:20:30.500Z',
    '2026-11-01T10:20:59.999Z',
    '2026-11-01T10:21:00.000Z',
    '2026-11-01T10:59:59.999Z',
    '2026-11-01T11:00:00.000Z',
    '2026-11-01T23:59:59.999Z',
    '2026-11-02T00:00:00.000Z',
    '2026-11-03T23:59:59.999Z',
    '2026-11-04T00:00:00.000Z',
    '2026-11-04T14:59:59.999Z',
    '2026-11-04T15:00:00.000Z',
    '2026-11-04T15:39:59.999Z',
    '2026-11-04T15:40:00.000Z',
    '2026-11-04T15:40:20.249Z',
  ];
  const ragged = { from: at('2026-11-01T10:20:30.500Z'), until: at('2026-11-04T15:40:20.250Z') };
  for (const hoursSince of ['1970-01-01Z', '2026-11-01Z', '2026-11-04Z', '2026-11-05Z']) {
    test(`each instant of a period counts once, with hours stored since ${hoursSince}`, async () => {
      const outside = ['2026-11-01T10:20:30.499Z', '2026-11-04T15:40:20.250Z'];
      const shop = await shopWith(
        [...instants, ...outside].flatMap((instant, index) => [
          left(1 + index, '2026-01-01T00:00:00Z', instant),
          session(1 + index, { subscriptionId: 1 + index, createdAt: instant }),
          begun(1001 + index, instant),
        ]),
        hoursSince,
      );
      const window = { ...ragged, now: at(now) };
      await assertFigures(shop, async (figures) => [...(await figures.churnDays(window))], [
        { day: at('2026-11-01T00:00:00Z'), cancelled: 6, failed: 0 },
        { day: at('2026-11-02T00:00:00Z'), cancelled: 1, failed: 0 },
        { day: at('2026-11-03T00:00:00Z'), cancelled: 1, failed: 0 },
        { day: at('2026-11-04T00:00:00Z'), cancelled: 6, failed: 0 },
      ]);
      const summary = async (figures: Figures) => {
        const row = await figures.summary(ragged, at(now));
        return [row.cancelled, row.newSubscribers, row.sessions, row.activeSubscribers];
      };
      // Of those that leave, the one at the end is still there; those that begin then or later are not yet.
      await assertFigures(shop, summary, [14, 14, 14, 16]);
      const days = async (figures: Figures) =>
        (await figures.sessionDays(ragged)).map(({ day: date, sessions }) => [date, sessions]);
      const [ledger, records] = await bothOf(shop, days);
      for (const each of [ledger, records]) {
        assert.deepEqual(each?.toSorted(), [
          ['2026-11-01', 6],
          ['2026-11-02', 1],
          ['2026-11-03', 1],
          ['2026-11-04', 6],
        ]);
      }
    });
  }

  test('a case that closes at midnight belongs to the day that begins, and is no longer outstanding', async () => {
    const began = '2026-01-01T00:00:00Z';
    const shop = await shopWith([
      begun(1, began),
      payment(11, 1, 'failed', '2026-10-20T00:00:00.000Z'),
      payment(12, 1, 'succeeded', start),
      begun(2, began),
      payment(21, 2, 'failed', start),
      payment(22, 2, 'succeeded', beforeEnd),
      left(3, began, end),
      payment(31, 3, 'failed', '2026-11-05T00:00:00.000Z'),
      begun(4, began),
      payment(41, 4, 'failed', end),
    ]);
    const closed = (period: Period) => async (figures: Figures) =>
      (await figures.closed(period))
        .map(({ day: date, result, count }) => `${iso(date)} ${result} ${count}`)
        .toSorted();
    await assertFigures(shop, closed({ from: week.from - day, until: week.from }), []);
    await assertFigures(shop, closed(week), [
      '2026-11-01T00:00:00.000Z recovered 1',
      '2026-11-07T00:00:00.000Z recovered 1',
    ]);
    await assertFigures(shop, closed({ from: week.until, until: week.until + day }), [
      '2026-11-08T00:00:00.000Z lost 1',
    ]);
    const outstanding = (instant: number) => async (figures: Figures) =>
      (await figures.outstanding(instant)).reduce((sum, { count }) => sum + count, 0);
    for (const [instant, count] of [
      [at('2026-10-20T00:00:00.000Z') - 1, 0],
      [at('2026-10-20T00:00:00.000Z'), 1],
      [week.from - 1, 1],
      // The first closes as the second opens.
      [week.from, 1],
      [at('2026-11-05T00:00:00.000Z') - 1, 1],
      [at('2026-11-05T00:00:00.000Z'), 2],
      [week.until - 1, 1],
      [week.until, 1],
      [at(now), 1],
    ] as const) {
      await assertFigures(shop, outstanding(instant), count);
    }
  });

  test('lists of what a figure counts include the start of the period, and exclude its end', async () => {
    const began = '2026-01-01T00:00:00Z';
    const saved = (id: number, createdAt: string) =>
      session(id, { subscriptionId: id, outcome: 'saved', createdAt });
    const shop = await shopWith([
      begun(1, beforeStart),
      begun(2, start),
      begun(3, beforeEnd),
      begun(4, end),
      left(11, began, beforeStart),
      left(12, began, start),
      left(13, began, beforeEnd),
      left(14, began, end),
      ...[beforeStart, start, beforeEnd, end].flatMap((instant, index) => [
        begun(21 + index, began),
        saved(21 + index, instant),
      ]),
    ]);
    const seen = Object.fromEntries(
      await Promise.all(
        countedFigures.map(
          async (figure) => [figure, await counted(shop, figure, week, week.until - 1)] as const,
        ),
      ),
    );
    assert.deepEqual(seen, {
      new: [2, 3],
      active: [1, 2, 3, 14, 21, 22, 23, 24],
      mrr: [1, 2, 3, 14, 21, 22, 23, 24],
      paused: [],
      cancelled: [12, 13],
      kept: [22, 23],
    });
    // The end is no less excluded when it has passed.
    const figures = ['new', 'cancelled', 'kept'] as const;
    assert.deepEqual(
      await Promise.all(figures.map((figure) => counted(shop, figure, week, at(now)))),
      [
        [2, 3],
        [12, 13],
        [22, 23],
      ],
    );
  });

  test('lists of what a figure counts have what happens at the instant of their statuses, and nothing later', async () => {
    const began = '2026-01-01T00:00:00Z';
    const paused = (id: number, pausedAt: string) =>
      begun(id, began, {
        status: 'paused',
        updatedAt: pausedAt,
        statusEvents: [{ at: pausedAt, to: 'paused' }],
      });
    const shop = await shopWith([
      begun(1, began),
      session(1, { subscriptionId: 1, outcome: 'saved', createdAt: start }),
      // Saved once more: then the later one counts.
      session(2, { subscriptionId: 1, outcome: 'saved', createdAt: end }),
      left(2, began, end),
      paused(3, end),
      begun(4, end),
      // Until then it is active.
      { ...paused(5, began), customerId: 6 },
      { ...left(6, began, end), customerId: 6 },
      // From then on its customer has an active subscription.
      { ...paused(7, began), customerId: 8 },
      begun(8, end),
      // Its session is dated before it.
      begun(9, end),
      session(9, { subscriptionId: 9, outcome: 'saved', createdAt: start }),
    ]);
    const listed = async (figure: CountedFigure, seenAt: number, period: Period = week) =>
      counted(shop, figure, period, seenAt);
    const [justBefore, then] = [week.until - 1, week.until];
    const following = { from: week.until, until: week.until + day };
    assert.deepEqual(await listed('active', justBefore), [1, 2, 3, 6]);
    assert.deepEqual(await listed('active', then), [1, 4, 8, 9]);
    assert.deepEqual(await listed('paused', justBefore), [7]);
    assert.deepEqual(await listed('paused', then), [3, 5]);
    assert.deepEqual(await listed('kept', justBefore), [1]);
    assert.deepEqual(await listed('kept', then), [9]);
    assert.deepEqual(await listed('cancelled', justBefore, following), []);
    assert.deepEqual(await listed('cancelled', then, following), [2, 6]);
    assert.deepEqual(await listed('kept', justBefore, following), []);
    assert.deepEqual(await listed('kept', then, following), [1]);
  });
});
