import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { monthBefore } from '../../src/metrics/bounds.ts';
import { inflows, isOutflow, movements } from '../../src/metrics/facts.ts';
import { listDays } from '../../src/metrics/history.ts';
import { summariseMovements } from '../../src/metrics/movements.ts';
import { type MovedRow, listMoved, monthlyChangeOf } from '../../src/metrics/moved.ts';
import { movementsFromRecords } from '../../src/metrics/segments/periods.ts';
import { summariseFromRecords } from '../../src/metrics/segments/summary.ts';
import {
  type PaymentKind,
  type PaymentRow,
  type PaymentWindow,
  listPayments,
} from '../../src/metrics/payments.ts';
import { projectRenewals } from '../../src/metrics/renewals.ts';
import { type RenewingRow, listRenewing, renewingFromRecords } from '../../src/metrics/renewing.ts';
import type { SegmentAt } from '../../src/metrics/segments/subscriptions.ts';
import { type Ratio, add, parseDecimal, subtract } from '../../src/money.ts';
import type { Store } from '../../src/store/open.ts';
import type { Position, TimeOrder } from '../../src/store/records/listing.ts';
import { onOneDatabase } from '../support/databases.ts';
import type { Random } from './random.ts';
import { eachInstant, windowOf } from './worlds.ts';

const day = 24 * 3_600_000;
const zero: Ratio = { numerator: 0n, denominator: 1n };
const isSame = (one: Ratio, other: Ratio) => subtract(one, other).numerator === 0n;
const sumOf = (amounts: readonly string[]) => amounts.map(parseDecimal).reduce(add, zero);

/** Reads a list page by page, and finds that it is in order and has no row twice. */
async function everyPage<Row, After extends Position>(
  limit: number,
  read: (page: { readonly after: After | undefined; readonly limit: number }) => Promise<Row[]>,
  placeOf: (row: Row) => After,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let last: After | undefined; ;) {
    const page = await read({ after: last, limit });
    rows.push(...page);
    const row = page.at(-1);
    if (!row || page.length < limit) break;
    last = placeOf(row);
  }
  const places = rows.map((row) => JSON.stringify(placeOf(row)));
  assert.equal(new Set(places).size, places.length);
  return rows;
}

const movedPlace = ({ at, subscriptionId }: MovedRow) => ({ createdAt: at, id: subscriptionId });
const paidPlace = ({ placedAt, id, kind }: PaymentRow) => ({ createdAt: placedAt, id, kind });
const duePlace = ({ nextBillingAt, subscriptionId }: RenewingRow) => ({
  createdAt: nextBillingAt,
  id: subscriptionId,
});

