import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { summariseMovements, toMovements } from '../../src/metrics/movements.ts';
import { findFigureDifferences } from '../../src/metrics/verify/figures.ts';
import { findLedgerDifferences } from '../../src/metrics/verify/sums.ts';
import type { Store } from '../../src/store/open.ts';
import { type Random, randomOf } from '../metrics/random.ts';
import { assertSameShop, dumpShop } from '../model/dump.ts';
import { plan, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { runs } from '../support/seed.ts';
import { type TestShop, createShop, importAll } from '../support/world.ts';

const day = (number: number) => `2026-10-${String(number).padStart(2, '0')}T00:00:00.000Z`;
const createdAt = day(1);

const line = (currentPrice: string, over: object = {}) => ({
  lineId: 1,
  productId: 11,
  productTitle: 'House Blend',
  variantId: 21,
  quantity: 1,
  currentPrice,
  ...over,
});
const priced = (price: string, over: object = {}) =>
  subscription(1, { customerId: 1, createdAt, updatedAt: null, lines: [line(price)], ...over });

/** The payments of a subscription, with what it was once worth a month. */
const paid = (
  id: number,
  ...seen: readonly (readonly [at: number, sum: string, shows?: string])[]
) => ({
  type: 'payment',
  id,
  subscriptionId: 1,
  cycle: String(id),
  status: 'succeeded',
  amount: '1.00',
  processedAt: day(20),
  seenValues: seen.map(([at, sum, shows = 'cycle']) => ({
    at,
    amounts: { 'month 1': sum },
    shows,
  })),
});
const on = (number: number) => Date.parse(day(number));

const shuffled = <Item>(items: readonly Item[], random: Random) =>
  items
    .map((item) => ({ item, place: random.integer(1_000_000) }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);

onOneDatabase('what subscriptions were worth', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  async function newShop() {
    const shop = await createShop(store, { currency: 'USD' });
    await importAll(store, shop, [plan()]);
    return shop;
  }

  /** Changes of value, such as `["2 10", "5 12.5"]`: the day of October, and the price at the plan's interval. */
  async function values({ id }: TestShop) {
    const [found] = await store.write<{ values: string[] | null }[]>`
      select (
        select json_agg(concat(case when since > '-infinity' then extract(day from since at time zone 'utc') end,
          ' ', coalesce(amounts ->> '', amounts::text)) order by since)
        from values_of(past_values)
      ) as values
      from subscriptions where shop_id = ${id}`;
    return found?.values ?? null;
  }

  async function movements({ id }: TestShop, from: string, to: string) {
    const period = { from: Date.parse(from), until: Date.parse(to) };
    const { currency: _, ...found } = toMovements(
      await summariseMovements(store.primary.analyse, id, period),
      'USD',
    );
    return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== 0));
  }

  async function importEach(shop: TestShop, records: readonly object[]) {
    for (const record of records) {
      const { refused } = await importAll(store, shop, [record], true);
      assert.deepEqual(refused, []);
    }
    assert.deepEqual([...(await findLedgerDifferences(store.write, shop.id))], []);
  }

  test('change at updatedAt, and expand or contract the MRR then', async () => {
    const shop = await newShop();
    await importEach(shop, [
      priced('10', { updatedAt: day(2) }),
      priced('15', { updatedAt: day(5) }),
      priced('15', { updatedAt: day(7), nextBillingDate: day(30) }),
      priced('12.5', { updatedAt: day(9) }),
    ]);
    assert.deepEqual(await values(shop), [' 10', '5 15', '9 12.5']);
    assert.deepEqual(await movements(shop, day(1), day(20)), {
      new: 10,
      expansion: 5,
      contraction: 2.5,
      closing: 12.5,
    });
    assert.deepEqual(await movements(shop, day(5), day(9)), {
      opening: 10,
      expansion: 5,
      closing: 15,
    });
  });

  test('are the same in whatever order records arrive, and how often', async () => {
    const { numRuns, seed } = runs(4);
    for (let world = seed; world < seed + numRuns; world += 1) {
      const random = randomOf(world);
      const isExport = random.chance(0.5);
      const versions = Array.from({ length: 2 + random.integer(7) }, (_, index) => {
        const at = day(2 + index * 2);
        const over = isExport ? { exportedAt: at, preserve: 'history' } : { updatedAt: at };
        return priced(random.oneOf(['10', '10', '12.5', '0']), {
          ...over,
          planId: random.oneOf([11, 11, 2]),
          ...(random.chance(0.3) && { intervalUnit: 'year', intervalCount: 1 }),
        });
      });
      // Plans are corrected in between, whether it has left them or not.
      const corrections = [11, 2, 11, 2].map((id, index) =>
        plan({ id, intervalUnit: random.oneOf(['month', 'year']), updatedAt: day(3 + index * 4) }),
      );
      const [shop, other] = [await newShop(), await newShop()];
      for (const each of [shop, other]) await importEach(each, [plan({ id: 2 })]);
      const records = [...versions, ...corrections];
      await importEach(shop, records);
      const again = records.filter(() => random.chance(0.3));
      await importEach(other, shuffled([...records, ...again], random));
      assert.deepEqual(await values(other), await values(shop), `seed ${world}`);
      // Exports have numbers in the order in which they came.
      const [one, two] = [
        await dumpShop(store.write, shop.id),
        await dumpShop(store.write, other.id),
      ];
      for (const table of ['subscriber_changes', 'metric_ledger', 'status_events']) {
        assert.deepEqual(two[table], one[table], `seed ${world}, ${table}`);
      }
    }
  });

  test('are those that payments show of it, in any order, and change nothing after them', async () => {
    const payments = [
      paid(1, [on(2), '10']),
      paid(2, [on(6), '20'], [on(4), '20']),
      paid(3, [on(8), '20']),
      // After what is stored, and before it began.
      paid(4, [on(13), '99']),
      paid(5, [on(1) - 1, '99']),
    ];
    const { numRuns, seed } = runs(4);
    for (let world = seed; world < seed + numRuns; world += 1) {
      const random = randomOf(world);
      const shop = await newShop();
      const twice = shuffled([...payments, ...payments], random);
      await importEach(shop, [priced('12.5', { updatedAt: day(12) }), ...twice]);
      assert.deepEqual(await values(shop), [' 10', '4 20', '12 12.5'], `seed ${world}`);
      await importEach(shop, [
        priced('12.5', { updatedAt: day(14) }),
        priced('15', { updatedAt: day(16) }),
      ]);
      assert.deepEqual(await values(shop), [' 10', '4 20', '12 12.5', '16 15'], `seed ${world}`);
    }
  });

  test('are not those of a part, unless the next known value is the same', async () => {
    const shop = await newShop();
    await importEach(shop, [
      priced('20', { updatedAt: day(12) }),
      paid(1, [on(9), '5', 'change']),
      paid(2, [on(10), '20', 'change']),
      paid(3, [on(3), '8']),
    ]);
    assert.deepEqual(await values(shop), [' 8', '10 20']);
    // In one import, whichever payment comes first.
    const both = [paid(2, [on(4), '10', 'change']), paid(3, [on(8), '10'])];
    for (const payments of [both, both.toReversed()]) {
      const other = await newShop();
      await importEach(other, [priced('20', { updatedAt: day(12) }), paid(1, [on(2), '5'])]);
      await importAll(store, other, payments, true);
      assert.deepEqual(await values(other), [' 5', '4 10', '12 20']);
    }
    // Of a subscription with several intervals, an invoice has those that are due.
    const yearly = line('120', {
      lineId: 2,
      variantId: 22,
      intervalUnit: 'year',
      intervalCount: 1,
    });
    const mixed = await newShop();
    await importEach(mixed, [
      priced('20', { updatedAt: day(12), lines: [line('20'), yearly] }),
      paid(1, [on(3), '20']),
    ]);
    assert.equal(await values(mixed), null);
  });

  const stated = (...events: readonly (readonly [number, string])[]) =>
    events.map(([at, mrr]) => ({ at: day(at), mrr }));

  test('come with a record, and are replaced by a later one that has them', async () => {
    const shop = await newShop();
    await importEach(shop, [
      priced('10', { updatedAt: day(10), valueEvents: stated([1, '8'], [3, '20'], [6, '10.00']) }),
    ]);
    const monthly = (at: string, amount: string) => `${at} {"month 1": "${amount}"}`;
    assert.deepEqual(await values(shop), [monthly('', '8'), monthly('3', '20'), '6 10']);
    assert.deepEqual(await movements(shop, day(1), day(20)), {
      new: 8,
      expansion: 12,
      contraction: 10,
      closing: 10,
    });
    await importEach(shop, [
      // What was seen earlier than the record that says its past.
      priced('1', { updatedAt: day(8) }),
      priced('11', { updatedAt: day(12) }),
    ]);
    assert.deepEqual(await values(shop), [monthly('', '8'), monthly('3', '20'), '6 10', '12 11']);
    await importEach(shop, [
      priced('11', { updatedAt: day(14), valueEvents: stated([1, '9'], [4, '11']) }),
      priced('5', { updatedAt: day(12) }),
    ]);
    assert.deepEqual(await values(shop), [monthly('', '9'), '4 11']);
  });

  test('at one instant count as what they come to', async () => {
    const shop = await newShop();
    await importEach(shop, [
      priced('30', { updatedAt: day(5), valueEvents: stated([1, '10'], [5, '20'], [5, '30']) }),
    ]);
    assert.deepEqual(await values(shop), [' {"month 1": "10"}', '5 30']);
    assert.deepEqual(await movements(shop, day(1), day(20)), {
      new: 10,
      expansion: 20,
      closing: 30,
    });
    // What came first is not what it was worth before, and a change there and back is none.
    const other = await newShop();
    const events = stated([3, '5'], [3, '6'], [7, '9'], [7, '6'], [9, '8']);
    await importEach(other, [priced('8', { updatedAt: day(9), valueEvents: events })]);
    assert.deepEqual(await movements(other, day(1), day(20)), { new: 6, expansion: 2, closing: 8 });
  });

  test('at one instant count as the last of them where they are stored', async () => {
    const shop = await newShop();
    await importEach(shop, [priced('30', { updatedAt: day(5) })]);
    const past = [
      [on(1), { '': '10' }],
      [on(5), { '': '20' }],
      [on(5), { '': '30' }],
      [on(5), null, true],
    ];
    await store.write`
      update subscriptions set past_values = ${JSON.stringify(past)}::jsonb where shop_id = ${shop.id}`;
    assert.deepEqual(await values(shop), [' 10', '5 30']);
    assert.deepEqual(await movements(shop, day(1), day(20)), {
      new: 10,
      expansion: 20,
      closing: 30,
    });
    assert.deepEqual(
      await store.write.begin((tx) => findFigureDifferences(tx, shop, Date.parse(day(20)))),
      [],
    );
  });

  test('of an older record do not count from when a later one was seen', async () => {
    const shop = await newShop();
    const valueEvents = [
      { at: day(1), mrr: '5' },
      { at: day(13), mrr: '15' },
    ];
    await importEach(shop, [
      priced('20', { updatedAt: day(10) }),
      priced('25', { updatedAt: day(12) }),
      // It was changed after its own time.
      priced('15', { updatedAt: day(5), valueEvents }),
    ]);
    assert.deepEqual(await values(shop), [' {"month 1": "5"}', '10 20', '12 25']);
  });

  test('are refused if they do not come to what the lines say, or not in order', async () => {
    const shop = await newShop();
    const refusal = async (over: object) => {
      const { refused } = await importAll(store, shop, [priced('10', over)]);
      return refused.map(({ reason }) => reason);
    };
    const [first] = await refusal({ valueEvents: [{ at: day(1), mrr: '9.99' }] });
    assert.match(
      String(first),
      /valueEvents must end in what the lines come to a month, 10\.00, not in 9\.99/,
    );
    const yearly = { intervalUnit: 'year', intervalCount: 1 };
    assert.deepEqual(await refusal({ ...yearly, valueEvents: [{ at: day(1), mrr: '0.834' }] }), []);
    const unordered = [
      { at: day(5), mrr: '9' },
      { at: day(4), mrr: '10' },
    ];
    const early = [{ at: '2026-09-30T00:00:00Z', mrr: '10' }];
    const reasons = [
      ...(await refusal({ valueEvents: unordered })),
      ...(await refusal({ valueEvents: early })),
    ];
    assert.match(reasons.join(), /valueEvents must be oldest first: number 2 is before number 1/);
    assert.match(reasons.join(), /valueEvents must not begin before createdAt/);
  });

  test('take the interval of their plan, which a correction of the plan corrects', async () => {
    const shop = await newShop();
    await importEach(shop, [
      priced('10', { updatedAt: day(2) }),
      priced('15', { updatedAt: day(5) }),
      { ...plan(), intervalUnit: 'month', intervalCount: 5, updatedAt: day(6) },
    ]);
    assert.deepEqual(await movements(shop, day(1), day(20)), { new: 2, expansion: 1, closing: 3 });
  });

  test('keep the interval of a plan that was left', async () => {
    const shop = await newShop();
    const yearly = { ...plan(), id: 2, intervalUnit: 'year', intervalCount: 1 };
    const records = [
      priced('10', { updatedAt: day(2) }),
      priced('144', { updatedAt: day(5), planId: 2 }),
    ];
    const other = await newShop();
    await importEach(shop, [yearly, ...records]);
    await importEach(other, [yearly, ...records.toReversed()]);
    for (const each of [shop, other]) {
      assert.deepEqual(await movements(each, day(1), day(20)), {
        new: 10,
        expansion: 2,
        closing: 12,
      });
    }
    await assertSameShop(store.write, shop.id, other.id);
  });

  test('need no plan that is not stored, unless they are billed at its interval', async () => {
    const shop = await newShop();
    const monthly = { intervalUnit: 'month', intervalCount: 1 };
    await importEach(shop, [
      priced('15', { updatedAt: day(5) }),
      priced('12', { updatedAt: day(3), planId: 99 }),
      priced('10', { updatedAt: day(2), planId: 99, ...monthly }),
    ]);
    assert.deepEqual(await values(shop), [' {"month 1": "10"}', '5 15']);
  });

  test('are read in one pass, however many there are', async () => {
    const shop = await newShop();
    const start = Date.parse(createdAt);
    const valueEvents = Array.from({ length: 4000 }, (_, index) => ({
      at: new Date(start + index * 60_000).toISOString(),
      mrr: index % 2 === 0 ? '11' : '10',
    }));
    await importEach(shop, [priced('10', { updatedAt: day(10), valueEvents })]);
    assert.deepEqual(await movements(shop, day(1), day(20)), {
      new: 11,
      expansion: 1999,
      contraction: 2000,
      closing: 10,
    });
  });

  test('of one customer are netted at an instant', async () => {
    const shop = await newShop();
    const of = (id: number, price: string, updatedAt: string) => ({
      ...priced(price, { updatedAt }),
      id,
    });
    await importEach(shop, [
      of(1, '10', day(2)),
      of(2, '10', day(2)),
      of(1, '17', day(5)),
      of(2, '6', day(5)),
    ]);
    assert.deepEqual(await movements(shop, day(3), day(20)), {
      opening: 20,
      expansion: 3,
      closing: 23,
    });
  });
});
