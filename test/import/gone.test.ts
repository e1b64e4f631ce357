import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Snapshot } from '../../src/ingest/snapshot.ts';
import { rehearse } from '../../src/metrics/rehearse.ts';
import type { ImportOptions } from '../../src/ingest/import.ts';
import { findLedgerDifferences } from '../../src/metrics/verify/sums.ts';
import type { Gone } from '../../src/store/records/sightings.ts';
import type { Store } from '../../src/store/open.ts';
import { type Random, randomOf } from '../metrics/random.ts';
import { line, plan, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { runs } from '../support/seed.ts';
import { type TestShop, createShop, importAll, importSnapshot } from '../support/world.ts';

const day = (number: number) => `2026-11-${String(number).padStart(2, '0')}T00:00:00.000Z`;
const createdAt = day(1);
type Seen = readonly [id: number, status: string];

/** Subscriptions as a mapped export of a day has them. */
const exported = (date: number, seen: readonly Seen[], over: object = {}) =>
  seen.map(([id, status]) =>
    subscription(id, {
      customerId: id,
      status,
      createdAt,
      updatedAt: null,
      preserve: 'history',
      exportedAt: day(date),
      ...over,
    }),
  );
const active = (...ids: readonly number[]) => ids.map((id): Seen => [id, 'active']);
const ten = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

onOneDatabase('what exports no longer have', (open) => {
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
  const partial = async (shop: TestShop, records: readonly object[]) =>
    (await importAll(store, shop, records, true)).counts['subscription'];

  async function complete(
    shop: TestShop,
    records: readonly object[],
    gone: Gone = 'cancelled',
    { allowShrink = false, ...options }: Partial<ImportOptions> & { allowShrink?: boolean } = {},
  ) {
    const snapshot = new Snapshot({ types: ['subscription'], gone, allowShrink });
    await importSnapshot(store, shop, records, snapshot, { isFromFeed: true, ...options });
    assert.deepEqual([...(await findLedgerDifferences(store.write, shop.id))], []);
    const { outcome } = snapshot;
    assert.ok(outcome);
    return 'deleted' in outcome ? { cancelled: outcome.cancelled, ...outcome.deleted } : outcome;
  }

  /** The histories of a shop's subscriptions, such as "paused 3, active 5": days of November. */
  async function histories({ id }: TestShop) {
    const rows = await store.write<{ id: number; text: string }[]>`
      select s.subscription_id as id, concat_ws(', ',
        (select string_agg(concat(to_status, ' ', extract(day from at at time zone 'utc')), ', ' order by position)
          from status_events e where e.shop_id = ${id} and e.subscription_id = s.subscription_id),
        case when status_since is null then status || ' ?' end) as text
      from subscriptions s where shop_id = ${id} order by 1`;
    return Object.fromEntries(rows.map((row) => [row.id, row.text]));
  }

  test('is cancelled at the date of the export, and what a later one says', async () => {
    const shop = await newShop();
    await complete(
      shop,
      exported(2, [...active(1, 2, 3, 4, 5, 6, 7), [8, 'paused'], [9, 'failed']]),
    );
    const left = active(1, 2, 3, 4, 5, 6);
    assert.deepEqual(await complete(shop, exported(3, [...left, [8, 'paused']])), { cancelled: 1 });
    const after3 = { 7: 'cancelled 3', 8: 'paused ?', 9: 'failed ?' };
    const none = Object.fromEntries(left.map(([id]) => [id, '']));
    assert.deepEqual(await histories(shop), { ...none, ...after3 });
    // Again, and later ones that lack it too.
    assert.deepEqual(await complete(shop, exported(3, [...left, [8, 'paused']])), { cancelled: 0 });
    assert.deepEqual(await complete(shop, exported(4, left)), { cancelled: 1 });
    assert.deepEqual(await complete(shop, exported(6, [...left, [7, 'active']])), { cancelled: 0 });
    assert.deepEqual(await histories(shop), {
      ...none,
      7: 'cancelled 3, active 6',
      8: 'paused 1, cancelled 4',
      9: 'failed ?',
    });
    // A partial export has what it has.
    assert.equal((await partial(shop, exported(7, active(1))))?.unchanged, 1);
    assert.equal((await histories(shop))[2], '');
  });

  test('may be cancelled before what else is known of it', async () => {
    const shop = await newShop();
    await complete(shop, exported(9, active(1, 2)));
    // Was there before, is not there later.
    assert.equal((await partial(shop, exported(3, active(1, 2, 3))))?.stored, 1);
    assert.deepEqual(await histories(shop), { 1: '', 2: '', 3: 'cancelled 9' });
    await complete(shop, exported(5, active(1)), 'cancelled', { allowShrink: true });
    assert.deepEqual(await histories(shop), {
      1: '',
      2: 'cancelled 5, active 9',
      3: 'cancelled 5',
    });
  });

  test('is deleted with --gone deleted, and leaves no trace', async () => {
    const shop = await newShop();
    await partial(shop, exported(2, active(...ten)));
    const nine = ten.slice(1);
    assert.deepEqual(await complete(shop, exported(4, active(...nine)), 'deleted'), {
      cancelled: undefined,
      subscription: 1,
    });
    assert.equal((await partial(shop, exported(3, active(1))))?.stale, 1);
    await partial(shop, exported(5, [[1, 'paused']]));
    assert.equal((await histories(shop))[1], 'paused ?');
  });

  test('leaves no past values if deleted, in whatever order exports are imported', async () => {
    const prices = [20, 10, undefined, 30, 40];
    // Exports of the 2nd to the 6th; with times of their own, or that of the change before the deletion.
    for (const updatedAt of [[], [day(1), day(2), '', day(3), day(6)]]) {
      const records = prices.map((price, index) => [
        ...exported(2 + index, active(9)),
        ...(price === undefined
          ? []
          : exported(2 + index, active(1), {
              updatedAt: updatedAt[index] ?? null,
              lines: [{ ...line, quantity: 1, currentPrice: String(price) }],
            })),
      ]);
      for (const order of ['12345', '54321', '45123', '51243', '41325', '31542']) {
        const shop = await newShop();
        for (const number of order) {
          await complete(shop, records[Number(number) - 1] ?? [], 'deleted', { allowShrink: true });
        }
        const [found] = await store.write<{ past: unknown }[]>`
          select past_values as past from subscriptions
          where shop_id = ${shop.id} and subscription_id = 1`;
        const first = Date.parse(updatedAt[3] ?? day(5));
        const expected = [
          [first, { '': '30' }],
          [Date.parse(day(6)), { '': '40' }],
        ];
        assert.deepEqual(found?.past, expected, `${order} ${updatedAt.join(' ')}`);
      }
    }
  });

  test('of records of our own is cancelled at the time of the import, until they come again', async () => {
    const shop = await newShop();
    const own = ten.map((id) => subscription(id, { customerId: id, updatedAt: null }));
    await importAll(store, shop, own);
    await complete(shop, own.slice(1), 'cancelled', { isFromFeed: false });
    assert.equal((await histories(shop))[1], 'cancelled 20');
    assert.equal((await importAll(store, shop, own)).counts['subscription']?.replaced, 1);
    assert.equal((await histories(shop))[1], '');
  });

  test('counts as there if its line was refused', async () => {
    const shop = await newShop();
    await complete(shop, exported(2, active(...ten)));
    const broken = exported(4, active(1), { lines: [] });
    await complete(shop, [...exported(4, active(...ten.slice(1))), ...broken]);
    await complete(shop, exported(5, active(...ten)));
    await complete(shop, exported(3, active(...ten)));
    assert.equal((await histories(shop))[1], '');
  });

  test('is not cancelled if more than a fifth of what had not ended is newly gone', async () => {
    const shop = await newShop();
    const ended = [11, 12, 13, 14, 15].map((id): Seen => [id, 'cancelled']);
    await complete(shop, exported(2, [...active(...ten), ...ended]));
    const shrunk = {
      kind: 'shrunk',
      shrunk: [{ type: 'subscription', gone: 3, before: 10 }],
    };
    assert.deepEqual(await complete(shop, exported(4, active(...ten.slice(3)))), shrunk);
    // An old one that was cut off would cancel what is there later.
    await complete(shop, exported(8, active(...ten)));
    assert.deepEqual(await complete(shop, exported(6, active(...ten.slice(3)))), shrunk);
    assert.equal((await histories(shop))[1], '');
    const allowShrink = true;
    const allowed = await complete(shop, exported(6, active(...ten.slice(3))), 'cancelled', {
      allowShrink,
    });
    // What they are now has not changed.
    assert.deepEqual(allowed, { cancelled: 0 });
    assert.equal((await histories(shop))[1], 'cancelled 6, active 8');
    // It is gone anyway: only since when is new.
    await complete(shop, exported(10, active(...ten.slice(2))));
    assert.deepEqual(await complete(shop, exported(9, active(...ten.slice(2)))), { cancelled: 0 });
    assert.equal((await histories(shop))[1], 'cancelled 6, active 8, cancelled 9');
    // Nor is what had ended by then.
    const other = await newShop();
    await complete(other, exported(2, active(...ten)));
    await complete(
      other,
      exported(
        9,
        ten.map((id): Seen => [id, id > 3 ? 'active' : 'cancelled']),
      ),
    );
    assert.deepEqual(await complete(other, exported(6, active(...ten.slice(3)))), { cancelled: 0 });
    assert.equal((await histories(other))[1], 'cancelled 6');
  });

  test('is not deleted if more than a fifth of what had not ended is newly gone', async () => {
    const shop = await newShop();
    const ended = ten.slice(2).map((id): Seen => [id, 'cancelled']);
    await complete(shop, exported(2, [...active(1, 2), ...ended]));
    // Two of ten, but all that live.
    assert.deepEqual(await complete(shop, exported(4, ended), 'deleted'), {
      kind: 'shrunk',
      shrunk: [{ type: 'subscription', gone: 2, before: 2 }],
    });
    // Eight of ten, of which none lives.
    const left = await complete(shop, exported(6, active(1, 2)), 'deleted');
    assert.deepEqual(left, { cancelled: undefined, subscription: 8 });
    assert.deepEqual(Object.keys(await histories(shop)), ['1', '2']);
  });

  test('a date that version 1.0.0 gave stays until all is imported anew', async () => {
    const shop = await newShop();
    const seen: readonly Seen[] = [[1, 'cancelled'], ...active(2)];
    // It dated the end at the import, on the 5th, as if the source had said so.
    const statusEvents = [{ at: day(5), to: 'cancelled' }];
    await importAll(store, shop, [
      subscription(1, { status: 'cancelled', createdAt, statusEvents }),
    ]);
    for (const date of [4, 6]) await partial(shop, exported(date, seen));
    assert.deepEqual(await histories(shop), { 1: 'cancelled 5', 2: '' });
    // The way that docs/operations.md names.
    await complete(shop, [], 'deleted', { allowShrink: true });
    await partial(shop, exported(4, seen));
    assert.deepEqual(await histories(shop), { 1: 'cancelled ?', 2: '' });
  });

  test('is shown by a dry run, which stores nothing', async () => {
    const shop = await newShop();
    await complete(shop, exported(2, active(...ten)));
    const snapshot = new Snapshot({
      types: ['subscription'],
      gone: 'cancelled',
      allowShrink: false,
    });
    const place = { isEmbedded: false, signal: new AbortController().signal };
    const { before: was, after: is } = await rehearse(store.write, shop, place, (copy) => {
      const records = exported(4, active(...ten.slice(1)));
      return importSnapshot({ ...store, write: copy }, shop, records, snapshot, {
        isFromFeed: true,
      });
    });
    assert.ok(snapshot.outcome?.kind === 'cancelled');
    assert.deepEqual(
      [snapshot.outcome.cancelled, was.activeSubscribers, is.activeSubscribers],
      [1, 10, 9],
    );
    assert.equal((await histories(shop))[1], '');
  });

  test('a record with a date replaces an unknown one, whatever its way in', async () => {
    const shop = await newShop();
    await partial(
      shop,
      exported(2, [
        [1, 'cancelled'],
        [2, 'cancelled'],
        [3, 'paused'],
      ]),
    );
    assert.deepEqual(await histories(shop), { 1: 'cancelled ?', 2: 'cancelled ?', 3: 'paused ?' });
    await partial(shop, exported(4, [[1, 'cancelled']], { updatedAt: day(3) }));
    const statusEvents = [{ at: day(2), to: 'cancelled' }];
    const own = { customerId: 2, status: 'cancelled', createdAt, updatedAt: null, statusEvents };
    await importAll(store, shop, [subscription(2, own)]);
    // It was active before.
    await partial(shop, exported(1, [[3, 'active']]));
    assert.deepEqual(await histories(shop), { 1: 'cancelled 3', 2: 'cancelled 2', 3: 'paused 2' });
  });

  test('a changed record of our own without dates is dated by the import', async () => {
    const shop = await newShop();
    const own = (status: string, more: object = {}) =>
      importAll(store, shop, [subscription(1, { status, createdAt, updatedAt: null, ...more })]);
    const known = { statusEvents: [{ at: day(3), to: 'paused' }] };
    await own('paused');
    assert.deepEqual(await histories(shop), { 1: 'paused ?' });
    await own('paused', known);
    await own('cancelled');
    assert.deepEqual(await histories(shop), { 1: 'paused 3, cancelled 20' });
    await own('cancelled', { nextBillingDate: day(28) });
    assert.deepEqual(await histories(shop), { 1: 'paused 3, cancelled 20' });
  });

  const ids = [1, 2, 3, 4, 5, 6];
  interface Export {
    readonly date: number;
    readonly gone: Gone | undefined;
    readonly seen: readonly Seen[];
  }
  const statuses = ['active', 'active', 'paused', 'cancelled', 'expired', 'failed'];
  const randomExports = ({ chance, oneOf, integer }: Random): Export[] =>
    Array.from({ length: 2 + integer(4) }, (_, index) => ({
      date: 2 + index * 3,
      gone: oneOf([undefined, 'cancelled', 'cancelled']),
      seen: ids.filter(() => chance(0.7)).map((id): Seen => [id, oneOf(statuses)]),
    }));

  /** The history of a subscription: all exports in order of their dates. */
  function model(exports: readonly Export[], id: number) {
    let known: { status: string; changes: [date: number | undefined, to: string][] } | undefined;
    for (const { date, gone, seen } of exports.toSorted((a, b) => a.date - b.date)) {
      const [, status] = seen.find(([each]) => each === id) ?? [];
      const isGone = gone && known && ['active', 'paused'].includes(known.status);
      const to = status ?? (isGone ? 'cancelled' : known?.status);
      if (to === undefined) continue;
      const changes = known?.changes ?? [];
      const isOther = to !== (known?.status ?? 'active');
      known = { status: to, changes: isOther ? [...changes, [known && date, to]] : changes };
    }
    return known?.changes
      .map(([at, to], index, { length }) => `${to} ${at ?? (index < length - 1 ? 1 : '?')}`)
      .join(', ');
  }

  test('random exports in any order, some twice, give what follows from all of them', async () => {
    const { numRuns, seed } = runs(12);
    for (let run = 0; run < numRuns; run += 1) {
      const random = randomOf(seed + run);
      const exports = randomExports(random);
      const order = [...exports, ...exports.filter(() => random.chance(0.3))]
        .map((each) => ({ each, by: random.integer(1_000_000) }))
        .toSorted((a, b) => a.by - b.by)
        .map(({ each }) => each);
      const shop = await newShop();
      for (const { date, gone, seen } of order) {
        const records = exported(date, seen);
        // One without any records has no date.
        if (records.length === 0) continue;
        await (gone
          ? complete(shop, records, gone, { allowShrink: true })
          : partial(shop, records));
      }
      const counted = exports.filter(({ seen }) => seen.length > 0);
      const expected = ids.flatMap((id) => {
        const history = model(counted, id);
        return history === undefined ? [] : [[id, history]];
      });
      const dates = order.map(({ date }) => date).join(' ');
      assert.deepEqual(
        await histories(shop),
        Object.fromEntries(expected),
        `${seed + run}: ${dates}`,
      );
    }
  });
});
