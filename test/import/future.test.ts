import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readBulkResults } from '../../src/platforms/shopify/bulk/records.ts';
import { FixedClock } from '../../src/clock.ts';
import { attempt, contract, line } from '../feeds/shopify/nodes.ts';
import { file } from '../feeds/shopify/samples.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, createShop, get, importAll, startWorld } from '../support/world.ts';

/** The last instant that is accepted at 12:00 of the importer's clock, and the next one. */
const lastAccepted = '2026-11-20T12:05:00.000Z';
const firstRefused = '2026-11-20T12:05:00.001Z';
const reason = (field: string, at = firstRefused) =>
  `${field} ${at} lies in the future; send it once it has happened`;

const payment = (id: number, over: object = {}) => ({
  type: 'payment',
  id,
  subscriptionId: 1,
  cycle: id,
  status: 'succeeded',
  amount: '30.60',
  processedAt: '2026-11-05T00:00:00Z',
  ...over,
});
const refund = (id: number, over: object = {}) => ({
  type: 'refund',
  id,
  paymentId: 1,
  amount: '1.00',
  refundedAt: '2026-11-06T00:00:00Z',
  ...over,
});

/** A record for each field that says when something happened, dated `at`. */
const recordsDated = (at: string): readonly (readonly [field: string, record: object])[] => [
  ['updatedAt', plan({ id: 12, updatedAt: at })],
  ['createdAt', subscription(2, { createdAt: at, updatedAt: undefined })],
  ['updatedAt', subscription(3, { updatedAt: at })],
  [
    'statusEvents[1].at',
    subscription(4, {
      status: 'cancelled',
      statusEvents: [
        { at: '2026-11-02T00:00:00Z', to: 'paused' },
        { at, to: 'cancelled' },
      ],
    }),
  ],
  ['processedAt', payment(2, { processedAt: at })],
  ['updatedAt', payment(3, { updatedAt: at })],
  ['refundedAt', refund(1, { refundedAt: at })],
  ['updatedAt', refund(2, { updatedAt: at })],
  ['createdAt', session(1, { createdAt: at })],
  ['updatedAt', session(2, { updatedAt: at })],
];

