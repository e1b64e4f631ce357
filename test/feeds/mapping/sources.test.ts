import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { FixedClock } from '../../../src/clock.ts';
import { openMapped } from '../../../src/mapping/open.ts';
import { parseMapping } from '../../../src/mapping/read.ts';
import { throwawayFolder } from '../../cli/process.ts';
import { now } from '../../support/world.ts';
import { subscriptions } from './mapped.ts';

const shop = { id: 1, currency: 'USD', minorDigits: 2 };
const customerKey = '0f'.repeat(32);

/** What a mapping makes of a file, without a database: records, or what is wrong with their rows. */
async function map(mapping: object, content: string, name = 'export.csv'): Promise<unknown[]> {
  const file = path.join(throwawayFolder(), name);
  writeFileSync(file, content);
  const rules = parseMapping('m.json', JSON.stringify(mapping));
  const made: unknown[] = [];
  const source = openMapped(file, rules, shop, new FixedClock(now), { rows: 0 }, { customerKey });
  for await (const lines of source.lines) {
    for (const { text, problem } of lines) {
      const { rows: _, ...record } = JSON.parse(text) as Record<string, unknown>;
      made.push(problem ?? record);
    }
  }
  return made;
}

const fieldOf = (records: readonly unknown[], field: string) =>
  records.map((each) =>
    typeof each === 'string' ? each : (each as Record<string, unknown>)[field],
  );

const json = (mapping: Record<string, unknown>) => ({ ...mapping, input: { format: 'ndjson' } });
const lines = (...rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).join('\n');

const customer = { anyOf: ['buyer', { columns: ['shop', 'user'], ids: 'text' }] };

test('a field takes the first of several columns that is not empty', async () => {
  const mapping = json(subscriptions({}, { customerId: customer }));
  const row = { id: 1, created: '2026-11-01T00:00:00Z', price: 1 };
  const made = await map(
    mapping,
    lines(
      { ...row, buyer: 501, shop: 'a', user: 'b' },
      { ...row, buyer: '', shop: 'a', user: 'b' },
      { ...row, shop: 'a' },
      { ...row, buyer: 'x', shop: 'a', user: 'b' },
    ),
  );
  assert.deepEqual(fieldOf(made, 'customerId'), [
    501,
    // 2^52 + the first 52 bits of the SHA-256 of "customer:a b".
    6_435_692_475_833_878,
    'all of the columns buyer, shop, user are empty',
    'column buyer: "x" must be an integer from 1 to 9007199254740991; "ids": "text" allows any text',
  ]);
});

test('a field with several sources may have conditions and end with a constant', async () => {
  const status = {
    anyOf: [
      { value: 'paused', when: { hold: { isNot: [''] } } },
      { column: 'state', table: { on: 'active' } },
      { value: 'failed' },
    ],
  };
  const row = { id: 1, customer: 2, created: '2026-11-01T00:00:00Z', price: 1 };
  const made = await map(
    json(subscriptions({}, { status })),
    lines({ ...row, hold: 'x', state: 'on' }, { ...row, state: 'on' }, row),
  );
  assert.deepEqual(fieldOf(made, 'status'), ['paused', 'active', 'failed']);
});

test('a CSV file needs the columns of one source only', async () => {
  const mapping = subscriptions({}, { customerId: customer });
  const rest = ',created,price\n1,';
  const end = ',2026-11-01T00:00:00Z,1\n';
  assert.deepEqual(fieldOf(await map(mapping, `id,buyer${rest}501${end}`), 'customerId'), [501]);
  assert.deepEqual(
    fieldOf(await map(mapping, `id,shop,user${rest}a,b${end}`), 'customerId'),
    [6_435_692_475_833_878],
  );
  await assert.rejects(map(mapping, `id,shop${rest}a${end}`), {
    message:
      /export\.csv has no column "buyer" or "shop" and "user", of which the mapping needs one\. Its columns are "id", "shop", "created", "price"\.$/,
  });
  const reason = { column: 'why', table: { price: 'too_expensive' } };
  const fields = {
    id: { anyOf: ['id', 'session'] },
    detectedReason: { anyOf: [reason, { value: 'unknown' }] },
    createdAt: { value: '2026-11-01T00:00:00Z' },
  };
  const sessions = { input: { format: 'csv' }, records: [{ type: 'cancellation', fields }] };
  await assert.rejects(map(sessions, 'Plantedfirst,price\n'), {
    message:
      /export\.csv has no column "id" or "session", of which the mapping needs one\. If its first row does not name the columns, list them in input\.header\.$/,
  });
  await assert.rejects(map(mapping, `id,buyer,buyer${rest}1,2${end}`), {
    message: /has more than one column "buyer"/,
  });
});

