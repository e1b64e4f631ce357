import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { readBulkResults } from '../../../src/platforms/shopify/bulk/records.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { tablesWith } from '../../support/tables-with.ts';
import { createShop } from '../../support/world.ts';
import {
  attempt,
  billed,
  contract,
  failure,
  group,
  line,
  order,
  refund,
  sellingPlan,
  success,
} from './nodes.ts';
import { file, importShopify } from './samples.ts';

const person = {
  firstName: 'Zoë-planted',
  lastName: 'planted-Sample',
  name: 'planted-name',
  email: 'planted@example.com',
  phone: '+15555550100-planted',
  note: 'planted: ring twice',
  address1: '1 planted St',
};
const address = { ...person, city: 'planted-city', zip: 'planted-zip' };
const personalOrder = {
  ...order(1, '9.00', { refunds: [{ ...refund(1, '1.00', '2026-11-06T00:00:00Z'), ...person }] }),
  ...person,
  shippingAddress: address,
};
/** Every field in which Shopify or an app has, or may get, personal data. */
const planted = {
  ...person,
  note: 'planted note',
  customAttributes: [{ key: 'gift', value: 'planted for my aunt' }],
  deliveryMethod: {
    address,
    phone: person.phone,
    localDeliveryOption: { instructions: 'planted' },
  },
  billingAddress: address,
  customerPaymentMethod: { instrument: { lastDigits: 'planted', billingAddress: address } },
  originOrder: personalOrder,
  order: personalOrder,
  errorMessage: 'planted: card of Sam was declined',
  idempotencyKey: 'planted',
  sku: 'planted',
  merchantCode: 'planted',
  description: 'planted',
  lastPaymentStatus: 'planted',
  customer: { id: 'gid://shopify/Customer/7', ...person, defaultAddress: address },
  planted: 'planted',
  'planted key': { planted: ['planted'] },
};
/** Personal data in fields that are read, so that the lines are refused. */
const misplaced = [
  contract(2, { ...planted, status: 'planted' }),
  contract(3, { ...planted, customer: { id: 'planted' } }),
  contract(4, { ...planted, createdAt: 'planted' }),
  contract(5, { ...planted, currencyCode: 'planted' }),
  contract(6, { ...planted, billingPolicy: { interval: 'planted', intervalCount: 'planted' } }),
  line(6, 6, planted),
  line(9, 9, planted),
  { ...line(1, 8, planted), __parentId: 'planted' },
  { ...planted, id: 'planted' },
  { ...planted, id: 'gid://shopify/Customer/5' },
  { id: 'gid://shopify/Order/5 planted', ...planted },
  attempt(1, 3, 'planted', { ready: 'planted' }),
  attempt(1, 4, '2026-11-05T11:00:00Z', { ...planted, originTime: 'planted' }),
  billed(1, 5, '2026-11-05T11:00:00Z', { __typename: 'planted' }, planted),
  billed(1, 6, '2026-11-05T11:00:00Z', success({ ...personalOrder, id: 'planted' })),
  sellingPlan(9, 310, planted),
  `{"id":"gid://shopify/SubscriptionContract/11","email":"planted`,
  `{"email":"planted","id":"gid://shopify/SubscriptionContract/11"`,
  'planted',
  '["planted"]',
];
const lines = [
  contract(1, planted),
  line(1, 1, planted),
  attempt(1, 1, '2026-11-05T11:00:00Z', planted),
  billed(1, 2, '2026-11-05T11:00:00Z', { ...success(personalOrder), ...person }, planted),
  billed(1, 7, '2026-11-05T11:00:00Z', failure('planted: Sam'), planted),
  // The names of groups and plans are not personal data.
  group(201, { ...planted, name: 'Boxes' }),
  sellingPlan(201, 301, { ...planted, name: 'Monthly' }),
  ...misplaced,
];

onOneDatabase('personal data', (open) => {
  test('is neither stored, nor reported or saved with refused lines', async (t) => {
    const store = open();
    t.after(() => store.close());
    const shop = await createShop(store);
    const { counts, refused, kept } = await importShopify(store, shop, [file('f', lines)]);
    assert.equal(refused.length, misplaced.length);
    assert.equal(counts['subscription']?.stored, 1);
    assert.doesNotMatch([...refused, ...kept].join('\n'), /planted/i);

    assert.deepEqual(await tablesWith(store, [shop.id], 'planted'), []);
    // Proves that the search can find something.
    assert.notDeepEqual(await tablesWith(store, [shop.id], String(shop.id)), []);
  });
});

test('personal data is neither staged on disk nor passed to the importer', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'retention-cli-test-'));
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  try {
    // With little memory, so that rows are staged on disk.
    const bytesInMemory = 10_000;
    const many = Array.from({ length: 1500 }, (_, index) => index + 1000).flatMap((id) => [
      contract(id, planted),
      line(id, id, planted),
    ]);
    const shop = { currency: 'USD', minorDigits: 2 };
    const read = readBulkResults([file('f', [...lines, ...many])], shop, { bytesInMemory });
    const texts: string[] = [];
    const staged: string[] = [];
    for await (const some of read) {
      texts.push(...some.map((each) => JSON.stringify(each)));
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        if (name.includes('rows')) staged.push(readFileSync(path.join(folder, name), 'utf8'));
      }
    }
    assert.doesNotMatch(texts.join('\n'), /planted/i);
    assert.match(staged.join('\n'), /House Blend/);
    assert.doesNotMatch(staged.join('\n'), /planted/i);
    assert.deepEqual(readdirSync(folder), []);
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    rmSync(folder, { recursive: true });
  }
});
