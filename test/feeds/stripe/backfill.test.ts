import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FixedClock } from '../../../src/clock.ts';
import type { Store } from '../../../src/store/open.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { addCases } from '../../support/stripe/cases.ts';
import { startStripe } from '../../support/stripe/stand-in.ts';
import { StripeWorld } from '../../support/stripe/world.ts';
import { casesOf, checkCase, expected, worldAt } from '../mapping/stripe/cases.ts';
import { openSynced } from './synced.ts';

onOneDatabase('A backfill from Stripe', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  test('prices subscriptions as was worked out by hand', async (t) => {
    const clock = new FixedClock(worldAt);
    const world = new StripeWorld({ clock });
    const cases = addCases(world, casesOf('USD'));
    const stripe = await startStripe(world);
    t.after(() => stripe.close());
    const { shop, sync } = await openSynced(store, stripe, clock);
    const { kind, refused } = await sync();
    // The one in another currency is named.
    assert.deepEqual([kind, refused], ['whole', 1]);
    for (const { case: name, subscription } of cases) {
      const wanted = expected.get(name);
      assert.ok(wanted);
      const isOurs = !wanted.warnings.includes('other_currency');
      await checkCase(store, shop, subscription.id, isOurs ? wanted : { ...wanted, stored: false });
    }
    const count = stripe.requests.length;
    assert.deepEqual((await sync()).read, { events: 0 });
    assert.equal(stripe.requests.length - count, 1);
  });
});