test('an id may come from the whole row, and a time from the clock', async () => {
  const records = [
    {
      type: 'cancellation',
      fields: {
        id: { generate: 'digest' },
        detectedReason: { value: 'other' },
        createdAt: { generate: 'time' },
      },
    },
  ];
  const made = await map(
    { input: { format: 'ndjson' }, records },
    '{"session":{"result":"cancel"}}\n{ "session": {"result" : "cancel"} }\n{"session":{"result":"abort"}}\n',
  );
  const [first, second, third] = fieldOf(made, 'id');
  // 2^52 + the first 52 bits of the SHA-256 of cancellation:{"session":{"result":"cancel"}}.
  assert.equal(first, 5_232_183_323_248_938);
  assert.equal(second, first);
  assert.notEqual(third, first);
  assert.deepEqual(fieldOf(made, 'createdAt'), Array(3).fill('2026-11-20T12:00:00.000Z'));
  assert.deepEqual(fieldOf(made, 'preserve'), Array(3).fill('createdAt'));

  const csv = { input: { format: 'csv' }, records };
  const ids = fieldOf(await map(csv, 'a,b\n1,2\n1,2\n12,\n'), 'id');
  assert.equal(ids[0], ids[1]);
  assert.notEqual(ids[0], ids[2]);
});

/** A mapping whose lines are in one column, with prices for all units of a line. */
const packed = (over: object = {}) =>
  subscriptions({
    lines: {
      from: 'items',
      packed: {},
      prices: 'line',
      fields: {
        productId: 'product_id',
        productTitle: 'name',
        variantId: 'product_id',
        quantity: 'quantity',
        currentPrice: 'price',
      },
      ...over,
    },
  });
const head = 'id,customer,created,price,items\n1,2,2026-11-01T00:00:00Z,1,';
const line = (lineId: number, productId: number, quantity: number, currentPrice: string) => ({
  lineId,
  productId,
  productTitle: 'Tea',
  variantId: productId,
  quantity,
  currentPrice,
});

test('lines may be packed into one column, with a price for all units', async () => {
  const items =
    'product_id:5|name:Tea|quantity:3|price:30.00|meta:size=L; price:10.00|product_id:6|quantity:3|name:Tea;';
  const [made] = await map(packed(), `${head}"${items}"\n`);
  assert.deepEqual((made as { lines: unknown }).lines, [
    line(1, 5, 3, '10.00'),
    // Three for 10.00 have no exact price each.
    line(2, 6, 1, '10.00'),
  ]);
  const unnamed = await map(packed(), `${head}5\n`);
  assert.deepEqual(unnamed, ['column items is not a list of texts such as name:value']);
  const [separators] = await map(
    packed(),
    `${head}"product_id:5|name:Tea | 250g; loose|quantity:2|price:9;product_id:6|quantity:1|price:1|name:"\n`,
  );
  assert.deepEqual((separators as { lines: unknown }).lines, [
    { ...line(1, 5, 2, '4.50'), productTitle: 'Tea | 250g; loose' },
    { ...line(2, 6, 1, '1.00'), productTitle: '' },
  ]);
  const wrong = await map(packed(), `${head}product_id:5|name:Tea|quantity:x|price:1\n`);
  assert.deepEqual(wrong, ['items[0]: column quantity: "x" must be an integer from 1 to 1000000']);
  await assert.rejects(map(packed(), 'id,customer,created,price\n'), {
    message: /has no column "items", which the mapping names/,
  });
});

