import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { monthBefore } from '../../src/metrics/bounds.ts';
import {
  type CustomerOrder,
  type CustomerRow,
  type Risk,
  listCustomers,
} from '../../src/metrics/customers.ts';
import { toSummary } from '../../src/metrics/figures.ts';
import { summariseMetrics } from '../../src/metrics/summary.ts';
import { findLedgerDifferences, rebuildMetrics } from '../../src/metrics/verify/sums.ts';
import { type Ratio, add, roundHalfAway, unitsOf, zero } from '../../src/money.ts';
import type { Sql } from '../../src/store/database.ts';
import type { Store } from '../../src/store/open.ts';
import { line, plan, session, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { runs } from '../support/seed.ts';
import { type TestShop, createShop, importAll, now } from '../support/world.ts';
import {
  type HeldSubscription,
  activeValue,
  createdAt,
  readHeld,
  statusBefore,
} from './past-model.ts';
import { instantOf, timeOf } from './instants.ts';
import { type Random, randomOf } from './random.ts';
import { preparePlans, writeSomething } from './writers.ts';

const day = 86_400_000;
const { numRuns: worlds, seed: firstSeed } = runs(4);
const orders = ['highest', 'lowest', 'newest', 'oldest'] as const;
const riskNames = ['failing', 'skipping', 'leaving'] as const;

/** What happens to a subscription, beside its statuses. Times are epoch milliseconds. */
interface Events {
  readonly paid: readonly { readonly amount: string; readonly at: number }[];
  readonly sessions: readonly { readonly isSkip: boolean; readonly at: number }[];
  readonly isPausedUndated: boolean;
  readonly cases: readonly { readonly openedAt: number; readonly closedAt: number | null }[];
}

async function readEvents(sql: Sql, shopId: number): Promise<ReadonlyMap<number, Events>> {
  const rows = await sql<(Events & { id: number })[]>`
    select s.subscription_id as id, s.status = 'paused' and s.status_since is null as "isPausedUndated", (
        select coalesce(json_agg(json_build_object('amount', amount::text, 'at', ms)), '[]') from (
          select amount, date_part('epoch', processed_at) * 1000 as ms from payments p
          where p.shop_id = s.shop_id and p.subscription_id = s.subscription_id and p.status = 'succeeded'
          union all
          select -r.amount, date_part('epoch', refunded_at) * 1000 from refunds r
          join payments p on p.shop_id = r.shop_id and p.payment_id = r.payment_id
          where r.shop_id = s.shop_id and p.subscription_id = s.subscription_id
        ) paid
      ) as paid, (
        select coalesce(json_agg(json_build_object('at', date_part('epoch', created_at) * 1000, 'isSkip',
          coalesce(outcome = 'saved' and offer_type = 'skip_next', false))), '[]')
        from cancellation_sessions c
        where c.shop_id = s.shop_id and c.subscription_id = s.subscription_id
      ) as sessions, (
        select coalesce(json_agg(json_build_object('openedAt', date_part('epoch', opened_at) * 1000,
          'closedAt', date_part('epoch', closed_at) * 1000)), '[]')
        from dunning_cases d where d.shop_id = s.shop_id and d.subscription_id = s.subscription_id
      ) as cases
    from subscriptions s where s.shop_id = ${shopId}`;
  return new Map(rows.map(({ id, ...events }) => [id, events]));
}

const units = (text: string) =>
  text.startsWith('-') ? -unitsOf(text.slice(1), 12) : unitsOf(text, 12);

/** The customers of a shop at an instant, from the definition, as rows without their place. */
function customersOf(
  held: readonly HeldSubscription[],
  events: ReadonlyMap<number, Events>,
  at: number,
) {
  return [...Map.groupBy(held, ({ customerId }) => customerId)].flatMap(([customerId, all]) => {
    const own = all.filter((each) => createdAt(each) <= at);
    if (own.length === 0) return [];
    const happened = own.map(({ id }) => events.get(id) as Events);
    const sessions = happened.flatMap((each) => each.sessions).filter((each) => each.at < at);
    const active = own.filter((each) => statusBefore(each, at + 1) === 'active');
    const isLive = own.some(
      (each) =>
        ['active', 'paused'].includes(statusBefore(each, at + 1)) ||
        events.get(each.id)?.isPausedUndated,
    );
    return {
      customerId,
      since: Math.min(...all.map(createdAt)),
      mrr: ratioOf(activeValue(all, at + 1)),
      later: ratioOf(activeValue(all, Infinity)),
      paid: happened
        .flatMap((each) => each.paid)
        .filter((each) => each.at < at)
        .reduce((sum, each) => sum + units(each.amount), 0n),
      subscriptions: own.length,
      active: active.length,
      trials: active.filter(({ trialEndsAt }) => trialEndsAt > at).length,
      risks: {
        failing: happened
          .flatMap((each) => each.cases)
          .some(({ openedAt, closedAt }) => openedAt <= at && (closedAt ?? Infinity) > at),
        skipping:
          isLive && sessions.filter((each) => each.isSkip && each.at >= at - 180 * day).length >= 2,
        leaving: isLive && sessions.some((each) => each.at >= at - 90 * day),
      },
    };
  });
}

type Expected = ReturnType<typeof customersOf>[number];

const ratioOf = ([numerator, denominator]: readonly [bigint, bigint]): Ratio => ({
  numerator,
  denominator: denominator * 10n ** 12n,
});

const compare = (a: Ratio, b: Ratio) =>
  Number(a.numerator * b.denominator - b.numerator * a.denominator);

function inOrder(customers: readonly Expected[], order: CustomerOrder): Expected[] {
  const isByValue = order === 'highest' || order === 'lowest';
  const ascending = customers.toSorted(
    (a, b) =>
      (isByValue ? compare(a.later, b.later) : a.since - b.since) || a.customerId - b.customerId,
  );
  return order === 'highest' || order === 'newest' ? ascending.toReversed() : ascending;
}

/** What rows and what is expected have in common, as texts: exact amounts to nine decimals. */
const shown = ({ mrr, later, paid, since, ...row }: Expected) => ({
  ...row,
  since,
  mrr: roundHalfAway(mrr, 9),
  later: roundHalfAway(later, 9),
  paid: String(paid),
});

const shownRow = ({ value, mrr, paid, customerId, since, subscriptions, ...row }: CustomerRow) => ({
  customerId,
  since,
  subscriptions,
  active: row.active,
  trials: row.trials,
  risks: row.risks,
  mrr: roundHalfAway(mrr, 9),
  later: roundHalfAway({ numerator: units(value), denominator: 10n ** 12n }, 9),
  paid: String(units(paid)),
});

onOneDatabase('customers', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  /** The rows of all pages. */
  async function walk(
    shopId: number,
    at: number,
    page: { order: CustomerOrder; risk: Risk | undefined; limit: number },
  ): Promise<CustomerRow[]> {
    const rows: CustomerRow[] = [];
    for (;;) {
      const found = await listCustomers(store.primary.analyse, shopId, at, {
        ...page,
        after: rows.at(-1),
      });
      rows.push(...found);
      if (found.length < page.limit) return rows;
    }
  }

  const seen = new Set<string>();

  async function check(shopId: number, random: Random, at: number, where: string) {
    const held = await readHeld(store.write, shopId);
    const customers = customersOf(held, await readEvents(store.write, shopId), at);
    const order = random.oneOf(orders);
    for (const risk of [undefined, ...riskNames]) {
      const expected = inOrder(customers, order).filter((each) => !risk || each.risks[risk]);
      const rows = await walk(shopId, at, { order, risk, limit: 1 + random.integer(3) });
      assert.deepEqual(rows.map(shownRow), expected.map(shown), `${order}, ${risk}, ${where}`);
      for (const { total } of rows) assert.equal(total, risk ? expected.length : 0, where);
      if (risk && expected.length > 0) seen.add(risk);
    }
    if (customers.some((each) => each.trials > 0 && compare(each.mrr, each.later) < 0))
      seen.add('trial');
    const period = monthBefore(at);
    const summary = toSummary(await summariseMetrics(store.write, shopId, at, period), 'USD', at);
    const all = await walk(shopId, at, { order, risk: undefined, limit: 100 });
    const total = all.reduce((sum, { mrr }) => add(sum, mrr), zero);
    assert.equal(roundHalfAway(total, 2), summary.mrr, where);
    assert.equal(all.filter(({ active }) => active > 0).length, summary.activeSubscribers, where);
  }

  /** A shop of random records, in which some customers skip orders. */
  async function createWorld(random: Random): Promise<number> {
    const { id: shopId } = await createShop(store);
    await preparePlans(store.write, shopId);
    for (let batch = 0; batch < 40; batch += 1) await writeSomething(store.write, [shopId], random);
    const sessions = Array.from({ length: 12 }, (_, index) => ({
      id: 100 + index,
      subscription: 1 + random.integer(9),
      outcome: random.oneOf(['saved', 'saved', 'saved', 'abandoned']),
      at: new Date(timeOf(random)).toISOString(),
    }));
    await store.write`
      insert into cancellation_sessions
      select ${shopId}, r.id, subscription, 'other', 'skip_next', r.outcome, at, null, gen_random_uuid()
      from json_to_recordset(${JSON.stringify(sessions)}::text::json)
        as r(id bigint, subscription bigint, outcome text, at timestamptz)
      join subscriptions s on s.shop_id = ${shopId} and s.subscription_id = subscription`;
    assert.deepEqual(await findLedgerDifferences(store.write, shopId), []);
    return shopId;
  }

  test('are worth at any instant what the records say, on pages of each order and risk', async () => {
    for (let world = 0; world < worlds; world += 1) {
      const random = randomOf(firstSeed + world);
      const shopId = await createWorld(random);
      for (let time = 0; time < 25; time += 1) {
        const instant = instantOf(random);
        const where = `world ${world}, now ${new Date(instant).toISOString()}`;
        await check(shopId, random, instant, where);
      }
    }
    assert.deepEqual([...seen].toSorted(), ['failing', 'leaving', 'skipping', 'trial']);
  });

  const at = Date.parse(now);
  const past = (days: number) => new Date(at - days * day).toISOString();
  const payment = (id: number, subscriptionId: number, over: object = {}) => ({
    type: 'payment',
    id,
    subscriptionId,
    cycle: String(id),
    status: 'succeeded',
    amount: '30.00',
    processedAt: past(20),
    ...over,
  });
  const costs = (currentPrice: string) => ({ lines: [{ ...line, quantity: 1, currentPrice }] });

  /** 501 has two subscriptions, 502 is in a trial, 503 has left, 504 is billed by the week and skips. */
  const records = [
    plan(),
    subscription(1, { customerId: 501, createdAt: past(300), ...costs('30.00') }),
    subscription(2, {
      customerId: 501,
      createdAt: past(90),
      intervalUnit: 'year',
      intervalCount: 1,
      ...costs('100.00'),
    }),
    subscription(3, {
      customerId: 502,
      createdAt: past(3),
      trialEndsAt: past(-4),
      ...costs('50.00'),
    }),
    subscription(4, {
      customerId: 503,
      createdAt: past(200),
      status: 'cancelled',
      statusEvents: [{ at: past(95), to: 'cancelled' }],
    }),
    subscription(5, {
      customerId: 504,
      createdAt: past(100),
      intervalUnit: 'week',
      intervalCount: 2,
      ...costs('9.99'),
    }),
    payment(1, 1),
    payment(2, 2, { amount: '100.00' }),
    payment(3, 2, { status: 'failed', processedAt: past(5) }),
    payment(4, 4),
    { type: 'refund', id: 1, paymentId: 4, amount: '12.50', refundedAt: past(2) },
    session(1, { subscriptionId: 4, outcome: 'cancelled', createdAt: past(95) }),
    session(2, {
      subscriptionId: 5,
      outcome: 'saved',
      offerType: 'skip_next',
      createdAt: past(179),
    }),
    session(3, {
      subscriptionId: 5,
      outcome: 'saved',
      offerType: 'skip_next',
      createdAt: past(91),
    }),
    session(4, { subscriptionId: 1, outcome: 'abandoned', createdAt: past(90) }),
  ];

  const first = { order: 'highest', risk: undefined, after: undefined, limit: 10 } as const;
  const list = (
    shop: TestShop,
    page: Partial<Parameters<typeof listCustomers>[3]> = {},
    time = at,
  ) => listCustomers(store.primary.analyse, shop.id, time, { ...first, ...page });
  const summaryOf = ({ customerId, mrr, paid, active, subscriptions, trials }: CustomerRow) =>
    `${customerId}: ${roundHalfAway(mrr, 2)} a month, ${paid} paid, ${active} of ${subscriptions} active, ${trials} in trial`;
  const ids = (rows: readonly CustomerRow[]) => rows.map(({ customerId }) => customerId);

  test('have their value, what they paid, their subscriptions and risks', async () => {
    const shop = await createShop(store);
    assert.deepEqual((await importAll(store, shop, records)).refused, []);
    const rows = await list(shop);
    assert.deepEqual(rows.map(summaryOf), [
      '502: 0 a month, 0 paid, 1 of 1 active, 1 in trial',
      '501: 38.33 a month, 130.00 paid, 2 of 2 active, 0 in trial',
      '504: 21.7 a month, 0 paid, 1 of 1 active, 0 in trial',
      '503: 0 a month, 17.50 paid, 0 of 1 active, 0 in trial',
    ]);
    assert.deepEqual(ids(await list(shop, { order: 'oldest' })), [501, 503, 504, 502]);
    assert.deepEqual(ids(await list(shop, { risk: 'failing' })), [501]);
    assert.deepEqual(ids(await list(shop, { risk: 'skipping' })), [504]);
    assert.deepEqual(ids(await list(shop, { risk: 'leaving' })), [501]);
    // 90 days to the millisecond; the second skip within 180 days is not yet over.
    assert.deepEqual(ids(await list(shop, { risk: 'leaving' }, at + 1)), []);
    assert.deepEqual(ids(await list(shop, { risk: 'skipping' }, at + day)), [504]);
    assert.deepEqual(ids(await list(shop, { risk: 'skipping' }, at + day + 1)), []);
    // What is paid or refunded exactly now is not yet in it, as in the revenue of 30 days.
    const paidBy503 = async (time: number) =>
      (await list(shop, {}, time)).find(({ customerId }) => customerId === 503)?.paid;
    assert.equal(await paidBy503(at - 20 * day), '0');
    assert.equal(await paidBy503(at - 20 * day + 1), '30.00');
    assert.equal(await paidBy503(at - 2 * day), '30.00');
    assert.equal(await paidBy503(at - 2 * day + 1), '17.50');
    // The trial ends without a record.
    const [later] = await list(shop, {}, at + 4 * day);
    assert.equal(later && summaryOf(later), '502: 50 a month, 0 paid, 1 of 1 active, 0 in trial');
  });

  test('follow their records: corrected, moved to another customer and deleted', async () => {
    const [shop, other] = [await createShop(store), await createShop(store)];
    await importAll(store, other, records);
    await importAll(store, shop, records.toReversed());
    await importAll(store, shop, records);
    const values = async () =>
      (await list(shop)).map(({ customerId, value }) => `${customerId} ${value}`);
    assert.deepEqual(await values(), [
      '502 50',
      '501 38.333333333333',
      '504 21.704464285714',
      '503 0',
    ]);
    await importAll(store, shop, [
      subscription(3, { customerId: 501, createdAt: past(3), ...costs('1.00') }),
      { type: 'delete', record: 'subscription', id: 1 },
      { type: 'delete', record: 'subscription', id: 4 },
      plan({ intervalUnit: 'day', intervalCount: 1 }),
    ]);
    // 100 / 12 + 365 / 12.
    assert.deepEqual(await values(), ['501 38.75', '504 21.704464285714']);
    assert.deepEqual(await findLedgerDifferences(store.write, shop.id), []);
    assert.deepEqual(ids(await list(other)), [502, 501, 504, 503]);
  });

  test('with a risk are those of its newest signs, and it is said that there are more', async () => {
    const shop = await createShop(store);
    await importAll(store, shop, records);
    const visits = (count: number, from: number) => store.write`
      insert into cancellation_sessions
      select ${shop.id}, n, 5, 'other', null, 'abandoned', ${past(10)}, null, gen_random_uuid()
      from generate_series(${from}::int, ${from + count - 1}::int) n`;
    await visits(4_999, 1_000);
    const rows = await list(shop, { risk: 'leaving' });
    assert.deepEqual(ids(rows), [501, 504]);
    assert.deepEqual(
      rows.map(({ isCut }) => isCut),
      [false, false],
    );
    await visits(1, 9_000);
    const [only, ...others] = await list(shop, { risk: 'leaving' });
    assert.deepEqual([only?.customerId, only?.isCut, only?.total, others], [504, true, 1, []]);
  });

  test('are verified, and rebuilt', async () => {
    const shop = await createShop(store);
    await importAll(store, shop, records);
    await store.write`
      update customer_values set value = 1 where shop_id = ${shop.id} and customer_id = 503`;
    await store.write`insert into customer_values values (${shop.id}, 999, ${now}, 5)`;
    const found = await findLedgerDifferences(store.write, shop.id);
    assert.deepEqual(
      found.map(({ table, key }) => `${table} ${key}`),
      ['customer_values 503', 'customer_values 999'],
    );
    await rebuildMetrics(store.write, shop.id);
    assert.deepEqual(await findLedgerDifferences(store.write, shop.id), []);
  });
});
