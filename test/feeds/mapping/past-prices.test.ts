import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Store } from '../../../src/store/open.ts';
import { throwawayFolder } from '../../cli/process.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { createShop } from '../../support/world.ts';
import { valuesOf } from '../stripe/synced.ts';
import { importContent, importMapped, sample, subscriptions } from './mapped.ts';

/** One row for each price that a subscription has had, the present one first. */
const ofRows = {
  input: { format: 'csv' },
  formats: { ids: 'text', timeZone: 'UTC' },
  records: [
    {
      type: 'plan',
      when: { valid_until: { is: [''] } },
      fields: {
        id: 'plan',
        name: 'plan',
        planType: { value: 'subscription' },
        intervalUnit: 'interval',
        intervalCount: 'interval',
      },
    },
    {
      type: 'subscription',
      group: 'subscription',
      fields: {
        id: 'subscription',
        customerId: 'customer',
        planId: 'plan',
        status: { value: 'active' },
        createdAt: 'started',
      },
      lines: {
        when: { valid_until: { is: [''] } },
        fields: {
          productId: 'plan',
          productTitle: 'plan',
          variantId: 'plan',
          quantity: 'seats',
          currentPrice: 'price',
        },
      },
      valueEvents: {
        when: { price: { isNot: [''] } },
        fields: {
          at: 'valid_from',
          mrr: 'price',
          quantity: 'seats',
          intervalUnit: 'interval',
          intervalCount: 'interval',
        },
      },
    },
  ],
};

/** Imports rows that each have a list of past prices. */
function importLists(store: Store, valueEvents: object, rows: readonly object[]) {
  const fields = { customerId: { value: 1 }, createdAt: { value: '2026-01-01T00:00:00Z' } };
  const mapping = { ...subscriptions({ valueEvents }, fields), input: { format: 'json' } };
  return importContent(store, mapping, JSON.stringify(rows), 'past.json');
}

onOneDatabase('Past prices of exports', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  test('may be rows of their own', async () => {
    const shop = await createShop(store, { currency: 'USD' });
    const file = sample('past-prices.csv');
    const run = () => importMapped(store, shop, JSON.stringify(ofRows), file);
    const { refused, counts } = await run();
    assert.deepEqual(refused, ['9: valueEvents must not begin before createdAt']);
    assert.equal(counts['subscription']?.stored, 3);
    const expected = [
      ['first 18 month 1', '2025-03-01 45 month 1', '2026-02-10 62.5 month 1'],
      // 200 a year come to 16.67 a month.
      ['first 20 month 1', '2026-01-01 200 year 1'],
      ['first 15 month 1'],
    ];
    assert.deepEqual(await valuesOf(store, shop.id), expected);
    assert.equal((await run()).counts['subscription']?.unchanged, 3);
    assert.deepEqual(await valuesOf(store, shop.id), expected);
  });

  test('may be a list in a row, without those to come', async () => {
    const rows = [
      {
        id: 1,
        price: '20',
        past: [
          { since: '2026-09-01T00:00:00Z', mrr: 20 },
          { since: '2026-01-01T00:00:00Z', mrr: 8 },
        ],
      },
      // The clock stands at 20 November 2026.
      {
        id: 2,
        price: '20',
        past: [
          { since: '2026-02-01T00:00:00Z', mrr: 20 },
          { since: '2027-01-01T00:00:00Z', mrr: 30 },
        ],
      },
      { id: 3, price: '20', past: [{ since: '', mrr: 7 }] },
      { id: 4, price: '20', past: null },
      { id: 5, price: '20', past: [{ since: '2026-02-01T00:00:00Z', mrr: 'many' }] },
      { id: 6, price: '20', past: [{ since: '2026-02-01T00:00:00Z', mrr: 19 }] },
      { id: 7, price: '20', past: 'none' },
    ];
    const lists = { from: 'past', fields: { at: 'since', mrr: 'mrr' } };
    const { refused, shop } = await importLists(store, lists, rows);
    assert.deepEqual(
      refused.map((each) => each.replace(/^\d+: /, '')),
      [
        'past[0]: column mrr: "many" must be an amount such as 1234.50',
        'column past is not a list',
        'valueEvents must end in what the lines come to a month, 20.00, not in 19',
      ],
    );
    const values = await valuesOf(store, shop.id);
    assert.deepEqual(values.toSorted(), [
      ['first 20 month 1'],
      ['first 20 month 1'],
      ['first 20 month 1'],
      ['first 8 month 1', '2026-09-01 20 month 1'],
    ]);
  });

  test('may be a list in a text', async () => {
    const past = 'since:2026-01-01T00:00:00Z|mrr:8;since:2026-09-01T00:00:00Z|mrr:20';
    const texts = { from: 'past', packed: {}, fields: { at: 'since', mrr: 'mrr' } };
    const { refused, shop } = await importLists(store, texts, [{ id: 1, price: '20', past }]);
    assert.deepEqual(refused, []);
    assert.deepEqual(await valuesOf(store, shop.id), [
      ['first 8 month 1', '2026-09-01 20 month 1'],
    ]);
  });

  test('are refused where a group has more rows than can be read', async () => {
    const shop = await createShop(store, { currency: 'USD' });
    const [head = '', first = ''] = readFileSync(sample('past-prices.csv'), 'utf8').split('\n');
    const earlier = first.replace(/,$/, ',2026-03-01');
    const file = path.join(throwawayFolder(), 'past.csv');
    const write = (rows: number) =>
      writeFileSync(
        file,
        [head, first, ...Array.from({ length: rows - 1 }, () => earlier)].join('\n'),
      );
    write(250);
    const run = () => importMapped(store, shop, JSON.stringify(ofRows), file);
    assert.deepEqual((await run()).refused, []);
    write(251);
    assert.match((await run()).refused.join(), /^2: valueEvents must have at most 250 entries$/);
  });
});
