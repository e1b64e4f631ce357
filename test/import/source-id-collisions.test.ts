import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deriveId } from '../../src/ingest/source-ids.ts';
import { findRecord } from '../../src/platforms/source-ids.ts';
import type { Store } from '../../src/store/open.ts';
import type { RecordKind } from '../../src/store/records/export-dates.ts';
import { importContent, subscriptions } from '../feeds/mapping/mapped.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type TestShop, createShop, importAll } from '../support/world.ts';
import { derived, ids, payment, price, storedSourceIds } from './derived.ts';

/** Ids with the same derived number, found by trying 2^28 of them. */
const sameCustomer = ['cus_000000000cf6od', 'cus_000000001tw7oa'] as const;

onOneDatabase('ids at the source with the same derived number', (open) => {
  let store: Store;
  let shop: TestShop;
  before(() => {
    store = open();
  });
  after(() => store.close());

  const stored = () => storedSourceIds(store, shop);
  const find = (kind: RecordKind, text: string) => findRecord(store.write, shop.id, kind, text);
  const [first, second] = sameCustomer;
  const id = deriveId('customer', first);
  const collision = `customer ${second} maps to the id ${id}, which ${first} already has; change one of the two`;

  test('follow from the formula', () => {
    assert.equal(deriveId('customer', second), id);
  });

  test('cause the later record to be refused, within a run and in later runs', async () => {
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

  test('cause a record that refers to the other id to be refused', async () => {
    shop = await createShop(store);
    await importAll(store, shop, [price, derived('sub_1', 'cus_1')], true);
    const wrong = payment('in_1', 'sub_1', {
      sourceIds: { id: 'in_1', subscriptionId: 'sub_2' },
    });
    const { refused } = await importAll(store, shop, [wrong], true);
    assert.match(refused[0]?.reason ?? '', /^subscription sub_2 maps to the id \d+, which sub_1/);
    assert.equal(refused.length, 1);
    assert.deepEqual(await find('payment', 'in_1'), undefined);
  });

  test('cause a row of a mapped file to be refused', async () => {
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
