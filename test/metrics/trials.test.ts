import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Period, monthBefore } from '../../src/metrics/bounds.ts';
import { toSummary } from '../../src/metrics/figures.ts';
import { toMovements } from '../../src/metrics/movements.ts';
import {
  type Figures,
  figuresFromLedger,
  figuresFromRecords,
} from '../../src/metrics/segments/figures.ts';
import { findFigureDifferences } from '../../src/metrics/verify/figures.ts';
import { line, plan, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, createShop, get, importAll, startWorld } from '../support/world.ts';

const at = (date: string) => `2026-${date}T00:00:00Z`;
const now = Date.parse('2026-11-20T12:00:00.000Z');
const day = 24 * 3_600_000;
const lines = (...prices: (string | object)[]) =>
  prices.map((price, index) => ({
    ...line,
    lineId: index + 1,
    quantity: 1,
    ...(typeof price === 'string' ? { currentPrice: price } : price),
  }));
const yearly = { currentPrice: '120', intervalUnit: 'year', intervalCount: 1 };

const records = [
  plan(),
  // 10 a month, and 120 a year: 20.
  subscription(1, {
    customerId: 1,
    lines: lines('10', yearly),
    createdAt: at('03-01'),
    nextBillingDate: at('11-25'),
  }),
  // Worth nothing until 25 November.
  subscription(2, {
    customerId: 2,
    lines: lines('50'),
    createdAt: at('11-18'),
    trialEndsAt: at('11-25'),
    nextBillingDate: at('11-22'),
  }),
  // Worth 30 since 10 November.
  subscription(3, {
    customerId: 3,
    lines: lines('29.999999999999', { currentPrice: '0.000000000001' }),
    createdAt: at('10-25'),
    trialEndsAt: at('11-10'),
  }),
  // Since an unknown time.
  subscription(4, {
    customerId: 4,
    status: 'paused',
    createdAt: at('05-01'),
    statusEvents: [{ at: null, to: 'paused' }],
  }),
  subscription(5, {
    customerId: 5,
    status: 'cancelled',
    createdAt: at('11-01'),
    statusEvents: [
      { at: at('11-02'), to: 'paused' },
      { at: null, to: 'cancelled' },
    ],
  }),
  // Ended in its trial.
  subscription(6, {
    customerId: 6,
    status: 'cancelled',
    createdAt: at('11-05'),
    trialEndsAt: at('11-15'),
    statusEvents: [{ at: at('11-12'), to: 'cancelled' }],
  }),
  // Its only payment failed, and it ended at an unknown time: no dunning.
  {
    type: 'payment',
    id: 1,
    subscriptionId: 5,
    cycle: 1,
    status: 'failed',
    amount: '1',
    processedAt: at('11-03'),
  },
];

