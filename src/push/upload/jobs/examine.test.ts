import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { examine } from './examine.ts';

const plan = {
  type: 'plan',
  id: 1,
  name: 'Box',
  planType: 'subscription',
  intervalUnit: 'month',
  intervalCount: 1,
};
const line = {
  productId: 1,
  productTitle: '',
  variantId: 1,
  quantity: 1,
  currentPrice: '10.00',
};
const subscription = {
  type: 'subscription',
  id: 1,
  customerId: 1,
  planId: 1,
  status: 'active',
  createdAt: '2026-01-05T00:00:00Z',
};

async function previewOf(t: TestContext, records: readonly object[]) {
  const folder = mkdtempSync(path.join(tmpdir(), 'retention-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'a.ndjson');
  writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  const shop = { id: 1, currency: 'USD', minorDigits: 2 };
  const found = await examine({ file, fileName: 'a.ndjson', shop, answers: [], asOf: undefined });
  assert.ok('preview' in found && 'first' in found.preview);
  return found.preview;
}

test('a preview has the first plans without their products', async (t) => {
  const productIds = Array.from({ length: 100_000 }, (_, index) => index + 1);
  const preview = await previewOf(t, [plan, { ...plan, id: 2, productIds }]);
  assert.equal(preview.plans, 2);
  assert.deepEqual(
    preview.others.map(({ record }) => 'productIds' in record && record.productIds),
    [[], []],
  );
});

test('a preview has the first hundred reasons, and counts all refused records', async (t) => {
  const wrong = Array.from({ length: 120 }, (_, wrongLine) => ({
    ...subscription,
    lines: Array.from({ length: 120 }, (_each, index) => ({
      ...line,
      lineId: index + 1,
      quantity: index === wrongLine ? 0 : 1,
    })),
  }));
  const { refused, refusedRows } = await previewOf(t, [
    plan,
    ...wrong,
    wrong[0] ?? {},
    wrong[119] ?? {},
  ]);
  assert.equal(refusedRows, 122);
  assert.equal(refused.length, 100);
  assert.deepEqual(refused[0], {
    reason: 'lines[0].quantity must be an integer from 1 to 1000000',
    line: 2,
    record: 'subscription 1',
    rows: 2,
  });
});
