import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, after, before, test } from 'node:test';
import { FixedClock } from '../../../src/clock.ts';
import type { Store } from '../../../src/store/open.ts';
import { root, throwawayFolder } from '../../cli/process.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { startRecharge } from '../../support/recharge/stand-in.ts';
import { chargeOf, exportFile, subscriptionsOf } from '../../support/recharge/world.ts';
import { createShop } from '../../support/world.ts';
import { importMapped } from '../mapping/mapped.ts';
import { type Expected, checkCase, worldAt } from '../mapping/stripe/cases.ts';
import { recordsOf } from '../stripe/synced.ts';
import { openSynced } from './synced.ts';

const textOf = (file: string) => readFileSync(path.join(root, file), 'utf8');
const mapping = textOf('mappings/recharge-subscriptions.json');
const expected: readonly (Expected & { readonly id: string })[] = textOf(
  'test/feeds/mapping/vendors/worlds/recharge-expected.jsonl',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
const minute = 60_000;
const hour = 60 * minute;

onOneDatabase('Recharge brings the same records', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  async function start(t: TestContext) {
    const clock = new FixedClock(worldAt);
    const recharge = await startRecharge(clock);
    t.after(() => recharge.close());
    const synced = await openSynced(store, recharge, clock);
    const records = (shop = synced.shop) => recordsOf(store, shop.id, new Date(clock.now()));
    return { clock, recharge, synced, records };
  }

  test('by its export file and by a first sync, as worked out by hand', async (t) => {
    const { recharge, synced, records } = await start(t);
    for (const each of subscriptionsOf()) recharge.put('subscriptions', each);
    const { kind, refused, written } = await synced.sync();
    // One is in euros.
    assert.deepEqual([kind, refused], ['whole', 1]);
    assert.equal(written, 26);
    for (const row of expected) {
      const isStored = row.id !== '4017';
      await checkCase(store, synced.shop, Number(row.id), { ...row, stored: isStored });
    }

    const shop = await createShop(store, { currency: 'USD' });
    const file = path.join(throwawayFolder(), 'recharge.csv');
    const rows = readFileSync(exportFile, 'utf8').split('\n');
    writeFileSync(file, rows.filter((row) => !row.includes('EUR')).join('\n'));
    await importMapped(store, shop, mapping, file, { at: worldAt, asOf: worldAt });
    assert.deepEqual(await records(), await records(shop));

    assert.equal((await synced.sync({ full: true })).written, 0);
  });

  test('change by change and by a first sync at the end', async (t) => {
    const { clock, recharge, synced, records } = await start(t);
    await synced.sync();
    for (const each of subscriptionsOf()) {
      clock.advance(minute);
      recharge.put('subscriptions', each);
      recharge.change('subscriptions', Number(each['id']), {});
      if (Number(each['id']) % 3 === 0) await synced.sync();
    }
    clock.advance(minute);
    recharge.change('subscriptions', 4001, {
      status: 'cancelled',
      cancelled_at: new Date(clock.now()).toISOString().slice(0, 19),
    });
    recharge.put('charges', chargeOf(501, [4003, 4002]));
    recharge.change('charges', 501, {});
    // Its subscription becomes visible later.
    recharge.put('charges', chargeOf(502, [4100]));
    recharge.change('charges', 502, {});
    await synced.sync();
    await synced.sync();
    clock.advance(minute);
    recharge.put('subscriptions', { ...recharge.lists.subscriptions.get(4002), id: 4100 });
    recharge.change('subscriptions', 4100, {});
    await synced.sync();
    const late = await openSynced(store, recharge, clock);
    await late.sync();
    assert.deepEqual(await records(), await records(late.shop));
    const { payments } = await records();
    assert.deepEqual(
      payments.map((each) => [each['payment_id'], each['subscription_id'], each['amount']]),
      [
        [501, 4002, '30.60'],
        [502, 4100, '30.60'],
      ],
    );
  });

  test('of charges: each failed attempt, the payment, and what was paid back', async (t) => {
    const { clock, recharge, synced, records } = await start(t);
    recharge.put('subscriptions', subscriptionsOf()[0] ?? {});
    const at = () => new Date(clock.now()).toISOString().slice(0, 19);
    recharge.put('charges', chargeOf(500, [4001], { status: 'queued', processed_at: null }));
    recharge.put('charges', chargeOf(502, [4999]));
    recharge.put('charges', chargeOf(503, []));
    await synced.sync();
    const failed = { status: 'error', error_type: 'CARD_DECLINED' };
    for (const charge_attempts of [1, 2]) {
      clock.advance(24 * hour);
      recharge.change('charges', 500, { ...failed, charge_attempts, last_charge_attempt: at() });
      await synced.sync();
    }
    clock.advance(24 * hour);
    recharge.change('charges', 500, { status: 'success', processed_at: at() });
    await synced.sync();
    clock.advance(24 * hour);
    recharge.change('charges', 500, { status: 'partially_refunded', total_refunds: '10.00' });
    await synced.sync();
    const { payments, refunds } = await records();
    const days = payments.map((each) => [
      (each['processed_at'] as Date).toISOString().slice(0, 10),
      each['status'],
      each['cycle'],
    ]);
    assert.deepEqual(days.toSorted(), [
      ['2026-11-21', 'failed', '500'],
      ['2026-11-22', 'failed', '500'],
      ['2026-11-23', 'succeeded', '500'],
    ]);
    assert.deepEqual(
      refunds.map((each) => [each['payment_id'], each['amount'], each['refunded_at']]),
      [[500, '10.00', new Date(clock.now())]],
    );
    // What Recharge forgets after 90 days stays.
    clock.advance(100 * 24 * hour);
    await synced.sync({ full: true });
    assert.equal((await records()).payments.length, 3);
  });
});
