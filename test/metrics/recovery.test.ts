import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findLedgerDifferences } from '../../src/metrics/verify/sums.ts';
import { findFigureDifferences, recoveryFromRecords } from '../../src/metrics/verify/figures.ts';
import {
  type AfterClosed,
  type CaseRow,
  type Cases,
  type ClosedCases,
  type ClosedOrder,
  listClosedCases,
  attemptsIn,
  amountOf,
  listClosed,
  listOutstanding,
  totalOf,
} from '../../src/metrics/recovery.ts';
import { type AfterOpen, listOpenCases } from '../../src/metrics/dunning/open-cases.ts';
import { summariseMetrics } from '../../src/metrics/summary.ts';
import type { Store } from '../../src/store/open.ts';
import { plan, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { runs } from '../support/seed.ts';
import { type TestShop, createShop, importAll, now } from '../support/world.ts';
import { about, instantOf } from './instants.ts';
import { randomOf } from './random.ts';
import { preparePlans, writeSomething } from './writers.ts';

const at = Date.parse(now);
const day = 86_400_000;
const endOfTime = Date.parse('2027-06-01T00:00:00Z');
const { numRuns: worlds, seed: firstSeed } = runs(6);

/** Numbers and amounts by what tells cases apart, in order. */
function sumsOf<Kind extends Cases>(cases: readonly Kind[], keys: readonly (keyof Kind)[]) {
  const groups = Map.groupBy(cases, (each) => keys.map((key) => String(each[key])).join(' '));
  return [...groups]
    .map(([key, alike]) => [key, totalOf(alike)] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}
/** The attempts to collect closed cases, in the form of the plain computation. */
function attemptsOf(closed: readonly ClosedCases[]) {
  return attemptsIn(closed)
    .flatMap(({ number, succeeded, failed }) => [
      { ...succeeded, number, hasSucceeded: true },
      { ...failed, number, hasSucceeded: false },
    ])
    .filter(({ count }) => count > 0);
}
const attemptKeys = ['number', 'hasSucceeded'] as const;
const closedKeys = ['day', 'result', 'failureCode', 'attempts'] as const;

const payment = (id: number, on: string, over: object = {}) => ({
  type: 'payment',
  id,
  subscriptionId: 1001,
  cycle: '1',
  status: 'failed',
  amount: '30.60',
  processedAt: `2026-11-${on}T00:00:00Z`,
  ...over,
});

onOneDatabase('recovery', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  async function listStored(shop: TestShop) {
    const rows = await store.write<{ text: string }[]>`
      select concat_ws(' ', subscription_id, amount, coalesce(failure_code, '-'), attempts, result) as text
      from dunning_cases where shop_id = ${shop.id} order by subscription_id, position`;
    return rows.map(({ text }) => text);
  }

  test('knows of a case what is owed, the last code and the failed attempts, in any order of records', async () => {
    const records = [
      plan(),
      subscription(1001),
      payment(1, '02', { failureCode: 'expired_card' }),
      // Out of stock: no attempt to collect.
      payment(2, '03', { failureKind: 'inventory', failureCode: 'INSUFFICIENT_INVENTORY' }),
      payment(3, '04', { amount: '31.00', failureCode: 'card_declined' }),
      payment(4, '05', { status: 'succeeded', failureCode: 'ignored' }),
      payment(5, '06', { amount: '15.5', failureCode: 'insufficient_funds' }),
      payment(6, '07'),
      payment(7, '07'),
    ];
    const expected = ['1001 30.6 card_declined 2 recovered', '1001 15.5 - 3'];
    const [shop, other] = [await createShop(store), await createShop(store)];
    assert.deepEqual((await importAll(store, shop, records)).refused, []);
    assert.deepEqual(await listStored(shop), expected);
    for (const record of [...records.slice(0, 2), ...records.slice(2).toReversed()]) {
      await importAll(store, other, [record]);
    }
    assert.deepEqual(await listStored(other), expected);

    // A correction changes the case, and a deletion takes it back.
    await importAll(store, shop, [
      payment(1, '02', { amount: '29.00' }),
      payment(7, '07', { failureCode: 'do_not_honor' }),
    ]);
    assert.deepEqual(await listStored(shop), [
      '1001 29 card_declined 2 recovered',
      '1001 15.5 do_not_honor 3',
    ]);
    await importAll(
      store,
      shop,
      [3, 7].map((id) => ({ type: 'delete', record: 'payment', id })),
    );
    assert.deepEqual(await listStored(shop), ['1001 29 - 1 recovered', '1001 15.5 - 2']);
    assert.deepEqual([...(await findLedgerDifferences(store.write, shop.id))], []);
  });

  test('sums are exact in currencies with any number of decimals', async () => {
    for (const [currency, amounts, total] of [
      ['JPY', ['1000', '999999999999'], 1_000_000_000_999],
      ['KWD', ['0.001', '1.999'], 2],
      ['EUR', ['0.10', '0.20'], 0.3],
    ] as const) {
      const shop = await createShop(store, { currency });
      const records = amounts.flatMap((amount, index) => [
        subscription(1001 + index, {
          lines: [
            {
              lineId: 1,
              productId: 1,
              productTitle: '',
              variantId: 1,
              quantity: 1,
              currentPrice: '1',
            },
          ],
        }),
        payment(index + 1, '02', { subscriptionId: 1001 + index, amount }),
      ]);
      assert.deepEqual((await importAll(store, shop, [plan(), ...records])).refused, []);
      const owed = totalOf(await listOutstanding(store.write, shop.id, at));
      assert.deepEqual([owed.count, amountOf(owed, currency)], [2, total]);
    }
  });

  /** All pages of a list. */
  async function pagesOf<Row extends CaseRow>(read: (last: Row | undefined) => Promise<Row[]>) {
    const rows: Row[] = [];
    for (;;) {
      const page = await read(rows.at(-1));
      if (page.length === 0) return rows;
      rows.push(...page);
    }
  }
  const keyOf = ({ subscriptionId, position }: CaseRow) => `${subscriptionId} ${position}`;

  async function compareLists(shopId: number, closed: readonly ClosedCases[]) {
    const { analyse } = store.primary;
    const owed = totalOf(await listOutstanding(analyse, shopId, endOfTime));
    const listsAt = (instant: number, present: number) =>
      Promise.all(
        (['oldest', 'newest', 'amount', 'lowest'] as const).map((order) =>
          pagesOf((last: (AfterOpen & CaseRow) | undefined) =>
            listOpenCases(analyse, shopId, {
              order,
              code: undefined,
              at: instant,
              after: last,
              limit: 2,
              now: present,
            }),
          ),
        ),
      );
    const lists = await listsAt(endOfTime, endOfTime);
    // As of an instant of the past, they are found in another way.
    assert.deepEqual(await listsAt(endOfTime, endOfTime + 1), lists);
    for (const instant of [about, about - 30 * day]) {
      const then = totalOf(await listOutstanding(analyse, shopId, instant));
      for (const list of await listsAt(instant, endOfTime)) assert.equal(list.length, then.count);
    }
    const [oldest = [], newest = [], highest = [], lowest = []] = lists;
    assert.equal(oldest.length, owed.count);
    assert.deepEqual(newest.map(keyOf), oldest.map(keyOf).toReversed());
    assert.deepEqual(highest.map(keyOf).toSorted(), oldest.map(keyOf).toSorted());
    assert.deepEqual(lowest.map(keyOf), highest.map(keyOf).toReversed());
    const amounts = highest.map(({ amount }) => Number(amount));
    assert.deepEqual(
      amounts,
      amounts.toSorted((a, b) => b - a),
    );

    const filter = {
      from: 0,
      until: endOfTime,
      result: undefined,
      code: undefined,
      attempts: [1, 1000],
      retries: [0, 1000],
    } as const;
    const closedIn = (order: ClosedOrder) =>
      pagesOf((last: (AfterClosed & CaseRow) | undefined) =>
        listClosedCases(analyse, shopId, filter, { order, after: last, limit: 2 }),
      );
    const all = await closedIn('newest');
    assert.deepEqual((await closedIn('oldest')).map(keyOf), all.map(keyOf).toReversed());
    assert.equal(new Set(all.map(keyOf)).size, totalOf(closed).count);
    const byAmount = await closedIn('amount');
    assert.deepEqual(byAmount.map(keyOf).toSorted(), all.map(keyOf).toSorted());
    assert.deepEqual((await closedIn('lowest')).map(keyOf), byAmount.map(keyOf).toReversed());
    const owedThen = byAmount.map(({ amount }) => Number(amount));
    assert.deepEqual(
      owedThen,
      owedThen.toSorted((a, b) => b - a),
    );
    const lost = { ...filter, result: 'lost', code: null, attempts: [2, 1000] } as const;
    const some = await listClosedCases(analyse, shopId, lost, { after: undefined, limit: 1000 });
    const counted = closed.filter(
      (each) => each.result === 'lost' && each.failureCode === null && each.attempts >= 2,
    );
    assert.equal(some.length, totalOf(counted).count);
  }

  test('matches its definition for any writes, and its lists have the rows that it counts', async () => {
    const { analyse } = store.primary;
    for (let seed = firstSeed; seed < firstSeed + worlds; seed += 1) {
      const random = randomOf(seed);
      const { id: shopId, currency } = await createShop(store);
      await preparePlans(store.write, shopId);
      for (let batch = 0; batch < 12; batch += 1) {
        await writeSomething(store.write, [shopId], randomOf(random.integer(2 ** 31)));
      }
      const everything = { from: 0, until: endOfTime };
      const plain = await recoveryFromRecords(store.write, shopId, everything, endOfTime);
      const closed = await listClosed(analyse, shopId, { from: 0, until: endOfTime });
      assert.deepEqual(
        sumsOf(closed, closedKeys),
        sumsOf(plain.closed, closedKeys),
        `seed ${seed}`,
      );
      const outstanding = await listOutstanding(analyse, shopId, endOfTime);
      assert.deepEqual(
        sumsOf(outstanding, ['failureCode']),
        sumsOf(plain.outstanding, ['failureCode']),
        `seed ${seed}`,
      );
      assert.deepEqual(
        sumsOf(attemptsOf(closed), attemptKeys),
        sumsOf(plain.attempts, attemptKeys),
        `seed ${seed}`,
      );
      await compareLists(shopId, closed);

      for (const until of [1, 2, 3].map(() => instantOf(random))) {
        const what = `seed ${seed}, at ${new Date(until).toISOString()}`;
        const from = until - 30 * day;
        const then = await recoveryFromRecords(store.write, shopId, { from, until }, until);
        const served = await listClosed(analyse, shopId, { from, until });
        assert.deepEqual(sumsOf(served, closedKeys), sumsOf(then.closed, closedKeys), what);
        assert.deepEqual(
          sumsOf(attemptsOf(served), attemptKeys),
          sumsOf(then.attempts, attemptKeys),
          what,
        );
        const owed = totalOf(await listOutstanding(analyse, shopId, until));
        assert.deepEqual(owed, totalOf(then.outstanding), what);
        // The summary's figures.
        const row = await summariseMetrics(analyse, shopId, until);
        assert.deepEqual(
          [
            owed.count,
            totalOf(served.filter(({ result }) => result === 'recovered')).count,
            totalOf(served).count,
          ],
          [row.dunningActive, row.dunningRecovered, row.dunningClosed],
          what,
        );
      }
      const differences = await store.write.begin((tx) =>
        findFigureDifferences(tx, { id: shopId, currency }, endOfTime),
      );
      assert.deepEqual(differences, [], `seed ${seed}`);
    }
  });

  test('differs from the records after tampering', async () => {
    const shop = await createShop(store);
    await importAll(store, shop, [plan(), subscription(1001), payment(1, '02')]);
    const figures = async () =>
      (await store.write.begin((tx) => findFigureDifferences(tx, shop, at))).map(
        ({ figure }) => figure,
      );
    assert.deepEqual(await figures(), []);
    await store.write`
      update dunning_cases set amount = amount + 1, failure_code = 'x' where shop_id = ${shop.id}`;
    assert.deepEqual(await figures(), [
      'recovery outstanding without a code',
      'recovery outstanding x',
    ]);
    const [difference] = await findLedgerDifferences(store.write, shop.id);
    assert.equal(difference?.table, 'dunning_cases');
  });
});
