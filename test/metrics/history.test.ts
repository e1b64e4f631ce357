import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Period } from '../../src/metrics/bounds.ts';
import { toSummary, type DayOfHistory } from '../../src/metrics/figures.ts';
import { listHistory } from '../../src/metrics/history.ts';
import { summariseFromRecords } from '../../src/metrics/segments/summary.ts';
import type { Store } from '../../src/store/open.ts';
import { newShopId, run } from '../cli/process.ts';
import { onOneDatabase, serverUrl } from '../support/databases.ts';
import { runs } from '../support/seed.ts';
import { createShop, importAll } from '../support/world.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { instantOf } from './instants.ts';
import { randomOf } from './random.ts';
import { preparePlans, writeSomething } from './writers.ts';

const day = 24 * 3_600_000;
const { numRuns: worlds, seed: firstSeed } = runs(2);

const iso = (time: number) => new Date(time).toISOString();
const at = (text: string) => `2026-11-${text}Z`;

const lastDays = { from: Date.parse('2026-11-17Z'), until: Date.parse('2026-11-20Z') };

onOneDatabase('the history of a shop', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  /** One day, computed from its definition. */
  async function dayOf(
    shop: { id: number; currency: string },
    begin: number,
    period: Period,
  ): Promise<DayOfHistory> {
    const until = Math.min(begin + day, period.until);
    const state = toSummary(
      await summariseFromRecords(store.write, shop.id, until - 1),
      shop.currency,
      until - 1,
    );
    const [from, to, end] = [Math.max(begin, period.from), until, period.until].map(iso) as [
      string,
      string,
      string,
    ];
    const [row] = await store.write<Omit<DayOfHistory, 'day' | 'activeSubscribers' | 'mrr'>[]>`
      select (
          select count(*) from (
            select min(created_at) as first from subscriptions where shop_id = ${shop.id}
            group by customer_id
          ) c where first >= ${from} and first < ${to}
        ) as "newSubscribers",
        (
          select count(*) from subscriptions s
          cross join lateral (
            select e.to_status, e.at from status_events e
            where e.shop_id = s.shop_id and e.subscription_id = s.subscription_id and e.at <= ${end}
            order by position desc limit 1
          ) last
          where s.shop_id = ${shop.id} and last.to_status = 'cancelled'
            and last.at >= ${from} and last.at < ${to}
        ) as cancelled,
        (
          select coalesce(sum(amount), 0) from payments
          where shop_id = ${shop.id} and status = 'succeeded'
            and processed_at >= ${from} and processed_at < ${to}
        ) - (
          select coalesce(sum(amount), 0) from refunds
          where shop_id = ${shop.id} and refunded_at >= ${from} and refunded_at < ${to}
        ) as revenue,
        (
          select count(*) from (
            select max(processed_at) as at from payments
            where shop_id = ${shop.id} and status = 'failed'
              and failure_kind is distinct from 'inventory' and processed_at < ${end}
            group by subscription_id, cycle
          ) last
          where at >= ${from} and at < ${to}
        ) as "failedPayments",
        (
          select count(*) from (
            select processed_at from payments p
            where p.shop_id = ${shop.id} and p.status = 'succeeded'
              and p.processed_at >= ${from} and p.processed_at < ${to}
              and exists (
                -- an earlier failure that no payment has closed, ordered by time and id
                select from payments f
                where f.shop_id = p.shop_id and f.subscription_id = p.subscription_id
                  and f.status = 'failed' and f.failure_kind is distinct from 'inventory'
                  and (f.processed_at, f.payment_id) < (p.processed_at, p.payment_id)
                  -- of a subscription that had not ended
                  and (
                    select e.to_status in ('cancelled', 'expired', 'failed') from status_events e
                    where e.shop_id = f.shop_id and e.subscription_id = f.subscription_id
                      and e.at < f.processed_at
                    order by e.at desc, e.position desc limit 1
                  ) is not true
                  and not exists (
                    select from payments s
                    where s.shop_id = p.shop_id and s.subscription_id = p.subscription_id
                      and s.status = 'succeeded'
                      and (s.processed_at, s.payment_id) > (f.processed_at, f.payment_id)
                      and (s.processed_at, s.payment_id) < (p.processed_at, p.payment_id)
                  )
                  and not exists (
                    select from status_events e
                    where e.shop_id = p.shop_id and e.subscription_id = p.subscription_id
                      and e.to_status in ('cancelled', 'expired', 'failed')
                      and e.at >= f.processed_at and e.at < p.processed_at
                  )
              )
          ) recoveries
        ) as "recoveredPayments",
        json_build_object('saved', count(*) filter (where outcome = 'saved'),
          'cancelled', count(*) filter (where outcome = 'cancelled'),
          'abandoned', count(*) filter (where outcome = 'abandoned'),
          'inProgress', count(*) filter (where outcome is null)) as sessions
      from cancellation_sessions
      where shop_id = ${shop.id} and created_at >= ${from} and created_at < ${to}`;
    assert.ok(row);
    return {
      day: iso(begin).slice(0, 10),
      activeSubscribers: state.activeSubscribers,
      mrr: state.mrr,
      newSubscribers: row.newSubscribers,
      cancelled: row.cancelled,
      revenue: Number(row.revenue),
      failedPayments: row.failedPayments,
      recoveredPayments: row.recoveredPayments,
      sessions: row.sessions,
    };
  }

  test('every day matches its definition for any sequence of writes', async () => {
    for (let seed = firstSeed; seed < firstSeed + worlds; seed += 1) {
      const random = randomOf(seed);
      const shop = await createShop(store);
      await preparePlans(store.write, shop.id);
      for (let batch = 0; batch < 8; batch += 1) {
        await writeSomething(store.write, [shop.id], random);
      }
      for (const length of [80 * day, random.integer(3 * day) + 1]) {
        const until = instantOf(random);
        const period = { from: until - length, until };
        const days = await listHistory(store.primary, shop, period);
        const [first, last] = [period.from, until - 1].map((time) => Math.floor(time / day));
        assert.equal(days.length, last! - first! + 1);
        for (const [index, each] of days.entries()) {
          const expected = await dayOf(shop, (first! + index) * day, period);
          assert.deepEqual(each, expected, `seed ${seed}, ${length} ms until ${iso(until)}`);
        }
      }
    }
  });

  test('a day excludes everything that happened after its end', async () => {
    const shop = await createShop(store);
    await importAll(store, shop, [
      plan(),
      subscription(1, {
        customerId: 1,
        status: 'active',
        createdAt: at('17T23:59:59.999'),
        statusEvents: [
          { at: at('18T10:00:00.000'), to: 'cancelled' },
          { at: at('19T00:00:00.000'), to: 'active' },
        ],
      }),
      {
        type: 'payment',
        id: 1,
        subscriptionId: 1,
        cycle: 1,
        status: 'succeeded',
        amount: '10.00',
        processedAt: at('18T00:00:00.000'),
      },
      {
        type: 'refund',
        id: 1,
        paymentId: 1,
        amount: '2.50',
        refundedAt: at('18T23:59:59.999'),
      },
      session(1, { subscriptionId: 1, outcome: 'saved', createdAt: at('18T12:00:00.000') }),
    ]);
    const nothing = {
      newSubscribers: 0,
      cancelled: 0,
      revenue: 0,
      failedPayments: 0,
      recoveredPayments: 0,
      sessions: { saved: 0, cancelled: 0, abandoned: 0, inProgress: 0 },
    };
    const [seventeenth, eighteenth, nineteenth] = await listHistory(store.primary, shop, lastDays);
    const { mrr } = seventeenth as DayOfHistory;
    assert.notEqual(mrr, 0);
    assert.deepEqual(seventeenth, {
      ...nothing,
      day: '2026-11-17',
      activeSubscribers: 1,
      mrr,
      newSubscribers: 1,
    });
    assert.deepEqual(eighteenth, {
      day: '2026-11-18',
      activeSubscribers: 0,
      mrr: 0,
      newSubscribers: 0,
      // It came back by the end of the period.
      cancelled: 0,
      revenue: 7.5,
      failedPayments: 0,
      recoveredPayments: 0,
      sessions: { saved: 1, cancelled: 0, abandoned: 0, inProgress: 0 },
    });
    assert.deepEqual(nineteenth, { ...nothing, day: '2026-11-19', activeSubscribers: 1, mrr });
  });

  test('counts a recovering payment on its day; losses and other payments do not count', async () => {
    const shop = await createShop(store);
    const payment = (id: number, subscriptionId: number, status: string, processedAt: string) => ({
      type: 'payment',
      id,
      subscriptionId,
      cycle: String(id),
      status,
      amount: '10.00',
      processedAt,
    });
    await importAll(store, shop, [
      plan(),
      subscription(1, { customerId: 1 }),
      subscription(2, {
        customerId: 2,
        status: 'cancelled',
        statusEvents: [{ at: at('19T12:00:00.000'), to: 'cancelled' }],
      }),
      payment(1, 1, 'failed', at('17T00:00:00.000')),
      payment(2, 1, 'succeeded', at('19T00:00:00.000')),
      payment(3, 1, 'succeeded', at('19T01:00:00.000')),
      payment(4, 2, 'failed', at('18T00:00:00.000')),
    ]);
    const days = await listHistory(store.primary, shop, lastDays);
    const counts = days.map((each) => [each.failedPayments, each.recoveredPayments]);
    assert.deepEqual(counts, [
      [1, 0],
      [1, 0],
      [0, 1],
    ]);
  });
});

