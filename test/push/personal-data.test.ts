import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../src/log/log.ts';
import { onOneOwnDatabase } from '../support/own-databases.ts';
import { tablesWith } from '../support/tables-with.ts';
import { until } from '../support/until.ts';
import { startPushWorld } from './world.ts';

const planted = {
  email: 'planted@example.com',
  name: 'planted',
  phone: '+1 planted',
  customer: { firstName: 'planted', email: 'planted@example.com' },
  note: 'planted: ring twice',
  address: { street: 'planted', lines: ['planted'] },
  preserve: 'planted',
  sourceIds: { id: 'planted', customerId: 'planted@example.com' },
  paidPeriods: ['planted'],
  'planted key': 'planted',
};
const line = {
  ...planted,
  lineId: 1,
  productId: 81,
  productTitle: 'House Blend',
  variantId: 91,
  quantity: 1,
  currentPrice: '15.30',
};
const subscription = {
  ...planted,
  type: 'subscription',
  id: 1001,
  customerId: 'planted-login',
  planId: 11,
  status: 'active',
  createdAt: '2026-05-05T11:00:00Z',
  statusEvents: [{ ...planted, at: '2026-05-05T11:00:00Z', to: 'active' }],
  lines: [line],
};
const plan = {
  ...planted,
  type: 'plan',
  id: 11,
  name: 'Monthly box',
  planType: 'subscription',
  intervalUnit: 'month',
  intervalCount: 1,
  pricing: { ...planted, discountType: 'none', discountValue: 0 },
};
const session = {
  ...planted,
  type: 'cancellation',
  id: 7001,
  detectedReason: 'other',
  createdAt: '2026-11-17T10:58:00Z',
};
/** Personal data in fields that are read, so that the records are refused. */
const misplaced = [
  { ...plan, id: 12, name: 'planted@example.com' },
  { ...plan, id: 13, intervalUnit: 'planted' },
  { ...plan, id: 14, pricing: 'planted' },
  { ...subscription, id: 1003, customerId: { id: 'planted' } },
  { ...subscription, id: 1004, lines: [{ ...line, productTitle: 'for planted@example.com' }] },
  { ...subscription, id: 1005, lines: 'planted' },
  { ...session, id: 7002, detectedReason: 'planted' },
  { ...session, id: 7003, createdAt: 'planted' },
  { ...session, type: 'planted' },
  { ...planted, type: 'delete', record: 'planted', id: 1 },
  'planted',
  ['planted'],
];
/** An address that is the customer's id becomes a number before anything is stored. */
const addressed = { ...subscription, id: 1002, customerId: 'planted@example.com' };
const waiting = [
  { ...session, id: 7010, subscriptionId: 'planted' },
  { ...addressed, id: 1010, planId: 99 },
];

onOneOwnDatabase('personal data in pushed records', (open) => {
  test('is neither stored, queued, reported nor logged', async (t) => {
    const store = open();
    t.after(() => store.close());
    const logged: string[] = [];
    const log = createLog('debug', { write: (text: string) => void logged.push(text) });
    const world = await startPushWorld(store, { log });
    const { body } = await world.push(
      JSON.stringify([plan, subscription, addressed, session, ...misplaced, ...waiting]),
    );
    const batch = await until(
      () => world.read(body.batchId),
      ({ outcomes }) => outcomes['stored'] === 4,
    );
    assert.equal(batch.status, 'working');
    assert.equal(batch.refused.length, misplaced.length);
    assert.doesNotMatch(JSON.stringify(batch), /planted/i);
    assert.equal((await world.push('{"type":"plan","name":"planted')).status, 202);
    await world.close();
    assert.ok(logged.length > 3);
    assert.doesNotMatch(logged.join('\n'), /planted/i);

    assert.deepEqual(await tablesWith(store, [world.shop.id], 'planted'), []);
    // Proves that the search can find something.
    assert.notDeepEqual(await tablesWith(store, [world.shop.id], String(world.shop.id)), []);
  });
});
