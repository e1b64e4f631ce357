import assert from 'node:assert/strict';
import { after, before as beforeAll, test } from 'node:test';
import { type Explanation, explain } from '../../src/metrics/explain/explain.ts';
import type { Dimension, ExplainedFigure } from '../../src/metrics/explain/question.ts';
import { generateShop } from '../../src/demo/generate.ts';
import type { DemoRecord } from '../../src/demo/records.ts';
import type { Store } from '../../src/store/open.ts';
import { line, plan, session, subscription } from '../rest/records.ts';
import { onEveryDatabase } from '../support/databases.ts';
import { type TestShop, createShop, importAll, now } from '../support/world.ts';
import { payment } from './edge-records.ts';
import { randomOf } from './random.ts';

const at = Date.parse;
/** Ten days each, and now is the end of the second. */
const periods = {
  before: { from: at('2026-10-31T12:00:00Z'), until: at('2026-11-10T12:00:00Z') },
  now: { from: at('2026-11-10T12:00:00Z'), until: at(now) },
};

/** So many subscriptions of a plan, of which the first left, at a time each. */
function many(
  planId: number,
  count: number,
  leaving: readonly string[] = [],
  over: object = {},
): object[] {
  return Array.from({ length: count }, (_, index) => {
    const id = planId * 1000 + index;
    const leftAt = leaving[index];
    return subscription(id, {
      customerId: id,
      planId,
      createdAt: '2026-01-05T10:00:00Z',
      updatedAt: leftAt ?? '2026-01-05T10:00:00Z',
      ...(leftAt && { status: 'cancelled', statusEvents: [{ at: leftAt, to: 'cancelled' }] }),
      ...over,
    });
  });
}

const isSubscription = (
  record: DemoRecord,
): record is Extract<DemoRecord, { type: 'subscription' }> => record.type === 'subscription';

const times = (count: number, time: string) => Array<string>(count).fill(time);
const [earlier, later] = ['2026-11-05T00:00:00Z', '2026-11-15T00:00:00Z'];