onOneDatabase('records dated in the future', (open) => {
  let world: World;
  before(async () => {
    world = await startWorld(open());
  });
  after(() => world.close());

  const prepare = async () => {
    const shop = await createShop(world.store);
    const needed = [plan(), subscription(1), payment(1)];
    assert.deepEqual((await importAll(world.store, shop, needed)).refused, []);
    return shop;
  };

  test('are refused, for each field, from five minutes and a millisecond ahead', async () => {
    const dated = recordsDated(firstRefused);
    const imported = await importAll(
      world.store,
      await prepare(),
      dated.map(([, record]) => record),
    );
    assert.deepEqual(
      imported.refused,
      dated.map(([field], index) => ({ line: index + 1, reason: reason(field) })),
    );
    for (const { stored, replaced } of Object.values(imported.counts)) {
      assert.deepEqual([stored, replaced], [0, 0]);
    }
  });

  test('are stored up to five minutes ahead, because clocks differ', async () => {
    const dated = [
      ...recordsDated(lastAccepted),
      ...recordsDated('2026-11-20T13:05:00.000999+01:00'),
    ];
    const imported = await importAll(
      world.store,
      await prepare(),
      dated.map(([, record]) => record),
    );
    assert.deepEqual(imported.refused, []);
  });

  test('are accepted once the importer’s clock is within five minutes', async () => {
    const shop = await prepare();
    const record = subscription(2, { createdAt: firstRefused, updatedAt: null });
    const clock = new FixedClock('2026-11-20T12:00:00.000Z');
    const first = await importAll(world.store, shop, [record], false, clock);
    assert.deepEqual(first.refused, [{ line: 1, reason: reason('createdAt') }]);
    clock.advance(1);
    assert.deepEqual((await importAll(world.store, shop, [record], false, clock)).refused, []);
  });

  test('do not include due dates, which may be any time ahead', async () => {
    const due = '9999-12-31T23:59:59.999Z';
    const record = subscription(2, { nextBillingDate: due, paidThroughAt: due });
    assert.deepEqual((await importAll(world.store, await prepare(), [record])).refused, []);
  });

  test('are reported in UTC, together with all other problems of the record', async () => {
    const wrong = subscription(2, { id: 0, updatedAt: '2026-11-20T14:00:00+01:00' });
    assert.deepEqual((await importAll(world.store, await prepare(), [wrong])).refused, [
      {
        line: 1,
        reason: `id must be an integer from 1 to 9007199254740991; ${reason('updatedAt', '2026-11-20T13:00:00.000Z')}`,
      },
    ]);
  });

  test('are refused from Shopify as well', async () => {
    const nodes = [
      contract(1, { updatedAt: firstRefused }),
      line(1, 1),
      contract(2),
      line(2, 2),
      attempt(2, 9, firstRefused),
    ];
    const shop = await createShop(world.store);
    const records: string[] = [];
    for await (const lines of readBulkResults([file('f', nodes)], shop)) {
      records.push(...lines.map(({ text }) => text));
    }
    const { refused, counts } = await importAll(world.store, shop, records, true);
    assert.deepEqual(refused.map((each) => each.reason).toSorted(), [
      `${reason('processedAt')}; ${reason('updatedAt')}`,
      reason('updatedAt'),
    ]);
    assert.equal(counts['subscription']?.stored, 1);
  });

  test('count in metrics only once their time has come', async () => {
    await importAll(world.store, world.shop, [
      plan(),
      subscription(1, {
        status: 'cancelled',
        statusEvents: [{ at: lastAccepted, to: 'cancelled' }],
      }),
      payment(1, { processedAt: lastAccepted }),
    ]);
    const figures = async () => {
      const { summary } = (await get(`${world.base}/metrics/summary`, world.key)).body;
      return [summary.activeSubscribers, summary.cancelled30d, summary.revenue30d];
    };
    assert.deepEqual(await figures(), [1, 0, 0]);
    world.clock.advance(5 * 60_000 + 1);
    assert.deepEqual(await figures(), [0, 1, 30.6]);
  });

  test('change a status only once their time has come, for each operation alike', async (t) => {
    const other = await startWorld(open());
    t.after(() => other.close());
    const { shop, key, base, clock } = other;
    const changing = (
      id: number,
      status: string,
      statusEvents: readonly { readonly at: string; readonly to: string }[],
    ) => subscription(id, { customerId: 70, status, statusEvents });
    const imported = await importAll(world.store, shop, [
      plan(),
      changing(1, 'cancelled', [{ at: lastAccepted, to: 'cancelled' }]),
      changing(2, 'active', [
        { at: '2026-11-02T00:00:00Z', to: 'paused' },
        { at: lastAccepted, to: 'active' },
      ]),
      changing(3, 'failed', [
        { at: '2026-11-03T00:00:00Z', to: 'paused' },
        { at: '2026-11-20T12:04:00Z', to: 'active' },
        { at: lastAccepted, to: 'failed' },
      ]),
      subscription(4, { customerId: 70 }),
    ]);
    assert.deepEqual(imported.refused, []);
    const ask = async (path: string) => (await get(`${base}/${path}`, key)).body;
    const ids = (of: readonly { readonly subscriptionId: number }[]) =>
      of.map(({ subscriptionId }) => subscriptionId);
    const seen = async () => {
      const entitled = (await ask('entitlements?customerId=70')).subscriptions;
      const all = (await ask('subscriptions')).subscriptions.toReversed();
      const statuses = entitled.map((each: { readonly status: string }) => each.status);
      assert.deepEqual(
        all.map((each: { readonly status: string }) => each.status),
        statuses,
      );
      for (const [index, id] of ids(all).entries()) {
        assert.equal((await ask(`subscriptions/${id}`)).subscription.status, statuses[index]);
      }
      const { mrr, avgSubscriptionValue } = (await ask('metrics/summary')).summary;
      const active = statuses.filter((status: string) => status === 'active').length;
      assert.equal(Math.round(mrr / avgSubscriptionValue), active);
      const isEntitled = entitled.map((each: { isEntitled: boolean }) => each.isEntitled);
      assert.deepEqual(
        isEntitled,
        statuses.map((status: string) => status === 'active'),
      );
      return statuses;
    };
    assert.deepEqual(await seen(), ['active', 'paused', 'paused', 'active']);
    clock.advance(4 * 60_000 + 1);
    assert.deepEqual(await seen(), ['active', 'paused', 'active', 'active']);
    clock.advance(60_000);
    assert.deepEqual(await seen(), ['cancelled', 'active', 'failed', 'active']);
  });
});
