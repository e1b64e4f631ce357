import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { deriveId } from '../../src/ingest/source-ids.ts';
import { findRecord } from '../../src/platforms/source-ids.ts';
import { forgetShop } from '../../src/platforms/registry.ts';
import { redactCustomer } from '../../src/store/records/customers.ts';
import type { Store } from '../../src/store/open.ts';
import type { RecordKind, SourceId } from '../../src/store/records/source-ids.ts';
import { deleteShop } from '../../src/store/shop-deletion.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { importContent, subscriptions } from '../feeds/mapping/mapped.ts';
import { onEveryDatabase } from '../support/databases.ts';
import { type TestShop, createShop, importAll } from '../support/world.ts';

/** Texts that get the same number: found by trying 2^28 of them. */
const sameCustomer = ['cus_000000000cf6od', 'cus_000000001tw7oa'] as const;

const ids = (kind: RecordKind, ...sourceIds: string[]) =>
  sourceIds.map((sourceId) => ({ kind, id: deriveId(kind, sourceId), sourceId }));

const price = plan({ id: deriveId('plan', 'price_1'), sourceIds: { id: 'price_1' } });

/** A subscription as a platform makes it from `sub_…` and `cus_…`. */
function derived(sub: string, cus: string, over: object = {}): object {
  return subscription(deriveId('subscription', sub), {
    customerId: deriveId('customer', cus),
    planId: deriveId('plan', 'price_1'),
    sourceIds: { id: sub, customerId: cus, planId: 'price_1' },
    ...over,
  });
}

const payment = (text: string, sub: string, over: object = {}) => ({
  type: 'payment',
  id: deriveId('payment', text),
  subscriptionId: deriveId('subscription', sub),
  cycle: text,
  status: 'succeeded',
  amount: '30.60',
  processedAt: '2026-11-01T00:00:00Z',
  sourceIds: { id: text, subscriptionId: sub },
  ...over,
});

const refund = (text: string, paid: string) => ({
  type: 'refund',
  id: deriveId('refund', text),
  paymentId: deriveId('payment', paid),
  amount: '1.00',
  refundedAt: '2026-11-02T00:00:00Z',
  sourceIds: { id: text, paymentId: paid },
});

onEveryDatabase('ids at the source', (open) => {
  let store: Store;
  let shop: TestShop;
  before(() => {
    store = open();
  });
  after(() => store.close());

  const stored = async (of: TestShop = shop): Promise<SourceId[]> => [
    ...(await store.write<SourceId[]>`
      select kind, id, source_id as "sourceId" from source_ids where shop_id = ${of.id}
      order by kind, source_id`),
  ];
  /** Imports as a feed does; nothing is to be refused. */
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
    // Children first: what waits for its parent keeps its ids.
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
  });

  test('appear for records that are stored already when they come again', async () => {
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

  test('are not taken from record files, nor if their form is not opaque', async () => {
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

  test('are erased with their record, and with what is deleted along with it', async () => {
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
    await deleteShop(store.write, other.id, { forget: (tx) => forgetShop(tx, other.id) });
    assert.deepEqual(await stored(other), []);
  });

  test('of customers go when the customer is redacted, and do not come back', async () => {
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

  test('of a customer who moves on to nobody go with the customer', async () => {
    shop = await createShop(store);
    await take(price, derived('sub_1', 'cus_1'));
    await take(derived('sub_1', 'cus_2', { updatedAt: '2026-11-15T00:00:00Z' }));
    assert.deepEqual((await stored()).slice(0, 1), ids('customer', 'cus_2'));
    assert.equal((await stored()).length, 3);
  });

  describe('with the same number', () => {
    const [first, second] = sameCustomer;
    const id = deriveId('customer', first);
    const collision = `customer ${second} gets the number ${id}, which ${first} already has; give one of the two another id`;

    test('are what the formula gives', () => {
      assert.equal(deriveId('customer', second), id);
    });

    test('refuse the later record, within a run and after it', async () => {
      shop = await createShop(store);
      const run = [price, derived('sub_1', first), derived('sub_2', second)];
      for (const _ of [1, 2]) {
        const { counts, refused } = await importAll(store, shop, run, true);
        assert.deepEqual(refused, [{ line: 3, reason: collision }]);
        assert.equal(counts['subscription']?.refused, 1);
      }
      assert.deepEqual((await stored())[0], { kind: 'customer', id, sourceId: first });
      assert.deepEqual(await find('customer', first), { id, sourceId: first });
      assert.equal(await find('customer', second), undefined);
      assert.equal(await find('subscription', 'sub_2'), undefined);
    });

    test('refuse a record that refers to the other one', async () => {
      shop = await createShop(store);
      await take(price, derived('sub_1', 'cus_1'));
      const wrong = payment('in_1', 'sub_1', {
        sourceIds: { id: 'in_1', subscriptionId: 'sub_2' },
      });
      const { refused } = await importAll(store, shop, [wrong], true);
      assert.match(
        refused[0]?.reason ?? '',
        /^subscription sub_2 gets the number \d+, which sub_1/,
      );
      assert.equal(refused.length, 1);
      assert.deepEqual(await find('payment', 'in_1'), undefined);
    });

    test('refuse a row of a mapped file', async () => {
      const mapping = { ...subscriptions(), formats: { ids: 'text' } };
      const rows = [`sub_1,${first}`, `sub_2,${second}`, 'sub_3,jane doe'];
      const csv = rows.map((row) => `${row},2026-11-01T00:00:00Z,1.00\n`).join('');
      const imported = await importContent(store, mapping, `id,customer,created,price\n${csv}`);
      const { refused, texts } = imported;
      ({ shop } = imported);
      assert.deepEqual(refused, [`3: ${collision}`]);
      assert.doesNotMatch(texts.join(), /jane/);
      assert.deepEqual(await stored(), [
        { kind: 'customer', id, sourceId: first },
        ...ids('subscription', 'sub_1', 'sub_3'),
      ]);
      const hashed = deriveId('customer', 'jane doe');
      assert.deepEqual(await find('customer', 'jane doe'), { id: hashed, sourceId: null });
      assert.deepEqual(await find('customer', String(hashed)), { id: hashed, sourceId: null });
    });
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
    await store.write`
      insert into feeds (shop_id, feed, arrived_at) values (${shop.id}, 'shopify', now())`;
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
