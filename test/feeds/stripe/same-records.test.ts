import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, after, before, test } from 'node:test';
import { FixedClock } from '../../../src/clock.ts';
import { findLedgerDifferences } from '../../../src/metrics/verify/sums.ts';
import type { Store } from '../../../src/store/open.ts';
import { root, throwawayFolder } from '../../cli/process.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { addCases, addPayments } from '../../support/stripe/cases.ts';
import { document } from '../../support/stripe/schema.ts';
import { type StripeStandIn, startStripe } from '../../support/stripe/stand-in.ts';
import { StripeWorld } from '../../support/stripe/world.ts';
import { Year } from '../../support/stripe/year.ts';
import { createShop } from '../../support/world.ts';
import { importMapped } from '../mapping/mapped.ts';
import { casesOf, worldAt } from '../mapping/stripe/cases.ts';
import { openSynced, recordsOf, valuesOf } from './synced.ts';

const mapping = readFileSync(path.join(root, 'mappings/stripe-objects.json'), 'utf8');
const kinds = ['subscription', 'invoice', 'refund', 'dispute'] as const;

/** What the subscriptions of the year were worth, one of them with a discount between two days. */
const valuesInYear = (from: string, until: string) => [
  ['first 20 month 1'],
  ['first 20 month 1', '2026-01-29 35 month 1', '2026-06-08 200 year 1'],
  [
    'first 27 month 1',
    '2025-12-30 63 month 1',
    '2026-04-29 45 month 1',
    '2026-09-16 108 month 1',
    '2026-09-20 81 month 1',
  ],
  ['first 35 month 1', `${from} 23.345 month 1`, `${until} 35 month 1`],
  ['first 20 month 1'],
  ['first 20 month 1', '2026-07-05 24 month 1'],
  ['first 70 month 1'],
  ['first 20 month 1'],
  ['first 18 month 1'],
  ['first 200 year 1'],
];

onOneDatabase('Stripe brings the same records', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  async function start(t: TestContext, at: string, apiVersion?: string) {
    const clock = new FixedClock(at);
    const world = new StripeWorld({ clock, ...(apiVersion && { apiVersion }) });
    const stripe = await startStripe(world);
    t.after(() => stripe.close());
    return { clock, world, stripe };
  }

  /** All of a world, by a first sync of another shop. */
  async function backfill(stripe: StripeStandIn, clock: FixedClock, refused = 0) {
    const { shop, sync } = await openSynced(store, stripe, clock);
    assert.equal((await sync()).refused, refused);
    return recordsOf(store, shop.id, new Date(clock.now()));
  }

  test('by a file, a first sync, events and webhooks', async (t) => {
    const { clock, world, stripe } = await start(t, worldAt);
    const evented = await openSynced(store, stripe, clock);
    const hinted = await openSynced(store, stripe, clock);
    // Begin before there is anything.
    for (const each of [evented, hinted]) await each.sync();
    clock.advance(1000);
    addCases(world, casesOf('USD'));
    addPayments(world);
    const hints: [kind: string, id: string][] = [];
    for (const kind of kinds) {
      for (const object of world.list(kind)) {
        const type = {
          dispute: 'charge.dispute.closed',
          subscription: 'customer.subscription.updated',
          invoice: 'invoice.paid',
          refund: 'refund.updated',
        }[kind];
        world.record(type, object);
        hints.push([`${kind}s`, String(object['id'])]);
      }
    }
    const now = new Date(clock.now());
    // One is in another currency.
    const expected = await backfill(stripe, clock, 1);
    assert.deepEqual(
      [expected.subscriptions.length, expected.payments.length, expected.refunds.length],
      [131, 101, 27],
    );

    assert.equal((await evented.sync()).refused, 0);
    assert.deepEqual(await recordsOf(store, evented.shop.id, now), expected);
    // Invoices show no value that subscriptions do not have: the discount of this one has just ended.
    const changed = (await valuesOf(store, evented.shop.id)).filter(({ length }) => length > 1);
    assert.deepEqual(changed, [['first 30 month 1', '2026-11-20 60 month 1']]);

    for (const [kind, id] of hints) assert.equal(await hinted.follow(kind, id), 0);
    assert.deepEqual(await recordsOf(store, hinted.shop.id, now), expected);

    const shop = await createShop(store, { currency: 'USD' });
    const rows = kinds.flatMap((kind) =>
      world.exportRows(kind).filter(({ currency }) => currency === 'usd'),
    );
    const file = path.join(throwawayFolder(), 'stripe');
    writeFileSync(file, JSON.stringify({ data: rows }));
    await importMapped(store, shop, mapping, file, { at: worldAt, asOf: worldAt });
    assert.deepEqual(await recordsOf(store, shop.id, new Date(clock.now())), expected);
  });

  // An account's own version decides how its events look; what they are about is read in ours.
  test('by a year of events, at first of an older version, as by a first sync at its end', async (t) => {
    const { clock, world, stripe } = await start(t, '2025-11-20T00:00:00Z', '2024-06-20');
    const synced = await openSynced(store, stripe, clock);
    const { shop, syncEvents } = synced;
    await synced.sync();
    const begun = stripe.requests.length;
    let turns = 0;
    for (const _ of new Year(world, clock).play()) {
      turns += 1;
      // The account is upgraded to the present version.
      if (turns === 60) world.apiVersion = document.info.version;
      if (turns % 3 === 0) assert.equal((await syncEvents()).refused, 0);
    }
    assert.ok(turns > 100);
    await syncEvents();
    const lists = kinds.map((kind) => `/v1/${kind}s`);
    const read = stripe.requests.slice(begun).map((each) => each.path);
    assert.deepEqual(new Set(lists).intersection(new Set(read)), new Set());
    const late = await openSynced(store, stripe, clock);
    await late.sync();
    const now = new Date(clock.now());
    const expected = await recordsOf(store, late.shop.id, now);
    assert.deepEqual(await recordsOf(store, shop.id, now), expected);
    assert.deepEqual(await valuesOf(store, shop.id), valuesInYear('2026-01-09', '2026-04-09'));
    // Invoices show a discount from the first to the last cycle that had it.
    const values = valuesInYear('2026-01-30', '2026-05-02');
    assert.deepEqual(await valuesOf(store, late.shop.id), values);

    // What is read again shows nothing new.
    for (const each of [synced, late]) {
      await each.sync({ full: true });
      assert.deepEqual(await recordsOf(store, each.shop.id, now), expected);
      assert.deepEqual([...(await findLedgerDifferences(store.write, each.shop.id))], []);
    }
    assert.deepEqual(await valuesOf(store, late.shop.id), values);
  });
});