test('lines may be only those entries of a list that meet conditions', async () => {
  const [made] = await map(
    packed({ when: { name: { isNot: ['Setup'] } } }),
    `${head}product_id:4|name:Setup|quantity:1|price:9;product_id:5|name:Tea|quantity:2|price:9\n`,
  );
  assert.deepEqual((made as { lines: unknown }).lines, [line(1, 5, 2, '4.50')]);
});

/** Rows with a list of items, as of Stripe's. */
const listed = (over: object = {}) => ({
  input: { format: 'ndjson' },
  records: [
    {
      type: 'subscription',
      fields: {
        id: 'id',
        customerId: 'id',
        planId: 'id',
        status: { value: 'active' },
        createdAt: 'at',
      },
      lines: {
        from: 'items.data',
        fields: {
          productId: 'id',
          productTitle: { value: '' },
          variantId: 'id',
          quantity: { value: 1 },
          currentPrice: { value: 1 },
        },
        ...over,
      },
    },
  ],
});
const listing = (...items: readonly (readonly [count: number, entry: string])[]) => {
  const entries = items.flatMap(([count, entry]) => Array<string>(count).fill(entry)).join(',');
  return `{"id":1,"at":"2026-11-01T00:00:00Z","items":{"data":[${entries}]}}\n`;
};

test('a list with more entries than a subscription has lines is refused before they are mapped', async () => {
  const tooMany = ['lines must have at most 250 entries'];
  const endless = ['column items.data must have at most 10000 entries'];
  assert.deepEqual(await map(listed(), listing([251, '{"id":5}']), 'a.ndjson'), tooMany);
  assert.deepEqual(await map(listed(), listing([10_000, '{}']), 'a.ndjson'), tooMany);
  assert.deepEqual(await map(listed(), listing([1_300_000, '{}']), 'a.ndjson'), endless);
  // Those that become no lines do not count, up to a point.
  const chosen = listed({ when: { kind: { is: ['item'] } } });
  const item = '{"id":5,"kind":"item"}';
  const [made] = await map(chosen, listing([9750, '{}'], [250, item]), 'a.ndjson');
  assert.equal((made as { lines: unknown[] }).lines.length, 250);
  assert.deepEqual(await map(chosen, listing([9751, '{}'], [250, item]), 'a.ndjson'), endless);
});

test('packed lists and lists of ids have the same limits', async () => {
  const items = (count: number) =>
    `${head}"${'product_id:5|name:Tea|quantity:1|price:1;'.repeat(count)}"\n`;
  const [made] = await map(packed(), items(250));
  assert.equal((made as { lines: unknown[] }).lines.length, 250);
  assert.deepEqual(await map(packed(), items(251)), ['lines must have at most 250 entries']);
  const endless = ['column items must have at most 10000 entries'];
  assert.deepEqual(await map(packed(), items(10_001)), endless);
  assert.deepEqual(await map(packed(), `${head}${'a:1;'.repeat(1_000_000)}\n`), endless);

  const plans = {
    input: { format: 'ndjson' },
    records: [
      {
        type: 'plan',
        fields: {
          id: 'id',
          name: { value: 'Box' },
          planType: { value: 'subscription' },
          intervalUnit: { value: 'month' },
          intervalCount: { value: 1 },
          productIds: 'products',
        },
      },
    ],
  };
  const products = `{"id":1,"products":[${Array(2_000_000).fill('7').join(',')}]}\n`;
  assert.deepEqual(await map(plans, products, 'a.ndjson'), [
    'column products must have at most 100000 entries',
  ]);
});

test('ten problems of a row are named', async () => {
  const [problem] = await map(listed(), listing([20, '{}']), 'a.ndjson');
  assert.match(
    String(problem),
    /^items\.data\[0\]: column id is empty; (?:items\.data\[[1-9]\]: column id is empty; ){9}and more problems$/,
  );
});