onOneDatabase('trials, intervals of lines and unknown dates', (open) => {
  let world: World;
  before(async () => {
    world = await startWorld(open());
    assert.deepEqual((await importAll(world.store, world.shop, records)).refused, []);
  });
  after(() => world.close());

  /** From the ledger and from the records. */
  async function both<Result>(
    work: (figures: Figures) => Promise<Result>,
    shop = world.shop,
  ): Promise<Result[]> {
    const { store } = world;
    const plain = await store.write.begin((tx) => work(figuresFromRecords(tx, shop, undefined)));
    return [await work(figuresFromLedger(store.primary.analyse, shop)), plain];
  }
  const summaryAt = (time: number, period: Period = monthBefore(time)) =>
    both(async (figures) => toSummary(await figures.summary(period, time), 'USD', period.until));

  test('are in the summary as they are worth', async () => {
    const { activeSubscribers, generatedAt, ...found } = (
      await get(`${world.base}/metrics/summary`, world.key)
    ).body.summary;
    assert.equal(activeSubscribers, 3);
    assert.deepEqual(found, {
      pausedSubscribers: 1,
      mrr: 50,
      revenue30d: 0,
      newSubscribers30d: 4,
      cancelled30d: 1,
      // Subscriptions 1, 2, 3 and 6.
      churnRate30d: 0.25,
      saveRate: 0,
      cancelSessions30d: 0,
      dunningActive: 0,
      recoveryRate: 0,
      failedPayments30d: 1,
      // (130 + 50 + 30) / 3
      avgSubscriptionValue: 70,
      upcomingRenewals7d: 2,
      // 10 of the first, as its other line is not billed then, and 50.
      upcomingRenewalsValue7d: 60,
      currency: 'USD',
    });
    assert.equal(generatedAt, '2026-11-20T12:00:00.000Z');
  });

  test('are worth their price when the trial ends, without an import', async () => {
    const ends = Date.parse(at('11-25'));
    for (const [time, mrr] of [
      [ends - 1, 50],
      [ends, 100],
      [ends + day, 100],
      [Date.parse(at('11-10')) - 1, 20],
      [Date.parse(at('11-10')), 50],
    ] as const) {
      for (const each of await summaryAt(time)) assert.equal(each.mrr, mrr, String(time));
    }
    // What happens exactly at the end of a past period is not yet in it.
    for (const each of await summaryAt(ends + day, { from: ends - day, until: ends })) {
      assert.deepEqual([each.mrr, each.pausedSubscribers], [50, 0]);
    }
    for (const movements of await both((figures) =>
      figures.movements({ from: Date.parse(at('10-21')), until: ends + 1 }),
    )) {
      const {
        opening,
        new: begun,
        added,
        cancelled,
        paused,
        closing,
      } = toMovements(movements, 'USD');
      assert.deepEqual([opening, begun, added, cancelled, paused, closing], [20, 80, 0, 0, 0, 100]);
    }
  });

  test('are customers of their cohort, retained while live if that is known', async () => {
    for (const cohorts of await both((figures) => figures.cohorts({ months: 9, now }))) {
      assert.deepEqual(
        cohorts.map(({ month, customers, retained, mrr }) => [
          month,
          customers,
          retained.at(-1),
          mrr.at(-1),
        ]),
        [
          ['2026-03', 1, 1, 20],
          ['2026-05', 1, 0, 0],
          ['2026-10', 1, 1, 30],
          ['2026-11', 3, 1, 0],
        ],
      );
    }
  });

  test('are followed when a plan or a record changes', async () => {
    const { store } = world;
    const shop = await createShop(store);
    const changed = async (...more: object[]) => {
      assert.deepEqual((await importAll(store, shop, more)).refused, []);
      const differences = await store.write.begin((tx) => findFigureDifferences(tx, shop, now));
      assert.deepEqual(differences, []);
      const row = await figuresFromLedger(store.primary.analyse, shop).summary(
        monthBefore(now),
        now,
      );
      const { mrr, upcomingRenewalsValue7d, dunningActive } = toSummary(row, 'USD', now);
      return [mrr, upcomingRenewalsValue7d, dunningActive];
    };
    assert.deepEqual(await changed(...records), [50, 60, 0]);
    // Then the yearly line of the first subscription is billed with the others.
    assert.deepEqual(
      await changed(plan({ intervalUnit: 'year', intervalCount: 1 })),
      [13.33, 180, 0],
    );
    // Active again, its failed payment is outstanding; then it ends at an unknown time.
    const active = subscription(5, { customerId: 5, createdAt: at('11-01'), lines: lines('12') });
    assert.deepEqual(await changed(active), [14.33, 180, 1]);
    const gone = { ...active, status: 'expired', statusEvents: [{ at: null, to: 'expired' }] };
    assert.deepEqual(await changed(gone), [13.33, 180, 0]);
  });

  test('are told apart at their edges', async () => {
    const { store } = world;
    const shop = await createShop(store);
    const edges = [
      plan(),
      // Its own interval is that of its subscription: both lines are billed.
      subscription(1, {
        customerId: 1,
        lines: lines('10', { currentPrice: '5', intervalUnit: 'month', intervalCount: 1 }),
        createdAt: at('03-01'),
        nextBillingDate: at('11-25'),
      }),
      // Paused twice, once since an unknown time: one customer.
      ...[2, 3].map((id) =>
        subscription(id, {
          customerId: 2,
          status: 'paused',
          createdAt: at('05-01'),
          statusEvents: [{ at: id === 2 ? at('06-01') : null, to: 'paused' }],
        }),
      ),
      // Cancelled at the instant at which its trial ends.
      subscription(4, {
        customerId: 4,
        status: 'cancelled',
        lines: lines('20'),
        createdAt: at('11-01'),
        trialEndsAt: at('11-08'),
        statusEvents: [{ at: at('11-08'), to: 'cancelled' }],
      }),
      // The first subscription of this customer ended in its trial, so the second is no new customer.
      subscription(5, {
        customerId: 5,
        status: 'cancelled',
        lines: lines('40'),
        createdAt: at('11-02'),
        trialEndsAt: at('11-16'),
        statusEvents: [{ at: at('11-04'), to: 'cancelled' }],
      }),
      subscription(6, { customerId: 5, lines: lines('80'), createdAt: at('11-05') }),
    ];
    assert.deepEqual((await importAll(store, shop, edges)).refused, []);
    const period = monthBefore(now);
    for (const left of await both(
      (figures) => figures.churned({ ...period, now }, { after: undefined, limit: 9 }),
      shop,
    )) {
      assert.deepEqual(
        left.map(({ subscriptionId, value }) => [subscriptionId, value]),
        [
          [4, '0'],
          [5, '0'],
        ],
      );
    }
    for (const row of await both((figures) => figures.summary(period, now), shop)) {
      const { mrr, upcomingRenewalsValue7d, pausedSubscribers, newSubscribers30d, cancelled30d } =
        toSummary(row, 'USD', now);
      assert.deepEqual(
        [mrr, upcomingRenewalsValue7d, pausedSubscribers, newSubscribers30d, cancelled30d],
        [95, 15, 1, 2, 2],
      );
    }
    for (const row of await both((figures) => figures.movements(period), shop)) {
      const { opening, new: begun, added, cancelled, closing } = toMovements(row, 'USD');
      assert.deepEqual([opening, begun, added, cancelled, closing], [15, 0, 80, 0, 95]);
    }
  });

  test('are answered rounded once, half away from zero', async () => {
    const lineItems = lines('0.005', '0.004999999999', '1000');
    assert.deepEqual(
      (
        await importAll(world.store, world.shop, [
          subscription(90, {
            customerId: 90,
            status: 'expired',
            createdAt: at('01-01'),
            statusEvents: [{ at: at('01-02'), to: 'expired' }],
            lines: lineItems,
          }),
        ])
      ).refused,
      [],
    );
    const { body } = await get(`${world.base}/subscriptions/90`, world.key);
    assert.equal(body.subscription.currentPrice, 1000.01);
    const prices = body.subscription.lineItems.map(
      (each: { currentPrice: number }) => each.currentPrice,
    );
    assert.deepEqual(prices, [0.01, 0, 1000]);
  });
});