onOneDatabase('the rows behind figures of money', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  test('those that moved come to each movement of any period', async () => {
    let moved = 0;
    await eachInstant(store, 600, async (shopId, random, now, where) => {
      const { from, until } = windowOf(random, now);
      const { analyse } = store.primary;
      const list = (names: readonly (typeof movements)[number][] | undefined) =>
        everyPage(
          1 + random.integer(9),
          (page) =>
            listMoved(analyse, shopId, { from, until }, { ...page, ...(names && { names }) }),
          movedPlace,
        );
      const rows = await list(undefined);
      const values = await summariseMovements(analyse, shopId, { from, until });
      const plain = await movementsFromRecords(store.write, shopId, { from, until });
      for (const name of movements) {
        const own = rows.filter(({ movement }) => movement === name);
        const sum = own.map(monthlyChangeOf).reduce(add, zero);
        const size = isOutflow(name) ? subtract(zero, sum) : sum;
        assert.ok(isSame(size, values[name]), `${where}, ${name}`);
        assert.ok(isSame(size, plain[name]), `${where}, ${name}`);
        assert.deepEqual(await list([name]), own, `${where}, ${name}`);
        moved += own.length;
      }
      const came = (await list([...inflows])).length;
      assert.equal(came, rows.filter(({ movement }) => !isOutflow(movement)).length, where);
      for (const { at } of rows) assert.ok(at >= from && at < until, where);
      const places = rows.map(movedPlace);
      const ordered = places.toSorted((a, b) => b.createdAt - a.createdAt || b.id - a.id);
      assert.deepEqual(places, ordered, where);
      const turned = await everyPage(
        1 + random.integer(9),
        (page) => listMoved(analyse, shopId, { from, until }, { ...page, order: 'oldest' }),
        movedPlace,
      );
      assert.deepEqual(turned.toReversed(), rows, where);
    });
    assert.ok(moved > 100, String(moved));
  });

  /** Days of a period, of which the rows are seen from its end. */
  const daysOf = (random: Random, now: number): PaymentWindow => {
    const { from, until } = windowOf(random, now);
    const first = from + random.integer(20) * day;
    const start = Math.floor(first / day) * day;
    const end = start + (1 + random.integer(20)) * day;
    const isPart = random.chance(0.5);
    return {
      from: isPart ? Math.min(Math.max(start, from), until) : from,
      until: isPart ? Math.max(Math.min(end, until), Math.min(start, until)) : until,
      seen: until,
    };
  };

  const payments = (
    shopId: number,
    random: Random,
    window: PaymentWindow,
    kinds: readonly PaymentKind[],
    segment?: SegmentAt,
    order?: TimeOrder,
  ) =>
    everyPage(
      1 + random.integer(9),
      (page) =>
        listPayments(store.primary.analyse, shopId, window, { ...page, kinds, order }, segment),
      paidPlace,
    );

  test('payments less refunds come to the revenue, of any period and segment', async () => {
    let paid = 0;
    await eachInstant(store, 700, async (shopId, random, now, where) => {
      const { from, until } = windowOf(random, now);
      const segment = random.chance(0.3)
        ? { segment: { plan: 1 + random.integer(3) }, now }
        : undefined;
      const window = { from, until, seen: until };
      const rows = await payments(shopId, random, window, ['paid', 'refunded'], segment);
      const of = (kind: PaymentKind) => rows.filter((row) => row.kind === kind);
      const plain = await summariseFromRecords(store.write, shopId, now, { from, until }, segment);
      const sums = [of('paid'), of('refunded')].map((each) =>
        sumOf(each.map(({ amount }) => amount)),
      );
      assert.ok(isSame(sums[0] ?? zero, parseDecimal(plain.paid)), where);
      assert.ok(isSame(sums[1] ?? zero, parseDecimal(plain.refunded)), where);
      assert.deepEqual(await payments(shopId, random, window, ['paid'], segment), of('paid'));
      const refunds = await payments(shopId, random, window, ['refunded'], segment);
      assert.deepEqual(refunds, of('refunded'));
      const turned = await payments(
        shopId,
        random,
        window,
        ['paid', 'refunded'],
        segment,
        'oldest',
      );
      assert.deepEqual(turned, rows.toReversed(), where);
      paid += rows.length;
    });
    assert.ok(paid > 80, String(paid));
  });

  test('each billing cycle that failed has one row, on any days of a period and of any segment', async () => {
    let failed = 0;
    await eachInstant(store, 800, async (shopId, random, now, where) => {
      const window = daysOf(random, now);
      const all = await payments(shopId, random, window, ['failed']);
      const chosen = { segment: { price: { from: '0', to: '99999999' } }, now: now + 1e9 };
      const segment = await payments(shopId, random, window, ['failed'], chosen);
      const text = ({ id, at, amount }: PaymentRow) => `${id} ${at} ${amount}`;
      assert.deepEqual(all.map(text).toSorted(), segment.map(text).toSorted(), where);
      const rows = await store.write<{ at: number }[]>`
        select (date_part('epoch', max(processed_at)) * 1000)::bigint as at from payments
        where shop_id = ${shopId} and status = 'failed' and failure_kind is distinct from 'inventory'
          and processed_at < ${new Date(window.seen).toISOString()}
        group by subscription_id, cycle`;
      const counted = rows.filter(({ at }) => at >= window.from && at < window.until);
      assert.deepEqual(
        all.map(({ at }) => at).toSorted(),
        counted.map(({ at }) => at).toSorted(),
        where,
      );
      const period = { from: window.from, until: window.seen };
      if (period.from < period.until) {
        const days = await listDays(store.primary.analyse, shopId, period);
        const inDays = days.filter((each) => each.day < window.until);
        const isWhole = window.until % day === 0 || window.until === window.seen;
        const count = inDays.reduce((sum, each) => sum + each.failedPayments, 0);
        if (isWhole) assert.equal(all.length, window.from < window.until ? count : 0, where);
      }
      failed += all.length;
    });
    assert.ok(failed > 50, String(failed));
  });

  test('those that renew are those of each projected week, and of a segment', async () => {
    let renewing = 0;
    await eachInstant(store, 900, async (shopId, random, now, where) => {
      const { analyse } = store.primary;
      const weeks = await projectRenewals(analyse, shopId, now);
      const limit = 1 + random.integer(4);
      for (const [week, { renewals, value }] of weeks.entries()) {
        const rows = await everyPage(
          limit,
          (page) => listRenewing(analyse, shopId, { now, week }, page),
          duePlace,
        );
        assert.equal(rows.length, renewals, `${where}, week ${week}`);
        assert.ok(isSame(sumOf(rows.map(({ price }) => price)), value), `${where}, week ${week}`);
        renewing += rows.length;
        const turned = await everyPage(
          limit,
          (page) => listRenewing(analyse, shopId, { now, week }, { ...page, order: 'latest' }),
          duePlace,
        );
        assert.deepEqual(turned.toReversed(), rows, `${where}, week ${week}`);
      }
      const segment = { segment: { plan: 1 + random.integer(3) }, now };
      const rows = await everyPage(
        limit,
        (page) => renewingFromRecords(analyse, shopId, now, page, segment),
        duePlace,
      );
      const plain = await summariseFromRecords(store.write, shopId, now, monthBefore(now), segment);
      assert.equal(rows.length, plain.upcomingRenewals, where);
    });
    assert.ok(renewing > 50, String(renewing));
  });
});
