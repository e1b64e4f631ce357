import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Store } from '../../../../src/store/open.ts';
import { root } from '../../../cli/process.ts';
import { onOneDatabase } from '../../../support/databases.ts';
import { tablesWith } from '../../../support/tables-with.ts';
import { createShop } from '../../../support/world.ts';
import { webhookVendors } from './expected-webhooks.ts';
import { fileVendors } from './expected-files.ts';
import type { Vendor } from './vendor.ts';
import { figuresOf, importSample, worldOf } from './world.ts';

const all: Readonly<Record<string, Vendor>> = { ...fileVendors, ...webhookVendors };
const nothing = { plans: [], subscriptions: [], payments: [], refunds: [], sessions: [] };

onOneDatabase('shipped mappings', (open) => {
  let store: Store;
  const shopIds: number[] = [];
  before(() => {
    store = open();
  });
  after(() => store.close());

  async function importAll(vendor: Vendor, shop: Awaited<ReturnType<typeof createShop>>) {
    const results = [];
    for (const [mapping, file] of vendor.imports) {
      results.push(await importSample(store, shop, mapping, file));
    }
    return {
      refused: results.flatMap(({ refused }) => refused),
      texts: results.flatMap(({ texts }) => texts).join('\n'),
      skipped: results.reduce((sum, { left }) => sum + left, 0),
    };
  }

  for (const [name, vendor] of Object.entries(all)) {
    test(`${name}: exact rows and figures, and the same again`, async () => {
      const shop = await createShop(store);
      shopIds.push(shop.id);
      const { refused, texts, skipped } = await importAll(vendor, shop);
      const world = await worldOf(store, shop.id);
      assert.deepEqual(world, { ...nothing, ...vendor.world });
      assert.deepEqual(await figuresOf(store, shop), vendor.figures);
      assert.deepEqual(refused, vendor.refused ?? []);
      assert.equal(skipped, vendor.skipped ?? 0);
      assert.doesNotMatch(texts, /planted|\+1503555/i);

      await importAll(vendor, shop);
      assert.deepEqual(await worldOf(store, shop.id), world);
    });
  }

  test('store no personal data', async () => {
    const planted = 'planted(first|last|street|[0-9]?@example)|[+]1503555';
    assert.deepEqual(await tablesWith(store, shopIds, planted), []);
    // Proves that the search finds what is stored.
    const found = await tablesWith(store, shopIds, 'Espresso Roast');
    assert.ok(found.includes('subscription_lines'));
  });

  test('all have a sample', () => {
    const used = Object.values(all).flatMap(({ imports }) => imports.map(([mapping]) => mapping));
    const files = readdirSync(path.join(root, 'mappings')).filter((file) => file.endsWith('.json'));
    const shipped = files.map((file) => path.parse(file).name);
    // examples.test.ts has samples of these.
    const others = ['shopify-contracts', 'stripe-subscriptions'];
    assert.deepEqual([...new Set([...used, ...others])].toSorted(), shipped.toSorted());
  });
});
