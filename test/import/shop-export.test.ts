import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import * as fc from 'fast-check';
import { FixedClock } from '../../src/clock.ts';
import { generateShop } from '../../src/demo/generate.ts';
import type { Store } from '../../src/store/open.ts';
import { findCustomerKey, replaceCustomerKey } from '../../src/store/records/customer-keys.ts';
import { root } from '../cli/process.ts';
import { openSynced } from '../feeds/stripe/synced.ts';
import { worldNow } from '../model/times.ts';
import { digitsOf, world as worlds } from '../model/worlds.ts';
import { plan, subscription } from '../rest/records.ts';
import { onEveryDatabase, onOneDatabase } from '../support/databases.ts';
import { runs } from '../support/seed.ts';
import { startStripe } from '../support/stripe/stand-in.ts';
import { StripeWorld } from '../support/stripe/world.ts';
import { Year } from '../support/stripe/year.ts';
import { createShop, importAll, now } from '../support/world.ts';
import { assertSameRows, exportAll, importExport, moveToNewShop } from './exported.ts';

const golden = readFileSync(path.join(root, 'test/golden/records.ndjson'), 'utf8')
  .trim()
  .split('\n');

onEveryDatabase('the export of a shop', (open, name) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  test('makes the same shop of the golden data set', async () => {
    const shop = await createShop(store);
    await importAll(store, shop, golden);
    await moveToNewShop(store, shop);
  });

  test('makes the same shop of random worlds', async () => {
    const { numRuns, ...seed } = runs(name === 'embedded' ? 1 : 6);
    await fc.assert(
      fc.asyncProperty(worlds, async ({ currency, shops }) => {
        const shop = await createShop(store, { currency });
        assert.equal(shop.minorDigits, digitsOf(currency));
        for (const records of shops[0] ?? []) await importAll(store, shop, records);
        // Once nothing lies in the future any more.
        await moveToNewShop(store, shop, new FixedClock(worldNow + 86_400_000));
      }),
      { numRuns, ...seed, endOnFailure: true },
    );
  });

  test('makes the same shop of a demo shop', async () => {
    const shop = await createShop(store);
    const options = { subscriptions: 300, seed: 3, currency: 'USD', minorDigits: 2 };
    await importAll(store, shop, [...generateShop({ ...options, endAt: Date.parse(now) })]);
    await moveToNewShop(store, shop);
  });

  test('has what only feeds say, and values whose plan was left and corrected', async () => {
    const shop = await createShop(store);
    const line = {
      lineId: 1,
      productId: 1,
      variantId: 1,
      quantity: 3,
      currentPrice: '1.123456789012',
    };
    const priced = (currentPrice: string) => [
      { ...line, productTitle: 'for ann@example.com', currentPrice },
      { ...line, lineId: 2, productTitle: 'Tea', intervalUnit: 'week', intervalCount: 2 },
    ];
    const of = (id: number, month: number, fields: object) =>
      subscription(id, {
        customerId: 7,
        createdAt: '2026-01-01T00:00:00Z',
        updatedAt: `2026-0${month}-01T00:00:00Z`,
        lines: priced('10'),
        ...fields,
      });
    const periods = [
      { payment: 0, through: Date.parse('2026-12-01Z') },
      { payment: 21, through: null },
    ];
    const feed = (records: object[]) => importAll(store, shop, records, true);
    await feed([plan(), plan({ id: 12, intervalUnit: 'year', productCount: 41 })]);
    await feed([
      of(1, 1, { paidPeriods: periods, paidThroughAt: '2026-12-01T00:00:00Z' }),
      of(2, 1, { status: 'cancelled', statusEvents: [{ at: null, to: 'cancelled' }] }),
      of(3, 1, {
        trialEndsAt: '2026-02-01T00:00:00Z',
        sourceIds: { id: 'sub_1', customerId: 'cus_1' },
      }),
    ]);
    await feed([
      of(1, 2, { planId: 12, lines: priced('90'), paidPeriods: periods }),
      of(3, 2, { lines: priced('0') }),
    ]);
    await feed([plan({ intervalCount: 2, updatedAt: now })]);
    await feed([
      {
        type: 'payment',
        id: 1,
        subscriptionId: 1,
        cycle: '1',
        status: 'failed',
        amount: 1,
        processedAt: now,
        failureCode: 'card_declined',
      },
      { type: 'delete', record: 'subscription', id: 2 },
    ]);
    await feed([of(2, 1, { status: 'paused', statusEvents: [{ at: null, to: 'paused' }] })]);
    await feed([{ type: 'cancellation', id: 1, detectedReason: 'other', createdAt: now }]);
    const text = (await exportAll(store, shop.id)).join('\n');
    assert.match(text, /"pastValues":\[\[\d+,\{[^}]*"month 2 11":"30"/);
    assert.match(
      text,
      /"paidPeriods":\[\{"payment":0,"through":\d+\},\{"payment":21,"through":null\}\]/,
    );
    await moveToNewShop(store, shop);
  });

  test('brings the key of addresses, and from when on prices are known', async () => {
    const shop = await createShop(store);
    await importAll(store, shop, [plan(), subscription(1)]);
    const key = await replaceCustomerKey(store.write, shop.id);
    const since = new Date('2026-03-04T05:06:07.008Z');
    await store.write`update metric_shops set values_since = ${since} where shop_id = ${shop.id}`;
    const other = await moveToNewShop(store, shop);
    assert.equal(await findCustomerKey(store.write, other.id), key);
    // Not into a shop that has customers under another key.
    const lines = await exportAll(store, shop.id);
    await replaceCustomerKey(store.write, other.id);
    await assert.rejects(importExport(store, other, lines), {
      message: `Shop ${other.id} has customers already, and another key for their e-mail addresses than export, so that one customer would count as two. Import it into a new shop.`,
    });
  });

  test('is refused where it cannot be the export of such a shop', async () => {
    const shop = await createShop(store);
    await importAll(store, shop, [plan()]);
    const [header = '', ...lines] = await exportAll(store, shop.id);
    const euros = await createShop(store, { currency: 'EUR' });
    await assert.rejects(importExport(store, euros, [header]), {
      message: `export is the export of a shop with USD, but shop ${euros.id} has EUR. Import it into a shop with USD.`,
    });
    await assert.rejects(
      importExport(store, shop, [header.replace('"version":1', '"version":2')]),
      {
        message: 'export is an export of a newer version of this service. Update this one first.',
      },
    );
    await assert.rejects(importExport(store, shop, [header.replace(/"exportedAt":"[^"]+",/, '')]), {
      message: 'export:1: exportedAt is missing.',
    });
    // It counts only as the first line.
    const refused = await importExport(store, shop, [header, ...lines, header]);
    assert.equal(refused.length, 1);
    assert.match(refused[0] ?? '', /type must be one of plan, /);
  });
});

onOneDatabase('the export of a shop of Stripe', (open) => {
  test('makes the same shop of a year of Stripe', async (t) => {
    const store = open();
    t.after(() => store.close());
    const clock = new FixedClock('2025-11-20T00:00:00Z');
    const world = new StripeWorld({ clock });
    const stripe = await startStripe(world);
    t.after(() => stripe.close());
    const { shop, sync } = await openSynced(store, stripe, clock);
    await sync();
    let turns = 0;
    for (const _ of new Year(world, clock).play()) {
      turns += 1;
      if (turns % 20 === 0) await sync();
    }
    await sync();
    const lines = await exportAll(store, shop.id);
    const valued = lines.filter((line) => line.includes('"valueEvents"'));
    assert.ok(valued.length > 3 && valued.every((line) => line.includes('"pastValues"')));
    assert.ok(
      lines.some((line) => /"sourceIds":\{"id":"(?:si|sub)_\w+","customerId":"cus_/.test(line)),
    );
    const other = await moveToNewShop(store, shop, clock);
    // Again, nothing changes.
    assert.deepEqual(await importExport(store, other, lines, clock), []);
    await assertSameRows(store, shop.id, other.id);
  });
});
