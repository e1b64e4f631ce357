import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Store } from '../../src/store/open.ts';
import { plan, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { createShop, importAll } from '../support/world.ts';

const day = (number: number) => `2026-11-${String(number).padStart(2, '0')}T00:00:00Z`;
/** A record on some day from a source that reports only the current status. */
const seen = (date: number, status: string, over: object = {}) =>
  subscription(1001, { status, updatedAt: day(date), preserve: 'history', ...over });
const counts = (what: string) => ({
  stored: 0,
  replaced: 0,
  deleted: 0,
  unchanged: 0,
  stale: 0,
  refused: 0,
  [what]: 1,
});

onOneDatabase('keeping stored data when a feed lacks it', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  /** The history after these runs, as "day: from to to"; also checks the current status. */
  async function historyAfter(...runs: readonly (readonly object[])[]) {
    const shop = await createShop(store);
    await importAll(store, shop, [plan()]);
    for (const run of runs) {
      const { refused } = await importAll(store, shop, run, true);
      assert.deepEqual(refused, []);
    }
    const events = await store.write<{ day: number; from: string; to: string }[]>`
      select extract(day from at at time zone 'utc')::int as day, from_status as from,
        to_status as to
      from status_events where shop_id = ${shop.id} order by position`;
    const [row] = await store.write<{ since: number | null; status: string }[]>`
      select extract(day from status_since at time zone 'utc')::int as since, status
      from subscriptions where shop_id = ${shop.id}`;
    assert.ok(row);
    if (row.since !== null) {
      assert.equal(row.since, events.at(-1)?.day ?? 1);
      assert.equal(row.status, events.at(-1)?.to ?? 'active');
    }
    return events.map(({ day: on, from, to }) => `${on}: ${from} to ${to}`);
  }

  test('dates a new status by the updatedAt of the record', async () => {
    const whole = ['5: active to paused', '7: paused to active', '9: active to cancelled'];
    const versions = [
      seen(2, 'active'),
      seen(5, 'paused'),
      seen(7, 'active'),
      seen(9, 'cancelled'),
    ];
    assert.deepEqual(await historyAfter(...versions.map((each) => [each])), whole);
    assert.deepEqual(await historyAfter(versions), whole);
  });

  test('starts a history with the first record, as if it had been active before', async () => {
    assert.deepEqual(await historyAfter([seen(9, 'cancelled')]), ['9: active to cancelled']);
    assert.deepEqual(await historyAfter([seen(9, 'active')]), []);
  });

  test('does not move a cancellation when the record is edited later', async () => {
    const cancelled = seen(9, 'cancelled');
    const edited = seen(15, 'cancelled', { nextBillingDate: day(20) });
    assert.deepEqual(await historyAfter([cancelled], [edited]), ['9: active to cancelled']);
    assert.deepEqual(await historyAfter([cancelled, edited]), ['9: active to cancelled']);
  });

  test('does not change the history for repeated and stale versions', async () => {
    const [first, second] = [seen(5, 'paused'), seen(9, 'cancelled')];
    const whole = ['5: active to paused', '9: paused to cancelled'];
    assert.deepEqual(await historyAfter([first, second], [first, second]), whole);
    assert.deepEqual(await historyAfter([first], [first, second], [first], [second]), whole);
  });

  test('dates a change that the source does not date by the import', async () => {
    const undated = seen(3, 'active', { updatedAt: null });
    assert.deepEqual(await historyAfter([seen(9, 'paused')], [undated]), [
      '9: active to paused',
      '20: paused to active',
    ]);
  });

  test('adds a change dated before the last one at the time of that one', async () => {
    // Dated by the import, on day 20; the source's clock is behind.
    const undated = seen(3, 'paused', { updatedAt: null });
    assert.deepEqual(await historyAfter([seen(2, 'active')], [undated], [seen(15, 'cancelled')]), [
      '20: active to paused',
      '20: paused to cancelled',
    ]);
  });

  test('knows no date of what was never otherwise, until a change follows', async () => {
    const undated = seen(3, 'paused', { updatedAt: null });
    assert.deepEqual(await historyAfter([undated]), []);
    assert.deepEqual(await historyAfter([undated], [seen(15, 'cancelled')]), [
      '1: active to paused',
      '15: paused to cancelled',
    ]);
  });

  test('continues a history that came with the record', async () => {
    const withHistory = subscription(1001, {
      status: 'paused',
      updatedAt: day(8),
      statusEvents: [
        { at: day(2), to: 'failed' },
        { at: day(3), to: 'paused' },
      ],
    });
    assert.deepEqual(await historyAfter([withHistory], [seen(10, 'expired')]), [
      '2: active to failed',
      '3: failed to paused',
      '10: paused to expired',
    ]);
  });

  test('does not replace a stored plan with a placeholder, but replaces a placeholder', async () => {
    const shop = await createShop(store);
    const standIn = plan({ name: 'Stand-in', preserve: 'plan' });
    const runs: [record: object, is: string, name: string][] = [
      [standIn, 'stored', 'Stand-in'],
      [plan({ name: 'Other stand-in', preserve: 'plan' }), 'unchanged', 'Stand-in'],
      [plan({ name: 'Real' }), 'replaced', 'Real'],
      [standIn, 'unchanged', 'Real'],
      [plan({ name: 'Real' }), 'unchanged', 'Real'],
    ];
    for (const [record, is, name] of runs) {
      const imported = await importAll(store, shop, [record], true);
      assert.deepEqual(imported.counts, { plan: counts(is) });
      const rows = await store.write`select name from plans where shop_id = ${shop.id}`;
      assert.deepEqual([...rows], [{ name }]);
    }
  });

  test('keeps a stored membership if the source cannot tell memberships apart', async () => {
    const shop = await createShop(store);
    const runs: [over: object, planType: string][] = [
      [{ preserve: 'membership' }, 'subscription'],
      [{ planType: 'membership' }, 'membership'],
      [{ preserve: 'membership', name: 'Renamed' }, 'membership'],
      [{ name: 'It is none' }, 'subscription'],
      [{ planType: 'prepaid', preserve: 'membership' }, 'prepaid'],
    ];
    for (const [over, planType] of runs) {
      assert.deepEqual((await importAll(store, shop, [plan(over)], true)).refused, []);
      const rows = await store.write`
        select plan_type as "planType" from plans where shop_id = ${shop.id}`;
      assert.deepEqual([...rows], [{ planType }]);
    }
  });

  test('keeps the first amount of a payment if the source does not report amounts', async () => {
    const shop = await createShop(store);
    await importAll(store, shop, [plan(), subscription(1001)]);
    const payment = (amount: string, over: object = {}) => ({
      type: 'payment',
      id: 9001,
      subscriptionId: 1001,
      cycle: '1',
      status: 'failed',
      amount,
      processedAt: day(5),
      ...over,
    });
    const runs: [record: object, verdict: string, stored: string][] = [
      [payment('30.60', { preserve: 'amount' }), 'stored', '30.60'],
      [payment('40.00', { preserve: 'amount' }), 'unchanged', '30.60'],
      [payment('40.00', { preserve: 'amount', status: 'succeeded' }), 'replaced', '30.60'],
      [payment('50.00', { status: 'succeeded' }), 'replaced', '50.00'],
    ];
    for (const [record, verdict, amount] of runs) {
      const imported = await importAll(store, shop, [record], true);
      assert.deepEqual(imported.counts, { payment: counts(verdict) });
      const rows = await store.write`
        select amount::text from payments where shop_id = ${shop.id}`;
      assert.deepEqual([...rows], [{ amount }]);
    }
  });

  test('keeps the time of a session if the source does not report times', async () => {
    const shop = await createShop(store);
    const session = (date: number, over: object = {}) => ({
      type: 'cancellation',
      id: 7001,
      detectedReason: 'other',
      createdAt: day(date),
      ...over,
    });
    const undated = { preserve: 'createdAt' };
    const runs: [record: object, verdict: string, stored: string][] = [
      [session(5, undated), 'stored', day(5)],
      [session(9, undated), 'unchanged', day(5)],
      [session(9, { ...undated, outcome: 'saved' }), 'replaced', day(5)],
      [session(4, { outcome: 'saved' }), 'replaced', day(4)],
      [session(9, { ...undated, outcome: 'cancelled' }), 'replaced', day(4)],
    ];
    for (const [record, verdict, at] of runs) {
      const imported = await importAll(store, shop, [record], true);
      assert.deepEqual(imported.counts, { cancellation: counts(verdict) });
      const rows = await store.write`
        select created_at as at from cancellation_sessions where shop_id = ${shop.id}`;
      assert.deepEqual([...rows], [{ at: new Date(at) }]);
    }
  });

  test('ignores "preserve" in records that do not come from a feed', async () => {
    const shop = await createShop(store);
    const records = [plan(), seen(5, 'paused')];
    await importAll(store, shop, records);
    const again = [
      plan({ name: 'New', preserve: 'plan' }),
      seen(9, 'paused'),
      { ...plan({ id: 12 }), preserve: 7 },
    ];
    const { counts: sums, refused } = await importAll(store, shop, again);
    assert.deepEqual(refused, []);
    assert.deepEqual([sums['plan']?.replaced, sums['plan']?.stored], [1, 1]);
    const events = await store.write`
      select at from status_events where shop_id = ${shop.id}`;
    assert.deepEqual([...events], [{ at: new Date(day(9)) }]);
  });
});
