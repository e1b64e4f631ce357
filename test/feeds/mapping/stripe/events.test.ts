import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Store } from '../../../../src/store/open.ts';
import { root, throwawayFolder } from '../../../cli/process.ts';
import { onOneDatabase } from '../../../support/databases.ts';
import { type TestShop, createShop } from '../../../support/world.ts';
import { importMapped } from '../mapped.ts';
import { casesOf, worldAt } from './cases.ts';

const mapping = readFileSync(path.join(root, 'mappings/stripe-webhooks.json'), 'utf8');
const [subscription = assert.fail()] = casesOf('USD').map((each) => each.subscription);
const day = 24 * 60 * 60;
const began = Date.parse(worldAt) / 1000 - 10 * day;

onOneDatabase("Stripe's events", (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  let events = 0;
  async function send(shop: TestShop, type: string, object: object, previous?: object) {
    events += 1;
    const data = { object, ...(previous && { previous_attributes: previous }) };
    const file = path.join(throwawayFolder(), 'stripe.ndjson');
    writeFileSync(file, JSON.stringify({ object: 'event', type, created: began + events, data }));
    const { refused } = await importMapped(store, shop, mapping, file, { at: worldAt });
    assert.deepEqual(refused, []);
  }

  const until = (end: number, more: object = {}) => {
    const { data } = subscription['items'] as { readonly data: readonly object[] };
    const items = {
      object: 'list',
      data: data.map((each) => ({ ...each, current_period_end: end })),
    };
    return { ...subscription, items, status: 'active', ...more };
  };

  test('of a pause take no period for paid whose invoice is voided', async () => {
    const shop = await createShop(store, { currency: 'USD' });
    const paidUntil = began + 20 * day;
    const paused = { pause_collection: { behavior: 'void', resumes_at: null } };
    const updated = 'customer.subscription.updated';
    const states: unknown[] = [];
    for (const [object, previous] of [
      [until(paidUntil, paused), { pause_collection: null }],
      [until(paidUntil + 30 * day, paused), { items: {}, latest_invoice: 'in_1' }],
    ] as const) {
      await send(shop, updated, object, previous);
      const [found] = await store.write<{ status: string; at: Date }[]>`
        select status, paid_through_at as at from subscriptions where shop_id = ${shop.id}`;
      states.push([found?.status, found && found.at.getTime() / 1000]);
    }
    assert.deepEqual(states, [
      ['paused', paidUntil],
      ['paused', paidUntil],
    ]);
  });

  test('of a refund that the bank returns take it back', async () => {
    const shop = await createShop(store, { currency: 'USD' });
    await send(shop, 'customer.subscription.created', until(began + 20 * day));
    const paid = { object: 'invoice', id: 'in_1', payment_intent: 'pi_1', currency: 'usd' };
    const amounts = { amount_paid: 500, amount_due: 500, status: 'paid', created: began };
    const of = { billing_reason: 'subscription_cycle', subscription: subscription.id };
    await send(shop, 'invoice.paid', { ...paid, ...amounts, ...of });
    const given = { object: 'refund', id: 're_1', payment_intent: 'pi_1', currency: 'usd' };
    const refund = { ...given, amount: 500, created: began };
    const refunded = async () => {
      const rows = await store.write<{ amount: string }[]>`
        select amount from refunds where shop_id = ${shop.id}`;
      return rows.map(({ amount }) => Number(amount));
    };
    await send(shop, 'refund.created', { ...refund, status: 'succeeded' });
    assert.deepEqual(await refunded(), [5]);
    const failed = { ...refund, status: 'failed' };
    await send(shop, 'refund.updated', failed, { status: 'succeeded' });
    assert.deepEqual(await refunded(), [0]);
    // One that never succeeded.
    await send(shop, 'refund.updated', { ...failed, id: 're_2' }, { status: 'pending' });
    assert.deepEqual(await refunded(), [0]);
  });
});
