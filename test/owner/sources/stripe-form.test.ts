import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FixedClock, systemClock } from '../../../src/clock.ts';
import { stripe as platform } from '../../../src/platforms/stripe/platform.ts';
import { unread } from '../../../src/platforms/streams.ts';
import { deleteConnection, upsertConnection } from '../../../src/store/feeds/platforms.ts';
import { deleteStreams, upsertStreams } from '../../../src/store/feeds/streams.ts';
import type { Store } from '../../../src/store/open.ts';
import { casesOf, worldAt } from '../../feeds/mapping/stripe/cases.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { addCases } from '../../support/stripe/cases.ts';
import { type StripeStandIn, startStripe } from '../../support/stripe/stand-in.ts';
import { StripeWorld } from '../../support/stripe/world.ts';
import { importAll } from '../../support/world.ts';
import { plain } from '../page-text.ts';
import { openForm } from './pasting.ts';

onOneDatabase('pasting a key of Stripe', (open) => {
  let store: Store;
  let stripe: StripeStandIn;
  before(async () => {
    store = open();
    const world = new StripeWorld({ clock: new FixedClock(worldAt) });
    addCases(world, casesOf('USD').slice(0, 5));
    stripe = await startStripe(world);
  });
  after(async () => {
    await stripe.close();
    await store.close();
  });

  test('refuses what does not suffice in Stripe’s words, and starts at once', async () => {
    const { baseUrl } = stripe;
    const owner = await openForm(store, platform, { baseUrl });
    const { shop, sources, logLines, visitor, paste } = owner;
    try {
      const old = { type: 'plan', id: 5, name: 'Old', planType: 'subscription' };
      await importAll(store, shop, [{ ...old, intervalUnit: 'month', intervalCount: 1 }]);
      const missing = stripe.createKey({ without: ['rak_invoice_read'] });
      const cases: readonly (readonly [string, RegExp])[] = [
        [
          'sk_test_abcdefghijklmnop',
          /This must be a restricted key.* a secret key \(sk_\) is refused/,
        ],
        ['rk_test_unknownunknownunknown', /Stripe/],
        [missing, /rak_invoice_read/],
      ];
      for (const [key, reason] of cases) {
        const page = await paste({ key, 'take-over': 'yes' });
        assert.equal(page.status, 422, key);
        assert.match(plain(page.text), reason);
        assert.ok(!page.text.includes(key));
      }
      // Another platform keeps the same types up.
      const connectedAt = new Date(systemClock.now());
      const account = 'db/billing';
      await store.write.begin((tx) =>
        upsertConnection(tx, 'postgres', {
          shopId: shop.id,
          account,
          credentials: '',
          connectedAt,
        }),
      );
      const stream = unread(account, { name: 'subs', types: ['plan', 'subscription'] });
      await upsertStreams(store.write, shop.id, 'postgres', [{ ...stream, readAt: connectedAt }]);
      const kept = await paste({ key: stripe.key, 'take-over': 'yes' });
      assert.equal(kept.status, 422);
      assert.match(
        plain(kept.text),
        /Disconnect PostgreSQL first: it brings the plans and subscriptions of this shop/,
      );
      await store.write.begin((tx) => deleteConnection(tx, shop.id, 'postgres'));
      await store.write.begin((tx) => deleteStreams(tx, shop.id, 'postgres'));

      const undecided = await paste({ key: stripe.key });
      assert.equal(undecided.status, 422);
      assert.match(plain(undecided.text), /Tick “Let Stripe take them over”, or cancel\./);
      assert.match(
        undecided.text,
        /name="take-over" value="yes" aria-invalid="true" aria-describedby="problem" autofocus/,
      );
      assert.equal(
        (await paste({ key: ` ${stripe.key}\n`, 'take-over': 'yes' })).location,
        `${sources}?done=connected`,
      );
      await owner.sync();
      const { text } = await visitor.get(sources);
      assert.match(
        plain(text),
        /Stripe Up to date .* Account acct_\w+ \(test\) .* subscriptions plans and subscriptions/,
      );
      for (const told of [text, ...logLines]) {
        for (const key of [stripe.key, missing]) assert.ok(!told.includes(key), told);
      }
    } finally {
      await owner.service.close();
    }
  });
});
