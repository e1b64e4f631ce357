import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { listChurnDays } from '../../src/metrics/churn.ts';
import { listCohorts } from '../../src/metrics/cohorts.ts';
import { summariseMovements, toMovements } from '../../src/metrics/movements.ts';
import { line, plan, session, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { createShop, get, importAll, startWorld, type World } from '../support/world.ts';

const day = 24 * 3_600_000;
const now = Date.parse('2026-11-20T12:00:00.000Z');
const at = (date: string) => `2026-${date}T00:00:00Z`;
const lines = (price: string) => [{ ...line, quantity: 1, currentPrice: price }];

function payment(id: number, subscriptionId: number, status: string, amount: string, date: string) {
  const cycle = `${subscriptionId} ${amount}`;
  return { type: 'payment', id, subscriptionId, cycle, status, amount, processedAt: at(date) };
}

const records = [
  plan(),
  subscription(1, {
    customerId: 1,
    lines: lines('30'),
    createdAt: at('03-01'),
    nextBillingDate: at('11-25'),
  }),
  subscription(2, {
    customerId: 1,
    lines: lines('24'),
    intervalUnit: 'month',
    intervalCount: 2,
    createdAt: at('06-01'),
    nextBillingDate: at('12-02'),
  }),
  subscription(3, {
    customerId: 2,
    lines: lines('7'),
    intervalUnit: 'week',
    intervalCount: 1,
    createdAt: at('11-01'),
    nextBillingDate: at('11-22'),
  }),
  subscription(4, {
    customerId: 3,
    lines: lines('20'),
    createdAt: at('05-01'),
    status: 'paused',
    statusEvents: [{ at: at('10-10'), to: 'paused' }],
  }),
  subscription(5, {
    customerId: 4,
    lines: lines('40'),
    createdAt: '2025-09-01T00:00:00Z',
    status: 'cancelled',
    statusEvents: [{ at: at('11-05'), to: 'cancelled' }],
  }),
  subscription(6, {
    customerId: 5,
    lines: lines('15'),
    createdAt: at('07-01'),
    status: 'cancelled',
    statusEvents: [
      { at: at('10-01'), to: 'failed' },
      { at: at('11-03'), to: 'cancelled' },
    ],
  }),
  subscription(7, {
    customerId: 6,
    lines: lines('12'),
    createdAt: at('02-01'),
    status: 'failed',
    statusEvents: [{ at: at('11-12'), to: 'failed' }],
  }),
  payment(1, 1, 'succeeded', '30', '10-25'),
  payment(2, 3, 'succeeded', '7', '11-01'),
  payment(3, 3, 'succeeded', '7', '11-08'),
  { ...payment(4, 3, 'failed', '7', '11-15'), cycle: 'third week' },
  payment(5, 5, 'succeeded', '40', '11-01'),
  payment(6, 2, 'failed', '24', '11-02'),
  payment(7, 2, 'failed', '24', '11-04'),
  payment(8, 2, 'succeeded', '24', '11-06'),
  payment(9, 7, 'failed', '12', '11-02'),
  session(1, { subscriptionId: 1, outcome: 'saved', createdAt: at('10-28') }),
  session(2, { subscriptionId: 5, outcome: 'cancelled', createdAt: at('11-05') }),
  session(3, { subscriptionId: 3, outcome: 'abandoned', createdAt: at('11-10') }),
  session(4, { subscriptionId: 2, createdAt: '2026-11-20T11:00:00Z' }),
  { type: 'refund', id: 1, paymentId: 5, amount: '10', refundedAt: at('11-06') },
];

/** The values of the figures in the list of the page. */
function documentedFigures(): unknown {
  const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
  const [, example = ''] = page.split('## A worked example');
  const entries = example.matchAll(/^- `(\w+)` \*\*("?[-\w.:]+"?)\*\*/gm);
  return Object.fromEntries([...entries].map(([, name, value = '']) => [name, JSON.parse(value)]));
}

onOneDatabase('the worked example of docs/metrics.md', (open) => {
  let world: World;
  before(async () => {
    world = await startWorld(open());
  });
  after(() => world.close());

  test('gives the figures on that page', async () => {
    const { refused } = await importAll(world.store, world.shop, records);
    assert.deepEqual(refused, []);
    const { body } = await get(`${world.base}/metrics/summary`, world.key);
    assert.deepEqual(body.summary, documentedFigures());
  });

  test('gives the movements, the churn and the cohorts on that page', async () => {
    const { store } = world;
    const shop = await createShop(store);
    await importAll(store, shop, records);
    const sql = store.primary.analyse;
    const from = Date.parse('2026-10-21T12:00:00.000Z');
    assert.deepEqual(
      toMovements(await summariseMovements(sql, shop.id, { from, until: now }), 'USD'),
      {
        currency: 'USD',
        opening: 94,
        new: 30.42,
        added: 0,
        resumed: 0,
        reactivated: 0,
        expansion: 0,
        contraction: 0,
        paused: 0,
        cancelled: 40,
        expired: 0,
        failed: 12,
        closing: 72.42,
      },
    );
    const days = await listChurnDays(sql, shop.id, { from: now - 60 * day, until: now, now });
    assert.deepEqual(
      days.map(({ cancelled, failed, ...each }) => [each.day, cancelled, failed]),
      [
        [Date.parse(at('10-01')), 0, 1],
        [Date.parse(at('11-05')), 1, 0],
        [Date.parse(at('11-12')), 0, 1],
      ],
    );
    assert.deepEqual(await listCohorts(sql, shop, { months: 9, now }), [
      {
        month: '2026-03',
        customers: 1,
        retained: [1, 1, 1, 1, 1, 1, 1, 1, 1],
        mrr: [30, 30, 30, 42, 42, 42, 42, 42, 42],
      },
      {
        month: '2026-05',
        customers: 1,
        retained: [1, 1, 1, 1, 1, 1, 1],
        mrr: [20, 20, 20, 20, 20, 0, 0],
      },
      { month: '2026-07', customers: 1, retained: [1, 1, 1, 0, 0], mrr: [15, 15, 15, 0, 0] },
      { month: '2026-11', customers: 1, retained: [1], mrr: [30.42] },
    ]);
  });
});