const DATABASE_URL = serverUrl ?? '';
const skip = DATABASE_URL === '' && 'PostgreSQL is not available on this machine';

test('metrics history prints completed days', { skip }, async () => {
  const env = { DATABASE_URL, LOG_LEVEL: 'warn' };
  const shop = newShopId();
  await run(['shops', 'create', '--id', shop, '--name', 'x', '--currency', 'USD'], { env });
  const history = (...more: string[]) =>
    run(['metrics', 'history', '--shop', shop, ...more], { env });
  const yesterday = () => new Date(Date.now() - day).toISOString().slice(0, 10);
  const dayBefore = yesterday();
  const { code, out } = await history('--days', '2', '--json');
  assert.equal(code, 0);
  const rows = JSON.parse(out);
  assert.equal(rows.length, 2);
  const { day: last, ...figures } = rows[1];
  // Midnight may have passed in the meantime.
  assert.ok([dayBefore, yesterday()].includes(last), last);
  assert.deepEqual(figures, {
    activeSubscribers: 0,
    mrr: 0,
    newSubscribers: 0,
    cancelled: 0,
    revenue: 0,
    failedPayments: 0,
    recoveredPayments: 0,
    sessions: { saved: 0, cancelled: 0, abandoned: 0, inProgress: 0 },
  });
  assert.match((await history('--days', '1')).out, /^DAY +ACTIVE +MRR +NEW .*\n\d{4}-\d\d-\d\d /);
  for (const days of ['0', '3661', '1e1']) {
    const { code: status, err } = await history(`--days=${days}`);
    const message = `retention: --days must be a whole number from 1 to 3660, not "${days}".\n`;
    assert.deepEqual([status, err], [2, message]);
  }
});
