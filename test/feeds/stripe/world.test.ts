import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { FixedClock } from '../../../src/clock.ts';
import type { Store } from '../../../src/store/open.ts';
import { root, throwawayFolder } from '../../cli/process.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { addCases, addPayments } from '../../support/stripe/cases.ts';
import type { StripeObject } from '../../support/stripe/schema.ts';
import { StripeWorld } from '../../support/stripe/world.ts';
import { Year } from '../../support/stripe/year.ts';
import { createShop } from '../../support/world.ts';
import { importMapped } from '../mapping/mapped.ts';
import {
  type Expected,
  casesOf,
  checkCase,
  checkWarnings,
  currencies,
  expected,
  worldAt,
} from '../mapping/stripe/cases.ts';

const objects = readFileSync(path.join(root, 'mappings/stripe-objects.json'), 'utf8');

onOneDatabase("the stand-in's world of Stripe", (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  test('has payments, refunds and disputes that the mapping reads', async () => {
    const shop = await createShop(store, { currency: 'USD' });
    const world = new StripeWorld({ clock: new FixedClock(worldAt) });
    addCases(world, casesOf('USD'));
    addPayments(world);
    const isUsd = ({ currency }: StripeObject) => currency === 'usd';
    const rows = (['subscription', 'invoice', 'refund'] as const).flatMap((kind) =>
      world.exportRows(kind).filter(isUsd),
    );
    const file = path.join(throwawayFolder(), 'stripe');
    writeFileSync(file, JSON.stringify({ data: rows }));
    const times = { at: worldAt, asOf: worldAt };
    const { refused, counts } = await importMapped(store, shop, objects, file, times);
    // A subscription that never began is left out, so its payment has none.
    assert.equal(refused.length, 1);
    const stored = ['subscription', 'payment', 'refund'].map((type) => counts[type]?.stored);
    assert.deepEqual(stored, [131, 101, 21]);
    const outcomes = Object.groupBy(world.list('dispute'), ({ status }) => String(status));
    assert.deepEqual([outcomes['lost']?.length, outcomes['won']?.length], [6, 4]);
  });

  test('can be played for a year, event by event', async () => {
    const clock = new FixedClock('2025-11-20T00:00:00Z');
    const world = new StripeWorld({ clock });
    const types = new Set<string>();
    let last = 0;
    for (const events of new Year(world, clock).play()) {
      for (const { type, created } of events) {
        assert.equal(created * 1000, clock.now());
        assert.ok(created >= last);
        last = created;
        types.add(type);
      }
    }
    const missing = [
      'charge.dispute.closed',
      'charge.refunded',
      'credit_note.created',
      'customer.discount.deleted',
      'customer.subscription.created',
      'customer.subscription.deleted',
      'customer.subscription.updated',
      'invoice.paid',
      'invoice.payment_failed',
    ].filter((type) => !types.has(type));
    assert.deepEqual(missing, []);
    assert.equal(new Date(clock.now()).toISOString(), worldAt);
    const statuses = world.list('subscription').map(({ status }) => status);
    const live = Array.from({ length: 7 }, () => 'active');
    assert.deepEqual(statuses.toSorted(), [...live, 'canceled', 'canceled', 'unpaid']);
    const shop = await createShop(store, { currency: 'USD' });
    const rows = (['subscription', 'invoice', 'refund'] as const).flatMap((kind) =>
      world.exportRows(kind),
    );
    const file = path.join(throwawayFolder(), 'stripe');
    writeFileSync(file, JSON.stringify({ data: rows }));
    const times = { at: worldAt, asOf: worldAt };
    const { refused, warnings } = await importMapped(store, shop, objects, file, times);
    assert.deepEqual([refused, warnings], [[], []]);
  });

  for (const currency of currencies) {
    test(`in ${currency} is worth what was worked out by hand, in the form of the present version`, async () => {
      const shop = await createShop(store, { currency });
      const world = new StripeWorld({ clock: new FixedClock(worldAt) });
      const cases = addCases(world, casesOf(currency));
      const file = path.join(throwawayFolder(), 'stripe');
      writeFileSync(file, JSON.stringify({ data: world.exportRows('subscription') }));
      const times = { at: worldAt, asOf: worldAt };
      const { refused, warnings } = await importMapped(store, shop, objects, file, times);
      assert.deepEqual(refused, []);
      const wanted = cases.map(
        ({ case: name, subscription }) =>
          [subscription.id, expected.get(name) as Expected] as const,
      );
      for (const [id, each] of wanted) await checkCase(store, shop, id, each);
      checkWarnings(
        warnings,
        wanted.map(([id, each]) => [id, each.warnings]),
      );
    });
  }
});
