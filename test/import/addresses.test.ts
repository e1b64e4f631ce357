import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { deriveCustomerId, deriveId } from '../../src/ingest/source-ids.ts';
import { parseMapping } from '../../src/mapping/read.ts';
import { findRecord } from '../../src/platforms/source-ids.ts';
import { Turns } from '../../src/push/body.ts';
import { mapDocuments } from '../../src/push/mappings.ts';
import { prepareRecord } from '../../src/push/records.ts';
import { recordSchema } from '../../src/records/records.ts';
import { openStore, type Store } from '../../src/store/open.ts';
import {
  ensureCustomerKey,
  findCustomerKey,
  replaceCustomerKey,
} from '../../src/store/records/customer-keys.ts';
import { copyShop } from '../../src/store/shop-copy.ts';
import { migratedFolder, throwawayFolder } from '../cli/process.ts';
import { importContent, importMapped, subscriptions } from '../feeds/mapping/mapped.ts';
import { line } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { tablesWith } from '../support/tables-with.ts';
import { type TestShop, createShop } from '../support/world.ts';

const header = 'id,customer,created,price';
const rowOf = (id: number, customer: string) => `${id},${customer},2026-11-01T00:00:00Z,1.00`;
const mapping = subscriptions();
const whole = {
  type: 'subscription',
  id: 2,
  planId: 11,
  status: 'active',
  createdAt: '2026-11-01T00:00:00Z',
  lines: [line],
};

