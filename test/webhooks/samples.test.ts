import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Store } from '../../src/store/open.ts';
import { lines, plans, statusEvents } from '../feeds/shopify/expected.ts';
import { payments, refunds, subscriptions } from '../feeds/shopify/orders/expected.ts';
import { randomOf, shuffled } from '../feeds/shopify/samples.ts';
import { sampleWorld } from '../feeds/shopify/stand-in-world.ts';
import { onOneOwnDatabase } from '../support/own-databases.ts';
import { startWebhookWorld, untilQuiet } from './world.ts';

/** The expected rows, worked out by hand, by table and columns. */
const expected = {
  'subscriptions: subscription_id, customer_id, plan_id, status, status_since, current_price, own_interval_unit, own_interval_count, next_billing_at, paid_through_at, created_at, updated_at':
    subscriptions,
  'subscription_lines: subscription_id, position, line_id, product_id, product_title, variant_id, variant_title, quantity, current_price':
    lines,
  'status_events: subscription_id, position, at, from_status, to_status': statusEvents,
  'payments: payment_id, subscription_id, cycle, status, failure_kind, amount, processed_at, updated_at':
    payments,
  'refunds: refund_id, payment_id, amount, refunded_at': refunds,
  'plans: plan_id, name, group_name, plan_type, interval_unit, interval_count, active, product_count, discount_type, discount_value, pricing_summary':
    plans,
};

onOneOwnDatabase('the samples from Shopify, by webhooks alone', (open) => {
  let store: Store;
  let world: Awaited<ReturnType<typeof startWebhookWorld>>;
  before(async () => {
    store = open();
    world = await startWebhookWorld(store, { source: sampleWorld() });
  });
  after(async () => {
    await world.close();
    await store.close();
  });

  const numbersIn = (ids: Iterable<string>) => [...ids].map((id) => Number(id.split('/').at(-1)));
  const cell = (value: unknown) =>
    value instanceof Date ? value.toISOString().replace('.000Z', 'Z') : String(value);

  test('are stored as expected, in any order and with repeated webhooks', async () => {
    const contracts = numbersIn(world.source.contracts.keys());
    const groups = numbersIn(world.source.groups.keys());
    const random = randomOf(11);
    const rounds = [
      ['subscription_contracts/update', [...contracts, ...contracts]],
      ['selling_plan_groups/update', [...groups, ...groups]],
      ['subscription_contracts/create', contracts],
    ] as const;
    for (const [topic, ids] of rounds) {
      for (const id of shuffled(ids, random)) {
        assert.equal((await world.send(topic, { id })).status, 200);
      }
      await untilQuiet(store);
    }
    for (const [place, rows] of Object.entries(expected)) {
      const [table = '', columns = ''] = place.split(': ');
      const found = await store.write.unsafe<Record<string, unknown>[]>(
        `select ${columns} from ${table} where shop_id = ${world.shop.id} order by 1, 2`,
      );
      assert.deepEqual(
        found.map((row) => Object.values(row).map(cell).join(' | ')),
        rows,
      );
    }
  });
});
