import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { importMapped as importFile, subscriptions } from './mapped.ts';
import type { Store } from '../../../src/store/open.ts';
import { throwawayFolder } from '../../cli/process.ts';
import { plan } from '../../rest/records.ts';
import { onEveryDatabase } from '../../support/databases.ts';
import { type ShopOptions, createShop, importAll } from '../../support/world.ts';

const folder = throwawayFolder();
let files = 0;

onEveryDatabase('rows that a mapping makes no record of', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  /** A shop with plan 11, into which a file is imported by a mapping. */
  async function importMapped(
    mapping: object,
    content: string | Buffer,
    { name = 'export.csv', ...options }: ShopOptions & { readonly name?: string } = {},
  ) {
    const shop = await createShop(store, options);
    await importAll(store, shop, [plan()]);
    const file = path.join(folder, `${(files += 1)}-${name}`);
    writeFileSync(file, content);
    const imported = await importFile(store, shop, JSON.stringify(mapping), file);
    const rows = await store.write<{ text: string }[]>`
      select concat(subscription_id, ' ', status, ' ', current_price, ' ',
        to_char(created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI')) as text
      from subscriptions where shop_id = ${shop.id} order by subscription_id`;
    return { ...imported, shop, stored: rows.map(({ text }) => text) };
  }

  test('each says its line, the column, what is wrong and what would be right; the rest is in', async () => {
    const mapping = subscriptions(
      { currency: 'currency' },
      { status: { column: 'status', table: { ON: 'active', OFF: 'cancelled' } } },
    );
    const { refused, texts, stored, counts, left } = await importMapped(
      mapping,
      `id,customer,created,price,status,currency,note,e-mail
1,501,2026-11-01T00:00:00Z,15.30,ON,USD,"first
second line",planted@example.com
x2,501,yesterday,"15,30",FROZEN,EUR,,planted@example.com
3,501,,15.305,ON,usd,,
4,501,2026-11-01T00:00:00Z,15.30
5,planted@example.com,2026-11-01T00:00:00Z,1,ON,USD,,

6,502,2026-11-02T00:00:00+02:00,7,OFF,usd,,Plantedfirst
`,
    );
    assert.deepEqual(stored, [
      '1 active 15.30 2026-11-01 00:00',
      '6 cancelled 7.00 2026-11-01 22:00',
    ]);
    assert.deepEqual(refused, [
      '4: column id: "x2" must be an integer from 1 to 9007199254740991; with "ids": "text" it may be any text; column status: "FROZEN" is not in its table, which has ON, OFF; column created: "yesterday" must be a time in ISO 8601; column currency: "EUR" is not the shop\'s currency, USD; column price: "15,30" must be an amount such as 1234.50',
      '5: column created is empty; column price: "15.305" has more than 2 decimals, which the shop\'s currency has',
      '6: the row has 4 values, and there are 8 columns; is a value with a delimiter in it not quoted?',
      '7: column customer has an e-mail address; map only columns without personal data',
    ]);
    assert.deepEqual(counts, {
      subscription: { stored: 2, replaced: 0, unchanged: 0, stale: 0, refused: 4 },
    });
    assert.equal(left, 0);
    assert.deepEqual(
      texts.map((text) => JSON.parse(text) as unknown),
      [
        {
          type: 'subscription',
          rows: [
            {
              line: 4,
              columns: {
                id: 'x2',
                customer: '501',
                status: 'FROZEN',
                created: 'yesterday',
                currency: 'EUR',
                price: '15,30',
              },
            },
          ],
        },
        {
          type: 'subscription',
          rows: [
            {
              line: 5,
              columns: {
                id: '3',
                customer: '501',
                status: 'ON',
                created: '',
                currency: 'usd',
                price: '15.305',
              },
            },
          ],
        },
        { rows: [{ line: 6 }] },
        {
          type: 'subscription',
          rows: [
            {
              line: 7,
              columns: {
                id: '5',
                customer: '(an e-mail address)',
                status: 'ON',
                created: '2026-11-01T00:00:00Z',
                currency: 'USD',
                price: '1',
              },
            },
          ],
        },
      ],
    );
    assert.doesNotMatch(texts.join(''), /planted/i);
  });

  test('what the import itself refuses is told with its columns too', async () => {
    const mapping = subscriptions({}, { planId: { column: 'plan', ids: 'text' } });
    const { refused, texts } = await importMapped(
      mapping,
      'id,customer,created,price,plan\n1,501,2026-11-01T00:00:00Z,1,gold\n',
    );
    // 2^52 + the first 52 bits of the SHA-256 of "plan:gold".
    assert.deepEqual(refused, ['2: plan 6275677522063395 is not known']);
    assert.match(texts[0] ?? '', /"rows":\[\{"line":2,"columns":\{.*"plan":"gold"/);
  });

  test('defaults, empty values, conditions, and rows that give nothing', async () => {
    const mapping = subscriptions(
      { when: { kind: { is: ['sub', ''] }, id: { isNot: ['9'] } } },
      {
        status: { column: 'status', table: { '': 'paused' }, otherwise: 'failed' },
        createdAt: { column: 'created', empty: '2026-01-01T00:00:00Z' },
      },
    );
    const { refused, stored, left } = await importMapped(
      mapping,
      'id,customer,created,price,status,kind\n1,501,,1,,sub\n2,501,,1,odd,\n9,501,,1,,sub\n10,x,y,z,,order\n',
    );
    assert.deepEqual(refused, []);
    assert.deepEqual(stored, ['1 paused 1.00 2026-01-01 00:00', '2 failed 1.00 2026-01-01 00:00']);
    assert.equal(left, 2);
  });

  test('groups: lines of several rows, and what keeps them from being one record', async () => {
    const { refused, stored, counts } = await importMapped(
      subscriptions({ group: 'id' }),
      `id,customer,created,price
1,501,2026-11-01T00:00:00Z,1
1,,,2.50
2,502,2026-11-01T00:00:00Z,1
2,503,,2
3,504,2026-11-01T00:00:00Z,1
3,,,free
1,501,2026-11-01T00:00:00Z,4
4,505,2026-11-01T00:00:00Z,1
4,too few
5,506,2026-11-01T00:00:00Z,1
6,507,2026-11-01T00:00:00Z,1
,508,2026-11-01T00:00:00Z,1
`,
    );
    assert.deepEqual(stored, ['1 active 3.50 2026-11-01 00:00', '6 active 1.00 2026-11-01 00:00']);
    const gap = 'line 10, which may be one of its rows, cannot be read';
    assert.deepEqual(refused, [
      '4: line 5: column customer: "503" must be empty or "502", as in line 4',
      '6: line 7: column price: "free" must be an amount such as 1234.50',
      '8: column id: "1" has rows further up, which were taken without this one; sort the file by id',
      '10: the row has 2 values, and there are 4 columns; is a value with a delimiter in it not quoted?',
      `9: ${gap}`,
      `11: ${gap}`,
      '13: column id is empty; it tells which rows belong together',
    ]);
    assert.equal(counts['subscription']?.refused, 7);
  });

  test('a group of more rows than a subscription may have lines', async () => {
    const rows = Array.from({ length: 300 }, () => '1,501,2026-11-01T00:00:00Z,1\n').join('');
    const { refused } = await importMapped(
      subscriptions({ group: 'id' }),
      `id,customer,created,price\n${rows}`,
    );
    assert.deepEqual(refused, ['2: lines must have at most 250 entries']);
  });

  test('JSON: lists of lines, cents, seconds, a history; and NDJSON, packed', async () => {
    const [record] = subscriptions()['records'] as [{ fields: object }];
    const fields = {
      ...record.fields,
      id: { column: 'id', ids: 'text' },
      customerId: { column: 'customer.id', ids: 'text' },
      status: { column: 'status', table: { active: 'active', canceled: 'cancelled' } },
      createdAt: { column: 'created', time: 'unix-seconds' },
    };
    const lines = {
      from: 'items.data',
      fields: {
        productId: { column: 'price.product', ids: 'text' },
        productTitle: { value: '' },
        variantId: { column: 'price.id', ids: 'text' },
        quantity: 'quantity',
        currentPrice: { column: 'price.unit_amount', minorUnits: true },
      },
    };
    const statusEvents = [
      { at: { column: 'paused_at', time: 'unix-seconds' }, to: { value: 'paused' } },
      { at: { column: 'canceled_at', time: 'unix-seconds' }, to: { value: 'cancelled' } },
    ];
    const item = (unit_amount: unknown, quantity = 1) => ({
      quantity,
      price: { id: 'price_1', product: 'prod_1', unit_amount },
    });
    const person = { email: 'planted@example.com', id: 'cus_1' };
    const base = { customer: person, created: 1_793_876_402, status: 'active' };
    const entries = [
      { ...base, id: 'sub_1', items: { data: [item(1530, 2), item(5)] } },
      {
        ...base,
        id: 'sub_2',
        status: 'canceled',
        canceled_at: 1_793_876_500,
        paused_at: 1_793_876_450,
        items: { data: [item(100)] },
      },
      { ...base, id: 'sub_3', items: { data: [item(100), item(15.3)] } },
      { ...base, id: 'sub_4', items: null },
      { ...base, id: person, items: { data: [item(100)] } },
    ];
    const records = [{ type: 'subscription', fields, lines, statusEvents }];
    const expected = [
      '5827186438845587 active 30.65 2026-11-05 11:00',
      '5193011463517292 cancelled 1.00 2026-11-05 11:00',
    ].toSorted();
    const problems = (at: readonly number[]) => [
      `${at[0]}: items.data[1]: column price.unit_amount: "15.3" must be an amount such as 123400 (in the smallest unit)`,
      `${at[1]}: column items.data is not a list`,
      `${at[2]}: column id is a list or an object; name a path that leads into it`,
    ];

    const json = { input: { format: 'json', list: 'data' }, records };
    const document = `{"object":"list","data":[\n${entries.map((each) => JSON.stringify(each)).join(',\n')}\n]}`;
    const ofJson = await importMapped(json, document, { name: 'export.json' });
    assert.deepEqual(ofJson.stored, expected);
    assert.deepEqual(ofJson.refused, problems([4, 5, 6]));
    const events = await store.write<{ text: string }[]>`
      select concat(from_status, ' ', to_status) as text from status_events
      where shop_id = ${ofJson.shop.id} order by position`;
    assert.deepEqual(
      events.map(({ text }) => text),
      ['active paused', 'paused cancelled'],
    );

    const ndjson = { input: { format: 'ndjson' }, records };
    const packed = gzipSync(entries.map((each) => `${JSON.stringify(each)}\n`).join(''));
    const ofNdjson = await importMapped(ndjson, packed, { name: 'export.ndjson.gz' });
    assert.deepEqual(ofNdjson.stored, expected);
    assert.deepEqual(ofNdjson.refused, problems([3, 4, 5]));
    assert.doesNotMatch([...ofJson.texts, ...ofNdjson.texts].join(''), /planted/);
  });

  test('a later export adds to the history, where rows tell one status only', async () => {
    const shop = await createShop(store);
    await importAll(store, shop, [plan()]);
    const mapping = JSON.stringify(subscriptions({}, { status: 'status', updatedAt: 'updated' }));
    const file = path.join(folder, 'history.csv');
    const head = 'id,customer,created,price,status,updated\n';
    const states = [
      'active,2026-11-02',
      'paused,2026-11-03',
      'paused,2026-11-04',
      'active,2026-11-05',
    ];
    for (const state of states) {
      writeFileSync(file, `${head}1,501,2026-11-01T00:00:00Z,1,${state}T00:00:00Z\n`);
      assert.deepEqual((await importFile(store, shop, mapping, file)).refused, []);
    }
    const events = await store.write<{ text: string }[]>`
      select concat(to_status, ' ', to_char(at at time zone 'UTC', 'MM-DD')) as text
      from status_events where shop_id = ${shop.id} order by position`;
    assert.deepEqual(
      events.map(({ text }) => text),
      ['paused 11-03', 'active 11-05'],
    );
  });

  test('payments, refunds and sessions of the cancel flow, several of one row', async () => {
    const records = [
      ...(subscriptions()['records'] as object[]),
      {
        type: 'payment',
        when: { paid: { isNot: [''] } },
        fields: {
          id: 'id',
          subscriptionId: 'id',
          cycle: { columns: ['id', 'created'], separator: '/' },
          status: { value: 'succeeded' },
          amount: 'price',
          processedAt: 'paid',
        },
      },
      {
        type: 'refund',
        when: { back: { isNot: [''] } },
        fields: { id: 'id', paymentId: 'id', amount: 'back', refundedAt: 'paid' },
      },
      {
        type: 'cancellation',
        when: { why: { isNot: [''] } },
        fields: {
          id: 'id',
          subscriptionId: 'id',
          detectedReason: { column: 'why', table: { price: 'too_expensive' }, otherwise: 'other' },
          createdAt: 'paid',
        },
      },
    ];
    const { counts, refused, shop } = await importMapped(
      { input: { format: 'csv', delimiter: ';' }, formats: { decimal: ',' }, records },
      'id;customer;created;price;paid;back;why\n1;501;2026-11-01T00:00:00Z;1,50;2026-11-02T00:00:00Z;0,5;price\n2;502;2026-11-01T00:00:00Z;2;;;\n',
    );
    assert.deepEqual(refused, []);
    assert.deepEqual(
      Object.entries(counts).map(([type, { stored }]) => [type, stored]),
      [
        ['subscription', 2],
        ['payment', 1],
        ['refund', 1],
        ['cancellation', 1],
      ],
    );
    const [row] = await store.write`
      select p.cycle, p.amount::text, r.amount::text as back, c.detected_reason as reason
      from payments p join refunds r using (shop_id, payment_id)
        join cancellation_sessions c using (shop_id) where p.shop_id = ${shop.id}`;
    assert.deepEqual(
      { ...row },
      {
        cycle: '1/2026-11-01T00:00:00Z',
        amount: '1.50',
        back: '0.50',
        reason: 'too_expensive',
      },
    );
  });
});
