import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deriveId } from '../../src/ingest/source-ids.ts';
import { findRecord } from '../../src/platforms/source-ids.ts';
import { redactCustomer } from '../../src/store/records/customers.ts';
import type { Store } from '../../src/store/open.ts';
import { type SourceId, listSourceIdsOfCustomer } from '../../src/store/records/source-ids.ts';
import { type RecordKind } from '../../src/store/records/export-dates.ts';
import { deleteShop } from '../../src/store/shop-deletion.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { derived, ids, payment, price, refund, storedSourceIds } from './derived.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type TestShop, createShop, importAll } from '../support/world.ts';

onOneDatabase('ids at the source', (open) => {
  let store: Store;
  let shop: TestShop;
  before(() => {
    store = open();
  });
  after(() => store.close());

  const stored = (of: TestShop = shop) => storedSourceIds(store, of);
  /** Imports as a feed does; no record may be refused. */
  const take = async (...records: object[]) => {
    const { counts, refused } = await importAll(store, shop, records, true);
    assert.deepEqual(refused, []);
    return counts;
  };
  const find = (kind: RecordKind, text: string) => findRecord(store.write, shop.id, kind, text);

  test('are kept for every kind of record, and for customers', async () => {
    shop = await createShop(store);
    const cancellation = session(deriveId('cancellation', 'c6cd6c3e-5a0c-4c9b-8d5e-0f1a2b3c4d5e'), {
      subscriptionId: deriveId('subscription', 'sub_1'),
      sourceIds: { id: 'c6cd6c3e-5a0c-4c9b-8d5e-0f1a2b3c4d5e', subscriptionId: 'sub_1' },
    });
    // Children first: a record that waits for its parent keeps its source ids.
    await take(
      refund('re_1', 'in_1'),
      payment('in_1', 'sub_1'),
      cancellation,
      derived('sub_1', 'cus_1'),
      price,
    );
    assert.deepEqual(await stored(), [
      ...ids('cancellation', 'c6cd6c3e-5a0c-4c9b-8d5e-0f1a2b3c4d5e'),
      ...ids('customer', 'cus_1'),
      ...ids('payment', 'in_1'),
      ...ids('plan', 'price_1'),
      ...ids('refund', 're_1'),
      ...ids('subscription', 'sub_1'),
    ]);

    await take(derived('sub_2', 'cus_2'));
    const held = await listSourceIdsOfCustomer(store.write, shop.id, deriveId('customer', 'cus_1'));
    assert.deepEqual(
      held.map(({ sourceId }) => sourceId),
      ['c6cd6c3e-5a0c-4c9b-8d5e-0f1a2b3c4d5e', 'cus_1', 'in_1', 're_1', 'sub_1'],
    );
  });

  test('are added to stored records when those are imported again', async () => {
    shop = await createShop(store);
    const records = [price, derived('sub_1', 'cus_1'), payment('in_1', 'sub_1')];
    await take(...records.map((record) => ({ ...record, sourceIds: undefined })));
    assert.deepEqual(await stored(), []);
    const counts = await take(...records);
    assert.deepEqual(
      Object.values(counts).map(({ unchanged }) => unchanged),
      [1, 1, 1],
    );
    assert.equal((await stored()).length, 4);
    await take(...records);
    assert.equal((await stored()).length, 4);
  });

  test('are not stored from record files, nor if they are not opaque', async () => {
    shop = await createShop(store);
    const { refused } = await importAll(store, shop, [price, derived('sub_1', 'cus_1')]);
    assert.deepEqual(refused, []);
    assert.deepEqual(await stored(), []);
    await take(derived('sub_2', 'jane_doe'), {
      ...derived('sub_3', 'cus_3'),
      sourceIds: { id: 7, customerId: null, status: 'sub_3', lines: 'sub_3', other: 'sub_3' },
    });
    assert.deepEqual(await stored(), ids('subscription', 'sub_2'));
  });

  test('are deleted with their record and with the records deleted along with it', async () => {
    shop = await createShop(store);
    const other = await createShop(store);
    await importAll(store, other, [price, derived('sub_1', 'cus_1')], true);
    await take(
      price,
      derived('sub_1', 'cus_1'),
      derived('sub_2', 'cus_2'),
      payment('in_1', 'sub_1'),
      payment('in_2', 'sub_2'),
      refund('re_1', 'in_1'),
      refund('re_2', 'in_2'),
    );
    const remove = (record: string, text: string) => ({
      type: 'delete',
      record,
      id: deriveId(record, text),
      // A feed may name what it deletes, too.
      sourceIds: { id: text },
    });
    await take(remove('refund', 're_2'));
    await take(remove('subscription', 'sub_1'));
    const left = [
      ...ids('customer', 'cus_2'),
      ...ids('payment', 'in_2'),
      ...ids('plan', 'price_1'),
      ...ids('subscription', 'sub_2'),
    ];
    assert.deepEqual(await stored(), left);
    await take(
      remove('payment', 'in_2'),
      remove('subscription', 'sub_2'),
      remove('plan', 'price_1'),
    );
    assert.deepEqual(await stored(), []);

    assert.equal((await stored(other)).length, 3);
    await deleteShop(store.write, other.id, { by: { who: 'service' }, at: new Date() });
    assert.deepEqual(await stored(other), []);
  });

  test('of customers are deleted when the customer is redacted, and do not come back', async () => {
    shop = await createShop(store);
    const records = [price, derived('sub_1', 'cus_1'), derived('sub_2', 'cus_2')];
    await take(...records);
    const { id } = ids('customer', 'cus_1')[0] as SourceId;
    await store.write.begin((tx) => redactCustomer(tx, shop.id, id));
    const left = [
      ...ids('customer', 'cus_2'),
      ...ids('plan', 'price_1'),
      ...ids('subscription', 'sub_1', 'sub_2'),
    ];
    assert.deepEqual(await stored(), left);
    await take(...records);
    await take(derived('sub_1', 'cus_1', { nextBillingDate: '2026-12-24T00:00:00Z' }));
    await take(derived('sub_3', 'cus_1'));
    assert.deepEqual(await stored(), [...left, ...ids('subscription', 'sub_3')]);
    assert.equal(await find('customer', 'cus_1'), undefined);
  });

  test('of a customer without subscriptions are deleted with the customer', async () => {
    shop = await createShop(store);
    await take(price, derived('sub_1', 'cus_1'));
    await take(derived('sub_1', 'cus_2', { updatedAt: '2026-11-15T00:00:00Z' }));
    assert.deepEqual((await stored()).slice(0, 1), ids('customer', 'cus_2'));
    assert.equal((await stored()).length, 3);
  });

  test('find records in both directions, within the shop', async () => {
    shop = await createShop(store);
    const other = await createShop(store);
    await importAll(store, other, [price, derived('sub_1', 'cus_1')], true);
    await take(
      price,
      derived('sub_2', 'cus_2'),
      subscription(1001, { planId: deriveId('plan', 'price_1') }),
    );
    const [customer] = ids('customer', 'cus_2');
    const found = { id: customer?.id, sourceId: 'cus_2' };
    assert.deepEqual(await find('customer', 'cus_2'), found);
    assert.deepEqual(await find('customer', String(customer?.id)), found);
    assert.deepEqual(await find('subscription', '1001'), { id: 1001, sourceId: null });
    const unknown: [RecordKind, string][] = [
      ['customer', 'cus_1'],
      ['customer', 'sub_2'],
      ['subscription', 'sub_1'],
      ['subscription', 'cus_2'],
      ['subscription', '01001'],
      ['subscription', '1002'],
      ['subscription', 'gid://shopify/SubscriptionContract/1001'],
      ['plan', ''],
      ['customer', '\0'],
      ['customer', '99999999999999999999'],
    ];
    for (const [kind, text] of unknown) assert.equal(await find(kind, text), undefined, text);
  });

  test('are numbers with a prefix in a shop that follows Shopify', async () => {
    shop = await createShop(store);
    await take(plan(), subscription(1001, { customerId: 501 }));
    const follow = (feed: string) => store.write`
      insert into feeds (shop_id, feed, arrived_at) values (${shop.id}, ${feed}, now())`;
    // Files may stand beside another system's, whose numbers are its own.
    await follow('shopify-file');
    assert.deepEqual(await find('subscription', '1001'), { id: 1001, sourceId: null });
    await follow('shopify');
    const gid = 'gid://shopify/SubscriptionContract/1001';
    assert.deepEqual(await find('subscription', gid), { id: 1001, sourceId: gid });
    assert.deepEqual(await find('subscription', '1001'), { id: 1001, sourceId: gid });
    const customer = 'gid://shopify/Customer/501';
    assert.deepEqual(await find('customer', customer), { id: 501, sourceId: customer });
    for (const wrong of [
      'gid://shopify/Customer/1001',
      'gid://shopify/SubscriptionContract/1002',
    ]) {
      assert.equal(await find('subscription', wrong), undefined);
    }
    assert.deepEqual(await stored(), []);
  });
});
