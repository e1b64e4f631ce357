import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { plan, subscription } from '../rest/records.ts';
import {
  type TestShop,
  type World,
  createShop,
  importAll,
  openAnyStore,
  startWorld,
} from '../support/world.ts';
import { figuresOf, overviewOwner } from './overview-pages.ts';

describe('the overview of a shop', () => {
  let world: World;
  before(async () => {
    world = await startWorld(openAnyStore());
  });
  after(() => world.close());

  const owner = (shop: TestShop) => overviewOwner(world, shop);

  test('shows the ways in and sample figures in a shop without records', async () => {
    const shop = await createShop(world.store, { tier: 'growth', currency: 'EUR' });
    const { open } = await owner(shop);
    const { status, text } = await open();
    assert.equal(status, 200);
    assert.match(text, /No data yet/);
    assert.ok(text.includes(`<code>retention import --shop ${shop.id} FILE</code>`));
    assert.ok(text.includes(`href="/app/shops/${shop.id}/sources/push/new"`));
    const sample = text.slice(text.indexOf('sample figures of a made-up shop'));
    assert.match(sample, /<div inert>/);
    assert.equal(figuresOf(sample).length, 15);
    assert.deepEqual(figuresOf(text).slice(0, 4), ['1,248', '57', '146', '€41,500.00']);
    assert.doesNotMatch(text, /<figure/);

    const locked = await owner(await createShop(world.store, { tier: 'free' }));
    assert.doesNotMatch((await locked.open()).text, /push\/new/);
  });

  test('puts each chart’s total above it, against the period before', async () => {
    const shop = await createShop(world.store);
    const { open } = await owner(shop);
    await importAll(world.store, shop, [
      plan(),
      subscription(1, { customerId: 1, createdAt: '2026-08-01T00:00:00Z' }),
      subscription(2, { customerId: 2, createdAt: '2026-10-01T00:00:00Z' }),
      subscription(3, { customerId: 3, createdAt: '2026-10-25T00:00:00Z' }),
      subscription(4, { customerId: 4, createdAt: '2026-11-02T00:00:00Z' }),
    ]);
    const headlines = async (query: string) =>
      [
        ...(await open(query)).text.matchAll(
          /<span class="headline">(.*?)(?=<p class="quiet">\s*(?:At|Per))/gs,
        ),
      ].map(([, markup = '']) =>
        markup
          .replace(/<[^>]*>/g, ' ')
          .replace(/\s+/g, ' ')
          .trim(),
      );
    assert.deepEqual(await headlines(''), [
      '4 30 days earlier: 2',
      '$122.40 30 days earlier: $61.20',
      '2 new, 0 cancelled 30 days before: 1 new, 0 cancelled',
      '0 failed, 0 recovered 30 days before: 0 failed, 0 recovered',
      '0',
      '$0.00',
    ]);
    const [active, , changes] = await headlines('?days=90');
    assert.deepEqual([active, changes], ['4', '3 new, 0 cancelled']);
  });
});
