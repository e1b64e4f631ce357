import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Store } from '../../src/store/open.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type TestShop, createShop, importAll } from '../support/world.ts';

const saved = (id: number, createdAt: string) =>
  session(id, { subscriptionId: 1001, outcome: 'saved', createdAt });
const [first, second, third] = [
  saved(7001, '2026-11-02T00:00:00.000Z'),
  saved(7002, '2026-11-03T00:00:00.000Z'),
  saved(7003, '2026-11-04T00:00:00.000Z'),
];

onOneDatabase('when a new subscription was last saved', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  async function savedAtIn(shop: TestShop) {
    const [row] = await store.write<{ savedAt: Date | null }[]>`
      select saved_at as "savedAt" from subscriptions
      where shop_id = ${shop.id} and subscription_id = 1001`;
    return row?.savedAt?.toISOString();
  }

  for (const [title, sessions] of [
    ['newest first', [third, second, first]],
    ['oldest first', [first, second, third]],
    ['in no order', [second, third, first]],
  ] as const) {
    test(`is the start of the newest of its sessions, ${title} in one batch`, async () => {
      const shop = await createShop(store);
      const records = [plan(), subscription(1001), ...sessions];
      assert.deepEqual((await importAll(store, shop, records)).refused, []);
      assert.equal(await savedAtIn(shop), '2026-11-04T00:00:00.000Z');
    });
  }

  test('is known of sessions that were stored before it', async () => {
    const shop = await createShop(store);
    await importAll(store, shop, [plan(), subscription(1001), first, second]);
    const [row] = await store.write<{ text: string }[]>`
      select (to_jsonb(s) - 'saved_at')::text as text from subscriptions s where shop_id = ${shop.id}`;
    await store.write`delete from subscriptions where shop_id = ${shop.id}`;
    await store.write`
      insert into subscriptions
      select * from jsonb_populate_record(null::subscriptions, ${row?.text ?? ''}::text::jsonb)`;
    assert.equal(await savedAtIn(shop), '2026-11-03T00:00:00.000Z');
  });
});