onEveryDatabase('what explains a change', (open) => {
  let store: Store;
  beforeAll(() => {
    store = open();
  });
  after(() => store.close());

  async function shopOf(records: readonly object[], options = {}): Promise<TestShop> {
    const shop = await createShop(store, options);
    const plans = [plan(), plan({ id: 12, name: 'Weekly box', intervalUnit: 'week' })];
    const { refused } = await importAll(store, shop, [...plans, ...records]);
    assert.deepEqual(refused, []);
    return shop;
  }

  const ask = (shop: TestShop, figure: ExplainedFigure, by: Dimension, of = periods) =>
    explain(store.primary.analyse, shop.id, { figure, by, ...of }, at(now));

  /** Rounded to 6 decimals, since parts are floating point. */
  const rounded = ({ before, now: current, change, values }: Explanation) => {
    const round = (value: number | null | undefined) =>
      value === null || value === undefined ? value : Math.round(value * 1e6) / 1e6 + 0;
    return [
      [round(before), round(current), round(change)],
      ...values.map((each) =>
        [
          each.value,
          [each.before.n, each.before.d],
          [each.now.n, each.now.d],
          round(each.rate),
          round(each.mix),
          round(each.part),
          each.isChance,
        ].filter((cell) => cell !== undefined),
      ),
    ];
  };

  test('churn of which only the rate of one plan changed', async () => {
    // Plan 11: 100 of which 10 leave in each period, but 90 at risk in the second. Plan 12: 100 and 10, then 90 and 36.
    const shop = await shopOf([
      ...many(11, 100, [...times(10, earlier), ...times(9, later)]),
      ...many(12, 100, [...times(10, earlier), ...times(36, later)]),
    ]);
    // 20 of 200 before, 45 of 180 now: 0.1 and 0.25. Each plan is half of both: only rates, (0.4 − 0.1) / 2.
    assert.deepEqual(rounded(await ask(shop, 'churnRate', 'plan')), [
      [0.1, 0.25, 0.15],
      [12, [10, 100], [36, 90], 0.15, 0, 0.15, false],
      [11, [10, 100], [9, 90], 0, 0, 0, true],
    ]);
    const { values } = await ask(shop, 'churnRate', 'plan');
    assert.deepEqual(
      values.map(({ label }) => label),
      ['Weekly box', 'Monthly box'],
    );
    // By interval, the plans' own; all are of an age, a price and a source.
    const byInterval = await ask(shop, 'churnRate', 'interval');
    assert.deepEqual(
      byInterval.values.map(({ value, label, now: { n } }) => [value, label, n]),
      [
        ['week-1', 'Every week', 36],
        ['month-1', 'Every month', 9],
      ],
    );
    const whole = [[20, 200], [45, 180], 0.15, 0, 0.15, false];
    for (const [by, value] of [
      ['age', '180-364'],
      ['price', '30-50'],
      ['source', 'records'],
    ] as const) {
      assert.deepEqual(rounded(await ask(shop, 'churnRate', by))[1], [value, ...whole], by);
    }
  });

  test('what one platform sends is one source, and what is stored without is unknown', async () => {
    const shop = await shopOf(many(11, 30, times(15, later)));
    const feeds = { 0: 'stripe', 1: 'stripe-webhooks', 2: 'stripe-file', 3: null } as const;
    for (const [rest, feed] of Object.entries(feeds)) {
      await store.write`
        update subscriptions set feed = ${feed} where shop_id = ${shop.id} and subscription_id % 4 = ${Number(rest)}`;
    }
    const { values } = await ask(shop, 'churnRate', 'source');
    assert.deepEqual(
      values.map(({ value, label, now: { n, d } }) => [value, label, n, d]),
      [
        ['stripe', 'Stripe', 12, 23],
        [null, 'Unknown', 3, 7],
      ],
    );
  });

  test('churn of which only the mix changed, with plans that are there in one period only', async () => {
    // Plan 11 loses 10 % in both; plan 12 begins in the second and loses 50 %.
    const shop = await shopOf([
      ...many(11, 100, [...times(10, earlier), ...times(9, later)]),
      ...many(12, 60, times(30, later), { createdAt: '2026-11-11T00:00:00Z' }),
    ]);
    // Before 10 / 100 = 0.1; now 39 / 150 = 0.26. Weights 1 and 0, then 0.6 and 0.4; the mean of the whole is 0.18.
    // Plan 11: (0.6 − 1)(0.1 − 0.18) = 0.032. Plan 12: (0.4 − 0)(0.5 − 0.18) = 0.128.
    assert.deepEqual(rounded(await ask(shop, 'churnRate', 'plan')), [
      [0.1, 0.26, 0.16],
      [12, [0, 0], [30, 60], 0, 0.128, 0.128, false],
      [11, [10, 100], [9, 90], 0, 0.032, 0.032, false],
    ]);
    // The other way round, the rate before is that of the second.
    const turned = { before: periods.now, now: periods.before };
    assert.deepEqual(rounded(await ask(shop, 'churnRate', 'plan', turned)), [
      [0.26, 0.1, -0.16],
      [12, [30, 60], [0, 0], 0, -0.128, -0.128, false],
      [11, [9, 90], [10, 100], 0, -0.032, -0.032, false],
    ]);
  });

  test('a base that is empty explains nothing, and a small one may be chance', async () => {
    const shop = await shopOf(many(11, 9, times(3, later), { createdAt: '2026-11-11T00:00:00Z' }));
    assert.deepEqual(rounded(await ask(shop, 'churnRate', 'plan')), [
      [null, 3 / 9, null].map((each) => each && Math.round(each * 1e6) / 1e6),
      [11, [0, 0], [3, 9], null, null, null, true],
    ]);
    const small = await shopOf(many(11, 9, times(3, later)));
    assert.deepEqual(rounded(await ask(small, 'churnRate', 'plan')), [
      [0, 0.333333, 0.333333],
      [11, [0, 9], [3, 9], 0.333333, 0, 0.333333, true],
    ]);
    const empty = await shopOf([]);
    assert.deepEqual(rounded(await ask(empty, 'saveRate', 'reason')), [[null, null, null]]);
    assert.deepEqual(rounded(await ask(empty, 'mrr', 'plan')), [[0, 0, 0]]);
  });

  test('subscriptions that left, came back and left again, count as at the end of each period', async () => {
    const [a, b, c] = ['2026-11-02T00:00:00Z', '2026-11-04T00:00:00Z', '2026-11-15T00:00:00Z'];
    const shop = await shopOf([
      // Failed, then cancelled: lost in the first period, and not at risk in the second.
      subscription(1, {
        createdAt: '2026-10-01T00:00:00Z',
        updatedAt: c,
        status: 'cancelled',
        statusEvents: [
          { at: a, to: 'failed' },
          { at: c, to: 'cancelled' },
        ],
      }),
      // Failed, and came back in the second: lost in the first as it was seen then.
      subscription(2, {
        createdAt: '2026-10-20T00:00:00Z',
        updatedAt: c,
        statusEvents: [
          { at: b, to: 'failed' },
          { at: c, to: 'active' },
        ],
      }),
      // Came back in the first, and expired in the second, which is no churn.
      subscription(3, {
        createdAt: '2026-10-20T00:00:00Z',
        updatedAt: c,
        status: 'expired',
        statusEvents: [
          { at: '2026-10-21T00:00:00Z', to: 'failed' },
          { at: b, to: 'active' },
          { at: c, to: 'expired' },
        ],
      }),
      // Since when is unknown.
      subscription(4, {
        createdAt: '2026-10-20T00:00:00Z',
        updatedAt: null,
        status: 'cancelled',
        statusEvents: [{ at: null, to: 'cancelled' }],
      }),
    ]);
    // Ages when they left: 32 and 15 days, 26 when it expired; at the ends, the third is 21 and the second 31 days old.
    // Before 2 of 3, now 0 of 2; the mean is 1 / 3. Shares of 0-29: 2 / 3 and 1 / 2, of 30-89: 1 / 3 and 1 / 2.
    // 0-29: −0.5 × 7 / 12, and −1 / 6 × (0.25 − 1 / 3). 30-89: −1 × 5 / 12, and 1 / 6 × (0.5 − 1 / 3).
    assert.deepEqual(rounded(await ask(shop, 'churnRate', 'age')), [
      [0.666667, 0, -0.666667],
      ['30-89', [1, 1], [0, 1], -0.416667, 0.027778, -0.388889, true],
      ['0-29', [1, 2], [0, 1], -0.291667, 0.013889, -0.277778, true],
    ]);
  });

  test('MRR by the values of each dimension, at the ends of both periods', async () => {
    const lines = (price: string, more: object = {}) => [
      { ...line, quantity: 1, currentPrice: price, ...more },
    ];
    const shop = await shopOf([
      // Active all the time: 30 a month.
      subscription(1, { createdAt: '2026-10-01T00:00:00Z', lines: lines('30') }),
      // Paused in the second period: 12 a week are 12 × 365 / 84.
      subscription(2, {
        planId: 12,
        createdAt: '2026-10-01T00:00:00Z',
        updatedAt: later,
        status: 'paused',
        statusEvents: [{ at: later, to: 'paused' }],
        lines: lines('12'),
      }),
      // Its trial ends in the second period: 8.
      subscription(3, { createdAt: '2026-10-30T00:00:00Z', trialEndsAt: later, lines: lines('8') }),
      // Began in the second period: 20 a month, and 120 a year for another line.
      subscription(4, {
        createdAt: later,
        lines: [
          ...lines('20'),
          ...lines('120', { lineId: 2, intervalUnit: 'year', intervalCount: 1 }),
        ],
      }),
      // In its trial now.
      subscription(5, {
        createdAt: later,
        trialEndsAt: '2026-12-01T00:00:00Z',
        lines: lines('70'),
      }),
      // Has an interval of its own, and left in the first.
      subscription(6, {
        createdAt: '2026-10-01T00:00:00Z',
        updatedAt: earlier,
        status: 'cancelled',
        intervalUnit: 'year',
        intervalCount: 1,
        statusEvents: [{ at: earlier, to: 'cancelled' }],
        lines: lines('240'),
      }),
    ]);
    const weekly = 52.142857;
    // 30 + 52.14 before, 30 + 8 + 30 now.
    assert.deepEqual(rounded({ ...(await ask(shop, 'mrr', 'plan')) }).slice(0, 1), [
      [82.142857, 68, -14.142857],
    ]);
    const shown = async (by: Dimension) =>
      (await ask(shop, 'mrr', by)).values.map(({ value, before, now: { n }, part }) => [
        value,
        ...[before.n, n, part].map((each) => Math.round((each as number) * 1e6) / 1e6),
      ]);
    assert.deepEqual(await shown('plan'), [
      [12, weekly, 0, -weekly],
      [11, 30, 68, 38],
    ]);
    // The whole subscription has its own interval, and the price of all lines.
    assert.deepEqual(await shown('interval'), [
      ['week-1', weekly, 0, -weekly],
      ['month-1', 30, 68, 38],
    ]);
    assert.deepEqual(await shown('price'), [
      ['10-20', weekly, 0, -weekly],
      ['100-200', 0, 30, 30],
      ['5-10', 0, 8, 8],
      ['30-50', 30, 30, 0],
    ]);
  });

  test('new subscribers, recoveries and saves by plan, and saves by reason', async () => {
    const notUsing = { createdAt: later, detectedReason: 'not_using' };
    const shop = await shopOf([
      ...many(11, 12, [], { createdAt: earlier }),
      ...many(12, 30, [], { createdAt: later }),
      // Not the first of its customer.
      subscription(1, { customerId: 11_000, createdAt: later }),
      ...Array.from({ length: 12 }, (_, index) => [
        payment(2 * index + 1, 11_000 + index, 'failed', '2026-11-06T00:00:00Z'),
        ...(index < 10
          ? [
              payment(
                2 * index + 2,
                11_000 + index,
                'succeeded',
                index < 4 ? '2026-11-08T00:00:00Z' : later,
              ),
            ]
          : []),
      ]).flat(),
      session(1, { subscriptionId: 11_000, outcome: 'saved', createdAt: '2026-11-06T00:00:00Z' }),
      session(2, { subscriptionId: 11_000, outcome: 'cancelled', ...notUsing }),
      session(3, { subscriptionId: null, outcome: 'saved', ...notUsing }),
      session(4, { subscriptionId: 12_001, createdAt: later }),
    ]);
    assert.deepEqual(rounded(await ask(shop, 'newSubscribers', 'plan')), [
      [12, 30, 18],
      [12, [0, undefined], [30, undefined], 30, false],
      [11, [12, undefined], [0, undefined], -12, false],
    ]);
    assert.deepEqual(rounded(await ask(shop, 'recoveryRate', 'plan')), [
      [1, 1, 0],
      [11, [4, 4], [6, 6], 0, 0, 0, true],
    ]);
    // One saved before; now one of two, of which one has no subscription.
    for (const [by, value] of [
      ['plan', 11],
      ['age', '0-29'],
    ] as const) {
      assert.deepEqual(rounded(await ask(shop, 'saveRate', by)), [
        [1, 0.5, -0.5],
        [value, [1, 1], [0, 1], -0.75, 0.125, -0.625, true],
        [null, [0, 0], [1, 1], 0, 0.125, 0.125, true],
      ]);
    }
    assert.deepEqual(rounded(await ask(shop, 'saveRate', 'reason')), [
      [1, 0.5, -0.5],
      ['not_using', [0, 0], [1, 2], 0, -0.25, -0.25, true],
      ['too_expensive', [1, 1], [0, 0], 0, -0.25, -0.25, true],
    ]);
  });

  test('a plan whose price was raised, and that more left since, comes first', async () => {
    const seed = 4711;
    const random = randomOf(seed);
    const shop = await createShop(store);
    const options = { subscriptions: 1500, seed, currency: 'USD', minorDigits: 2, endAt: at(now) };
    const records = [...generateShop(options)];
    // Of the plan with most subscriptions, from ten days ago.
    const [raised] = [
      ...Map.groupBy(records.filter(isSubscription), ({ planId }) => planId),
    ].toSorted(([, a], [, b]) => b.length - a.length)[0] as [number, unknown];
    const changed = records.map((record) => {
      if (!isSubscription(record) || record.planId !== raised || record.status !== 'active')
        return record;
      const lines = record.lines.map((each) => ({
        ...each,
        currentPrice: `${(Number(each.currentPrice) * 1.25).toFixed(2)}`,
      }));
      const { valueEvents: _past, ...present } = record;
      const more = { ...present, lines, updatedAt: later };
      if (!random.chance(0.2)) return more;
      const statusEvents = [
        ...(record.statusEvents ?? []),
        { at: later, to: 'cancelled' as const },
      ];
      return { ...more, status: 'cancelled' as const, statusEvents };
    });
    const ofPlans = changed.filter(({ type }) => type === 'plan' || type === 'subscription');
    assert.deepEqual((await importAll(store, shop, ofPlans)).refused, []);
    const { change, values } = await ask(shop, 'churnRate', 'plan');
    const [first] = values;
    assert.deepEqual([first?.value, first?.isChance], [raised, false], `seed ${seed}`);
    // It explains most of the change.
    assert.ok((first?.part ?? 0) > (change ?? 0) / 2, `${first?.part} of ${change}`);
    assert.ok((first?.rate ?? 0) > Math.abs(first?.mix ?? 0));
  });

  test('a shop sees nothing of another', async () => {
    await shopOf(many(11, 20, times(10, later)));
    const shop = await shopOf(many(11, 1));
    const { values } = await ask(shop, 'churnRate', 'plan');
    assert.deepEqual(
      values.map(({ now: { n, d } }) => [n, d]),
      [[0, 1]],
    );
  });
});
