import assert from 'node:assert/strict';
import path from 'node:path';
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Snapshot } from '../../../src/ingest/snapshot.ts';
import { lacksEndDates, parseMapping } from '../../../src/mapping/read.ts';
import type { Store } from '../../../src/store/open.ts';
import { throwawayFolder } from '../../cli/process.ts';
import { plan, subscription } from '../../rest/records.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { type TestShop, createShop, importAll } from '../../support/world.ts';
import { importMapped, subscriptions } from './mapped.ts';

const none = { stored: 0, replaced: 0, deleted: 0, unchanged: 0, stale: 0, refused: 0 };
const undated = subscriptions({}, { status: 'status' });
const header = 'id,customer,created,price,status';
const row = (id: number | string, price: string, status = 'active') =>
  `${id},501,2026-05-01T00:00:00Z,${price},${status}`;

onOneDatabase('dates of exports', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  async function newShop() {
    const shop = await createShop(store);
    await importAll(store, shop, [plan()]);
    return shop;
  }

  /** Imports rows, and returns what became of subscriptions. */
  async function importRows(
    shop: TestShop,
    rows: readonly string[],
    run: Parameters<typeof importMapped>[4],
    mapping: object = undated,
  ) {
    const file = path.join(throwawayFolder(), 'export.csv');
    writeFileSync(file, [header, ...rows].join('\n'));
    const { counts, refused } = await importMapped(store, shop, JSON.stringify(mapping), file, run);
    return { ...counts['subscription'], reasons: refused };
  }

  const outcome = (over: object) => ({ ...none, ...over, reasons: [] });
  const stored = async ({ id }: TestShop) => {
    const rows = await store.write<{ text: string }[]>`
      select concat(subscription_id, ' ', status, ' ', to_char(status_since, 'YYYY-MM-DD'), ' ',
        current_price) as text
      from subscriptions where shop_id = ${id} order by 1`;
    return rows.map(({ text }) => text);
  };

  test('an older export never replaces a newer one', async () => {
    const shop = await newShop();
    const first = [row(1, '1.00')];
    const second = [row(1, '2.00')];
    assert.deepEqual(await importRows(shop, first, { asOf: '2026-11-10' }), outcome({ stored: 1 }));
    assert.deepEqual(
      await importRows(shop, second, { asOf: '2026-11-12' }),
      outcome({ replaced: 1 }),
    );
    assert.deepEqual(await importRows(shop, first, { asOf: '2026-11-10' }), outcome({ stale: 1 }));
    // A later export that says the same.
    assert.deepEqual(
      await importRows(shop, second, { asOf: '2026-11-15' }),
      outcome({ unchanged: 1 }),
    );
    assert.deepEqual(await importRows(shop, first, { asOf: '2026-11-14' }), outcome({ stale: 1 }));
    assert.deepEqual(await stored(shop), ['1 active 2026-05-01 2.00']);
    // Two of one day, and one of which no date is known.
    assert.deepEqual(
      await importRows(shop, first, { asOf: '2026-11-15' }),
      outcome({ replaced: 1 }),
    );
    assert.deepEqual(await importRows(shop, second, {}), outcome({ replaced: 1 }));
  });

  test('what the source dates later than an export is not replaced by it', async () => {
    const shop = await newShop();
    const mapping = subscriptions({}, { status: 'status', updatedAt: { column: 'created' } });
    const may = '2026-05-01T00:00:00Z';
    await importAll(store, shop, [subscription(1, { createdAt: may, updatedAt: may })]);
    assert.deepEqual(
      await importRows(shop, [row(1, '2.00')], { asOf: '2026-04-30' }),
      outcome({ stale: 1 }),
    );
    assert.deepEqual(
      await importRows(shop, [row(1, '2.00')], { asOf: '2026-05-02' }),
      outcome({ replaced: 1 }),
    );
    // A later export counts by its own date where the source dates the record before the last one.
    assert.deepEqual(
      await importRows(shop, [row(1, '3.00')], { asOf: '2026-05-03' }, mapping),
      outcome({ replaced: 1 }),
    );
  });

  test('a deleted record leaves no date', async () => {
    const shop = await newShop();
    await importRows(shop, [row(1, '2.00')], { asOf: '2026-11-12' });
    await importAll(store, shop, [{ type: 'delete', record: 'subscription', id: 1 }]);
    const [left] = await store.write`select from export_dates where shop_id = ${shop.id}`;
    assert.equal(left, undefined);
    assert.deepEqual(
      await importRows(shop, [row(1, '1.00')], { asOf: '2026-11-10' }),
      outcome({ stored: 1 }),
    );
  });

  test('an older export does not bring back what a newer complete one no longer has', async () => {
    const shop = await newShop();
    const rows = [1, 2, 3, 4, 5, 6].map((id) => row(id, '1.00'));
    await importRows(shop, rows, { asOf: '2026-11-10' });
    const complete = async (some: readonly string[], asOf: string) => {
      const snapshot = new Snapshot({ allowShrink: false });
      await importRows(shop, some, { asOf, snapshot });
      return snapshot.outcome?.kind;
    };
    assert.equal(await complete(rows.slice(1), '2026-11-12'), 'deleted');
    // Nothing is deleted, so its date is not remembered.
    assert.equal(await complete(rows.slice(4), '2026-11-15'), 'shrunk');
    // What an older complete one does not have stays.
    assert.equal(await complete(rows.slice(1, 5), '2026-11-11'), 'deleted');
    assert.deepEqual(
      await importRows(shop, [...rows, row(7, '1.00')], { asOf: '2026-11-11' }),
      outcome({ stale: 7 }),
    );
    assert.equal((await stored(shop)).length, 5);
    assert.deepEqual(
      await importRows(shop, [row(7, '1.00')], { asOf: '2026-11-12' }),
      outcome({ stored: 1 }),
    );
    // Without a date, and of another shop.
    assert.deepEqual(await importRows(shop, rows.slice(0, 1), {}), outcome({ stored: 1 }));
    const other = await newShop();
    assert.deepEqual(
      await importRows(other, rows.slice(0, 1), { asOf: '2026-11-10' }),
      outcome({ stored: 1 }),
    );
  });

  test('what an older export may not bring back leaves no source id', async () => {
    const shop = await newShop();
    const text = subscriptions({}, { status: 'status', id: { column: 'id', ids: 'text' } });
    const ids = ['sub_1', 'sub_2', 'sub_3', 'sub_4', 'sub_5', 'sub_6'];
    const rows = ids.map((id) => row(id, '1.00'));
    await importRows(shop, rows, { asOf: '2026-11-10' }, text);
    const snapshot = new Snapshot({ allowShrink: false });
    await importRows(shop, rows.slice(1), { asOf: '2026-11-12', snapshot }, text);
    await importRows(shop, rows, { asOf: '2026-11-10' }, text);
    const left = await store.write<{ id: string }[]>`
      select source_id as id from source_ids
      where shop_id = ${shop.id} and kind = 'subscription' order by 1`;
    assert.deepEqual(
      left.map(({ id }) => id),
      ids.slice(1),
    );
  });

  test('a column may have the date', async () => {
    const shop = await newShop();
    const mapping = {
      ...undated,
      asOf: {
        column: 'customer',
        table: { '501': '2026-11-10T00:00:00Z', '502': '2026-11-21T00:00:00Z' },
      },
    };
    await importRows(shop, [row(1, '1.00')], { asOf: '2026-11-12' });
    const { stale, refused, reasons } = await importRows(
      shop,
      [row(1, '2.00'), row(2, '2.00').replace('501', '502')],
      {},
      mapping,
    );
    assert.deepEqual([stale, refused], [1, 1]);
    assert.deepEqual(reasons, [
      '3: the date of the export, 2026-11-21T00:00:00.000Z, lies in the future',
    ]);
    // The command line counts.
    const replaced = await importRows(shop, [row(1, '2.00')], { asOf: '2026-11-13' }, mapping);
    assert.equal(replaced.replaced, 1);
  });

  test('an export without a date was made when it is imported', async () => {
    const shop = await newShop();
    await importRows(shop, [row(1, '2.00', 'paused')], { at: '2026-11-18T09:00:00Z' });
    assert.deepEqual(
      await importRows(shop, [row(1, '1.00')], { asOf: '2026-11-17' }),
      outcome({ stale: 1 }),
    );
    assert.deepEqual(await stored(shop), ['1 paused 2026-11-18 2.00']);
  });

  test('a cancellation without a date counts at the first export that has it, if one before has not', async () => {
    const shop = await newShop();
    const rows = [row(1, '1.00'), row(2, '1.00', 'cancelled')];
    await importRows(shop, rows, { at: '2026-11-18T09:00:00Z', asOf: '2026-11-17' });
    const later = [row(1, '1.00', 'cancelled'), row(2, '1.50', 'cancelled')];
    await importRows(shop, later, { at: '2026-11-20T09:00:00Z', asOf: '2026-11-19' });
    assert.deepEqual(await stored(shop), ['1 cancelled 2026-11-19 1.00', '2 cancelled  1.50']);
  });

  test('rows that are refused count as contained if their id can be read', async () => {
    const shop = await newShop();
    await importRows(
      shop,
      [1, 2, 3, 4, 5].map((id) => row(id, '1.00')),
      {},
    );
    const run = async (first: string) => {
      const snapshot = new Snapshot({ allowShrink: false });
      const rows = [first, ...[2, 3, 4].map((id) => row(id, '1.00'))];
      await importRows(shop, rows, { snapshot });
      return snapshot.outcome;
    };
    const unread = await run(row('one', '1.00'));
    assert.ok(unread?.kind === 'unreadable');
    assert.match(unread.first, /:2$/);
    assert.equal((await stored(shop)).length, 5);
    const read = await run(row(1, 'free'));
    assert.ok(read?.kind === 'deleted');
    assert.deepEqual(read.deleted, { subscription: 1 });
    assert.equal((await stored(shop)).length, 4);
  });
});

test('recognises mappings that do not date cancellations', () => {
  const lacks = (over: object, fields: object = {}) =>
    lacksEndDates(parseMapping('m.json', JSON.stringify(subscriptions(over, fields))));
  const status = 'status';
  const ended = [{ at: 'ended', to: { value: 'cancelled' } }];
  assert.equal(lacks({}), false);
  assert.equal(lacks({}, { status }), true);
  assert.equal(
    lacks({}, { status: { column: 'x', table: { on: 'active', off: 'expired' } } }),
    false,
  );
  assert.equal(
    lacks({}, { status: { column: 'x', table: { on: 'active' }, otherwise: 'cancelled' } }),
    true,
  );
  assert.equal(lacks({}, { status, updatedAt: 'created' }), false);
  assert.equal(lacks({ statusEvents: ended }, { status }), false);
  assert.equal(lacks({ statusEvents: [{ at: 'p', to: { value: 'paused' } }] }, { status }), true);
});
