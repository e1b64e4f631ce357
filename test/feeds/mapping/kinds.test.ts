import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Store } from '../../../src/store/open.ts';
import { throwawayFolder } from '../../cli/process.ts';
import { plan } from '../../rest/records.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { createShop, importAll } from '../../support/world.ts';
import { importContent, importMapped as importFile, subscriptions } from './mapped.ts';

onOneDatabase('records made from rows', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  const importMapped = (mapping: object, content: string | Buffer, name?: string) =>
    importContent(store, mapping, content, name);

  test('may come from JSON or gzipped NDJSON, with nested lists, cents and Unix times', async () => {
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
      `${at[2]}: column id is a list or an object; name a path to a value in it`,
    ];

    const json = { input: { format: 'json', list: 'data' }, records };
    const document = `{"object":"list","data":[\n${entries.map((each) => JSON.stringify(each)).join(',\n')}\n]}`;
    const ofJson = await importMapped(json, document, 'export.json');
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
    const ofNdjson = await importMapped(ndjson, packed, 'export.ndjson.gz');
    assert.deepEqual(ofNdjson.stored, expected);
    assert.deepEqual(ofNdjson.refused, problems([3, 4, 5]));
    assert.doesNotMatch([...ofJson.texts, ...ofNdjson.texts].join(''), /planted/);
  });

  test('add a status change to the history with each later export', async () => {
    const shop = await createShop(store);
    await importAll(store, shop, [plan()]);
    const mapping = JSON.stringify(subscriptions({}, { status: 'status', updatedAt: 'updated' }));
    const file = path.join(throwawayFolder(), 'history.csv');
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

  const withScheduledEnd = (event: object) =>
    subscriptions(
      {
        statusEvents: [
          { at: 'paused', to: { value: 'paused' } },
          { at: 'ends', to: { value: 'cancelled' }, ...event },
        ],
      },
      { status: 'status' },
    );
  const rowsWithEnds = (...ends: readonly string[]) =>
    [
      'id,customer,created,price,status,paused,ends',
      ...ends.map((at, index) => `${index + 1},501,2026-11-01T00:00:00Z,1,cancelled,,${at}`),
      '9,501,2026-11-01T00:00:00Z,1,cancelled,2026-11-02T00:00:00Z,2026-12-01T00:00:00Z',
    ].join('\n');
  const ends = ['2026-11-20T12:05:00Z', '2026-11-20T12:05:00.001Z'] as const;

  test('leave out a scheduled change if the mapping gives the status until then', async () => {
    const mapping = withScheduledEnd({
      until: { column: 'paused', table: { '': 'active' }, otherwise: 'paused' },
    });
    const { refused, stored } = await importContent(store, mapping, rowsWithEnds(...ends));
    assert.deepEqual(refused, []);
    assert.deepEqual(stored, [
      '1 cancelled 1.00 2026-11-01 00:00',
      '2 active 1.00 2026-11-01 00:00',
      '9 paused 1.00 2026-11-01 00:00',
    ]);
  });

  test('are refused for a scheduled change if the mapping gives no status until then', async () => {
    const { refused, stored } = await importContent(
      store,
      withScheduledEnd({}),
      rowsWithEnds(...ends),
    );
    assert.deepEqual(stored, ['1 cancelled 1.00 2026-11-01 00:00']);
    assert.deepEqual(refused, [
      '3: statusEvents[0].at 2026-11-20T12:05:00.001Z lies in the future; send it once it has happened',
      '4: statusEvents[1].at 2026-12-01T00:00:00.000Z lies in the future; send it once it has happened',
    ]);
  });

  test('may be payments, refunds and cancel-flow sessions, several from one row', async () => {
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