onOneDatabase('e-mail addresses of customers', (open, name) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  const importRows = (...rows: readonly string[]) =>
    importContent(store, mapping, [header, ...rows].join('\n'));
  async function importAgain(to: Store, shop: TestShop, ...rows: readonly string[]) {
    const file = path.join(throwawayFolder(), 'export.csv');
    writeFileSync(file, [header, ...rows].join('\n'));
    return importMapped(to, shop, JSON.stringify(mapping), file);
  }
  async function customersOf(from: Store, shop: TestShop): Promise<number[]> {
    const found = await from.write<{ id: number }[]>`
      select customer_id as id from subscriptions where shop_id = ${shop.id} order by subscription_id`;
    return found.map(({ id }) => id);
  }
  const find = (shop: TestShop, text: string) => findRecord(store.write, shop.id, 'customer', text);

  test('become ids under a key of the shop, the same for each spelling', async () => {
    const { shop, refused } = await importRows(
      rowOf(1, 'ann@example.com'),
      rowOf(2, ' Ann@EXAMPLE.com '),
      rowOf(3, 'bob@example.com'),
      rowOf(4, '501'),
    );
    assert.deepEqual(refused, []);
    const key = await findCustomerKey(store.write, shop.id);
    assert.match(key ?? '', /^[0-9a-f]{64}$/);
    const ann = deriveCustomerId(key ?? '', 'ann@example.com');
    const bob = deriveCustomerId(key ?? '', 'bob@example.com');
    assert.deepEqual(await customersOf(store, shop), [ann, ann, bob, 501]);
    const stored = await store.write`select from customers where shop_id = ${shop.id}`;
    assert.equal(stored.length, 3);

    for (const text of ['ann@example.com', 'ANN@example.com']) {
      assert.deepEqual(await find(shop, text), { id: ann, sourceId: null });
    }
    assert.equal(await find(shop, 'eve@example.com'), undefined);
    // Only customers: nothing else has an address for an id.
    assert.equal(
      await findRecord(store.write, shop.id, 'subscription', 'ann@example.com'),
      undefined,
    );
  });

  test('are known by an @, with or without a name, mailto: or a domain', async () => {
    const texts = [
      'Jo <jo@shop.example>',
      'mailto:jo@shop.example',
      'jo@shop.example',
      'jo@localhost',
    ];
    const { shop, refused } = await importRows(...texts.map((text, at) => rowOf(at + 1, text)));
    assert.deepEqual(refused, []);
    const customerKey = await ensureCustomerKey(store.write, shop.id);
    const jo = deriveCustomerId(customerKey, 'jo@shop.example');
    const local = deriveCustomerId(customerKey, 'jo@localhost');
    assert.deepEqual(await customersOf(store, shop), [jo, jo, jo, local]);
    assert.equal((await find(shop, 'jo@localhost'))?.id, local);
    const record = { ...whole, customerId: 'jo@localhost' };
    const pushed = prepareRecord(record, recordSchema(2, systemClock, true), customerKey);
    assert.equal(
      'record' in pushed && (pushed.record as { customerId?: number }).customerId,
      local,
    );
  });

  test('become other ids in another shop, and in one without a key no customer is found', async () => {
    const [one, other] = [await importRows(rowOf(1, 'ann@example.com')), await createShop(store)];
    assert.equal(await find(other, 'ann@example.com'), undefined);
    assert.equal(await findCustomerKey(store.write, other.id), undefined);
    const second = await importRows(rowOf(1, 'ann@example.com'));
    const [[id], [otherId]] = [
      await customersOf(store, one.shop),
      await customersOf(store, second.shop),
    ];
    assert.notEqual(id, otherId);
    // Anybody could compute these.
    for (const each of [id, otherId])
      assert.notEqual(each, deriveId('customer', 'ann@example.com'));
  });

  test('get one key, however many need it first', async () => {
    const shop = await createShop(store);
    const keys = await Promise.all(
      Array.from({ length: 8 }, () => ensureCustomerKey(store.write, shop.id)),
    );
    assert.equal(new Set(keys).size, 1);
    assert.equal(await ensureCustomerKey(store.write, shop.id), keys[0]);
  });

  test('become the same ids in records, mapped messages and files', async () => {
    const { shop } = await importRows(rowOf(1, 'ann@example.com'));
    const [id] = await customersOf(store, shop);
    const customerKey = await ensureCustomerKey(store.write, shop.id);
    const schema = recordSchema(2, systemClock, true);
    const record = { ...whole, customerId: 'Ann@example.com' };
    const pushed = prepareRecord(record, schema, customerKey);
    assert.ok('record' in pushed);
    assert.equal((pushed.record as typeof pushed.record & { customerId: number }).customerId, id);
    const { lines } = await mapDocuments(
      [
        {
          number: 1,
          value: { id: 3, customer: 'ann@example.com', created: '2026-11-01', price: 1 },
        },
      ],
      parseMapping(
        'm.json',
        JSON.stringify({
          ...mapping,
          input: { format: 'ndjson' },
          formats: { timeZone: 'UTC' },
        }),
      ),
      { shop, customerKey, clock: systemClock, schema, turns: new Turns(systemClock) },
    );
    assert.equal(JSON.parse(lines[0]?.text ?? '').customerId, id);
  });

  test('keep their ids in a copy of the shop', async (t) => {
    const { shop } = await importRows(rowOf(1, 'ann@example.com'));
    const copy = await openStore({
      databaseUrl: undefined,
      dataDir: migratedFolder(),
      role: 'command',
    });
    t.after(() => copy.close());
    await copyShop(store.write, copy.write, { shopId: shop.id, isEmbedded: name === 'embedded' });
    const { counts } = await importAgain(copy, shop, rowOf(1, 'ann@example.com'));
    assert.equal(counts['subscription']?.unchanged, 1);
    assert.equal(
      await findCustomerKey(copy.write, shop.id),
      await findCustomerKey(store.write, shop.id),
    );
  });

  test('get new ids with a new key, and the old ones go with the next import', async () => {
    const rows = [rowOf(1, 'ann@example.com'), rowOf(2, 'ann@example.com')];
    const { shop } = await importRows(...rows);
    const [old] = await customersOf(store, shop);
    const oldKey = await findCustomerKey(store.write, shop.id);
    const key = await replaceCustomerKey(store.write, shop.id);
    assert.notEqual(key, oldKey);
    assert.equal(await find(shop, 'ann@example.com'), undefined);
    assert.deepEqual(await customersOf(store, shop), [old, old]);

    const ann = deriveCustomerId(key, 'ann@example.com');
    await importAgain(store, shop, ...rows.slice(0, 1));
    assert.deepEqual(await customersOf(store, shop), [ann, old]);
    await importAgain(store, shop, ...rows);
    assert.deepEqual(await customersOf(store, shop), [ann, ann]);
    const left = await store.write<{ id: number }[]>`
      select customer_id as id from customers where shop_id = ${shop.id}`;
    assert.deepEqual(
      left.map(({ id }) => id),
      [ann],
    );
  });

  test('are in nothing that is stored, refused or kept of a row', async () => {
    const address = 'planted.ann@example.com';
    const planned = subscriptions({}, { planId: 'plan' });
    const lines = [
      `${header},plan`,
      `${rowOf(1, address)},11`,
      `2,${address},never,1.00,11`,
      `${address},3,2026-11-01T00:00:00Z,1.00,11`,
      // It waits on disk for its plan.
      `${rowOf(4, address)},99`,
    ];
    const { shop, refused, texts } = await importContent(store, planned, lines.join('\n'));
    assert.deepEqual(refused, [
      '3: column created: "never" must be a time in ISO 8601',
      '4: column id has an e-mail address; map only columns without personal data',
      '5: plan 99 is not known',
    ]);
    assert.doesNotMatch(JSON.stringify(texts), /planted/);
    assert.match(texts[0] ?? '', /"customer":"\(an e-mail address\)"/);
    assert.deepEqual(await tablesWith(store, [shop.id], String.raw`planted\.ann`), []);
    assert.notDeepEqual(await tablesWith(store, [shop.id], String(shop.id)), []);
  });

  test('are refused in every other field, and as ids of anything else', async () => {
    const fields = { planId: 'created', id: 'id', customerId: 'customer' };
    const wrong = subscriptions({}, { ...fields, createdAt: { value: '2026-11-01T00:00:00Z' } });
    const { refused } = await importContent(
      store,
      { ...wrong, formats: { ids: 'text' } },
      [header, 'sub_1,ann@example.com,ann@example.com,1.00'].join('\n'),
    );
    assert.deepEqual(refused, [
      '2: column created has an e-mail address; map only columns without personal data',
    ]);
  });

  test('in a row without an id are not in what its id is derived from', async () => {
    const digest = subscriptions({}, { id: { generate: 'digest' } });
    const content = [header, rowOf(1, 'ann@example.com'), rowOf(2, '501')].join('\n');
    const [one, other] = [
      await importContent(store, digest, content),
      await importContent(store, digest, content),
    ];
    const idsOf = async ({ shop }: typeof one) =>
      (
        await store.write<{ id: number }[]>`
          select subscription_id as id from subscriptions where shop_id = ${shop.id}
          order by customer_id`
      ).map(({ id }) => id);
    const [plain, keyed] = await idsOf(one);
    const [otherPlain, otherKeyed] = await idsOf(other);
    assert.equal(plain, otherPlain);
    assert.notEqual(keyed, otherKeyed);
    await importAgain(store, one.shop);
    const file = path.join(throwawayFolder(), 'export.csv');
    writeFileSync(file, content);
    const { counts } = await importMapped(store, one.shop, JSON.stringify(digest), file);
    assert.equal(counts['subscription']?.unchanged, 2);
  });
});
