import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findLedgerDifferences, rebuildMetrics } from '../../src/metrics/verify/sums.ts';
import type { Store } from '../../src/store/open.ts';
import { listSubscriptionsShown } from '../../src/store/records/subscriptions.ts';
import { line, plan, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { createShop, importAll } from '../support/world.ts';

const remove = (record: string, id: number) => ({ type: 'delete', record, id });
const priced = (id: number, currentPrice: string, more: object = {}) =>
  subscription(id, { customerId: id, lines: [{ ...line, quantity: 1, currentPrice }], ...more });

onOneDatabase('what subscriptions are worth', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  const setUp = async () => {
    const shop = await createShop(store);
    const send = async (...records: object[]) =>
      assert.deepEqual((await importAll(store, shop, records)).refused, []);
    await send(
      plan(),
      priced(1, '30'),
      priced(2, '240', { intervalUnit: 'year', intervalCount: 1 }),
      priced(3, '25'),
      priced(4, '40', {
        status: 'cancelled',
        statusEvents: [{ at: '2026-11-01T00:00:00.000Z', to: 'cancelled' }],
      }),
    );
    const list = async (order: 'highest' | 'lowest', more: object = {}) => {
      const page = { status: undefined, after: undefined, limit: 10, order, ...more };
      const { rows } = await listSubscriptionsShown(store.primary.subscriptions, shop, page);
      const found: { subscriptionId: number; value: string }[] = JSON.parse(`[${rows}]`);
      return found.map(({ subscriptionId, value }) => [subscriptionId, value]);
    };
    const verified = async () =>
      (await findLedgerDifferences(store.write, shop.id)).map(
        ({ table, key }) => `${table} ${key}`,
      );
    return { shop, send, list, verified };
  };
  const all = [
    [4, '40'],
    [1, '30'],
    [3, '25'],
    [2, '20'],
  ];

  test('is what they cost a month, in both directions, of all or of a status, after any row', async () => {
    const { list, verified } = await setUp();
    assert.deepEqual(await list('highest'), all);
    assert.deepEqual(await list('lowest'), all.toReversed());
    assert.deepEqual(await list('highest', { status: 'active' }), all.slice(1));
    const last = { createdAt: 0, id: 1, value: '30' };
    assert.deepEqual(await list('highest', { after: last }), all.slice(2));
    assert.deepEqual(await list('lowest', { after: last }), all.slice(0, 1));
    assert.deepEqual(await verified(), []);
  });

  test('follows their price, their status, and the interval of their plan', async () => {
    const { send, list, verified } = await setUp();
    await send(priced(3, '35', { status: 'paused', updatedAt: '2026-11-02T00:00:00Z' }));
    assert.deepEqual(await list('highest', { status: 'paused' }), [[3, '35']]);
    await send(plan({ intervalCount: 3, updatedAt: '2026-11-02T00:00:00Z' }));
    assert.deepEqual(await list('highest'), [
      [2, '20'],
      [4, '13.333333333333'],
      [3, '11.666666666667'],
      [1, '10'],
    ]);
    await send(remove('subscription', 2));
    assert.deepEqual((await list('highest')).length, 3);
    assert.deepEqual(await verified(), []);
  });

  test('is verified, and rebuilt', async () => {
    const { shop, verified } = await setUp();
    await store.write`
      update subscription_values set value = 1 where shop_id = ${shop.id} and subscription_id = 2`;
    await store.write`insert into subscription_values values (${shop.id}, 9, 'active', 1)`;
    assert.deepEqual(await verified(), ['subscription_values 2', 'subscription_values 9']);
    await rebuildMetrics(store.write, shop.id);
    assert.deepEqual(await verified(), []);
  });
});
