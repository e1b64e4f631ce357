import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FixedClock } from '../../src/clock.ts';
import { countSessions, outcomesByReason } from '../../src/metrics/cancel-flow.ts';
import { findFirstDay } from '../../src/metrics/history.ts';
import { summariseFromRecords } from '../../src/metrics/segments/summary.ts';
import { projectRenewals, toProjectedWeeks } from '../../src/metrics/renewals.ts';
import { summariseMetrics } from '../../src/metrics/summary.ts';
import type { Store } from '../../src/store/open.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { runs } from '../support/seed.ts';
import { createShop, importAll } from '../support/world.ts';
import { about, instantOf } from './instants.ts';
import { randomOf } from './random.ts';
import { preparePlans, writeSomething } from './writers.ts';

const day = 24 * 3_600_000;
const { numRuns: worlds, seed: firstSeed } = runs(2);

const iso = (at: number) => new Date(at).toISOString();

onOneDatabase('chart data besides the history', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  const listReasons = async (shopId: number, from: number, until: number) =>
    outcomesByReason(await countSessions(store.primary.analyse, shopId, { from, until }));

  test('outcomes by reason match a direct count for any sequence of writes', async () => {
    for (let seed = firstSeed; seed < firstSeed + worlds; seed += 1) {
      const random = randomOf(seed);
      const shop = await createShop(store);
      const hoursSince = random.oneOf(['1970-01-01Z', '2026-10-30Z', 'infinity', 'default']);
      if (hoursSince !== 'default') {
        await store.write`insert into metric_shops values (${shop.id}, ${hoursSince})`;
      }
      await preparePlans(store.write, shop.id);
      for (let batch = 0; batch < 8; batch += 1) {
        await writeSomething(store.write, [shop.id], random);
      }
      for (let time = 0; time < 12; time += 1) {
        const now = instantOf(random);
        const days = random.oneOf([3, 8, 30, 365]);
        const where = `seed ${seed}, now ${iso(now)}, ${days} days`;
        const from = now - days * day;
        const reasons = await listReasons(shop.id, from, now);
        const [ended] = await store.write`
          select count(*) as count from cancellation_sessions
          where shop_id = ${shop.id} and outcome in ('saved', 'cancelled', 'abandoned')
            and created_at >= ${iso(from)} and created_at < ${iso(now)}`;
        const total = reasons.reduce(
          (sum, each) => sum + each.saved + each.cancelled + each.abandoned,
          0,
        );
        assert.equal(total, ended?.['count'], where);
      }
    }
  });

  test('renewals in 7 × 24 hours include part of the eighth calendar day, and follow every month', async () => {
    const shop = await createShop(store);
    const bill = (id: number, at: number, over: object = {}) =>
      subscription(id, { customerId: id, nextBillingDate: iso(at), ...over });
    const tomorrow = Math.ceil(about / day) * day;
    const records = [
      plan(),
      bill(1, about - 1),
      bill(2, about),
      bill(3, tomorrow - 1),
      bill(4, tomorrow),
      bill(5, about + 7 * day - 1),
      bill(6, about + 7 * day),
      bill(7, tomorrow + 7 * day),
      bill(8, tomorrow, {
        status: 'paused',
        statusEvents: [{ at: '2026-11-19T00:00:00Z', to: 'paused' }],
      }),
      // Dated later, so it has not happened yet.
      bill(9, tomorrow + day, {
        status: 'paused',
        statusEvents: [{ at: iso(about + 1), to: 'paused' }],
      }),
    ];
    const { refused } = await importAll(store, shop, records, false, new FixedClock(about));
    assert.deepEqual(refused, []);
    const weeks = await projectRenewals(store.primary.analyse, shop.id, about);
    assert.deepEqual(
      toProjectedWeeks(weeks, shop.currency).map((each) => [each.renewals, each.value]),
      [
        [5, 153],
        [2, 61.2],
        [0, 0],
        [0, 0],
        [4, 122.4],
        [3, 91.8],
        [0, 0],
        [0, 0],
      ],
    );
    const { upcomingRenewals, upcomingRenewalsValue } = await summariseMetrics(
      store.primary.analyse,
      shop.id,
      about,
    );
    assert.deepEqual([upcomingRenewals, Number(upcomingRenewalsValue)], [5, 153]);
  });

  test('lists reasons with their sessions’ outcomes, most frequent first', async () => {
    const shop = await createShop(store);
    const of = (id: number, createdAt: string, detectedReason: string, outcome?: string) =>
      session(id, { createdAt, detectedReason, ...(outcome && { outcome }) });
    await importAll(store, shop, [
      of(1, '2026-11-10T00:00:00Z', 'other', 'saved'),
      of(2, '2026-11-11T00:00:00Z', 'not_using', 'saved'),
      of(3, '2026-11-11T00:00:00Z', 'not_using', 'cancelled'),
      of(4, '2026-11-12T00:00:00Z', 'not_using', 'abandoned'),
      of(5, '2026-11-12T00:00:00Z', 'too_expensive'),
      of(6, '2026-11-09T23:59:59.999Z', 'other', 'cancelled'),
      of(7, '2026-11-13T00:00:00Z', 'other', 'cancelled'),
    ]);
    const rows = await listReasons(shop.id, Date.parse('2026-11-10Z'), Date.parse('2026-11-13Z'));
    assert.deepEqual(rows, [
      { reason: 'not_using', saved: 1, cancelled: 1, abandoned: 1 },
      { reason: 'other', saved: 1, cancelled: 0, abandoned: 0 },
    ]);
  });

  test('gives the figures as they were thirty days earlier', async () => {
    const shop = await createShop(store);
    await importAll(store, shop, [
      plan(),
      // Its source writes this where it knows no next billing date.
      subscription(1, {
        customerId: 1,
        createdAt: '2026-08-01T00:00:00Z',
        nextBillingDate: '1970-01-01T00:00:00Z',
      }),
      subscription(2, {
        customerId: 2,
        createdAt: '2026-10-01T00:00:00Z',
        status: 'cancelled',
        statusEvents: [{ at: '2026-11-10T00:00:00Z', to: 'cancelled' }],
      }),
      // Cancelled then, and reactivated since.
      subscription(3, {
        customerId: 3,
        createdAt: '2026-08-01T00:00:00Z',
        statusEvents: [
          { at: '2026-10-10T00:00:00Z', to: 'cancelled' },
          { at: '2026-11-12T00:00:00Z', to: 'active' },
        ],
      }),
      { ...payment(1, 1, 'failed', '2026-10-15T00:00:00Z') },
      { ...payment(2, 1, 'succeeded', '2026-11-01T00:00:00Z') },
    ]);
    const then = about - 30 * day;
    const row = await summariseMetrics(store.primary.analyse, shop.id, then);
    assert.equal(row.activeSubscribers, 2);
    assert.equal(row.newSubscribers, 1);
    assert.deepEqual([row.cancelled, row.churned, row.atRisk], [1, 1, 3]);
    assert.deepEqual([row.dunningActive, row.failedPayments, row.paid], [1, 1, '0']);
    const plain = await summariseFromRecords(store.write, shop.id, then);
    assert.deepEqual([plain.cancelled, plain.churned, plain.atRisk], [1, 1, 3]);
    const period = { from: Date.parse('2026-08-01Z'), until: then };
    const longer = await summariseFromRecords(store.write, shop.id, then, period);
    assert.deepEqual([longer.newSubscribers, plain.newSubscribers], [3, 1]);
    assert.equal(await findFirstDay(store.primary.analyse, shop.id), Date.parse('2026-08-01Z'));
    const empty = await createShop(store);
    assert.equal(await findFirstDay(store.primary.analyse, empty.id), null);
  });
});

function payment(id: number, subscriptionId: number, status: string, processedAt: string) {
  return { type: 'payment', id, subscriptionId, cycle: '1', status, amount: '10', processedAt };
}
