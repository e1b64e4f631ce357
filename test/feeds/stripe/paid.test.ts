import assert from 'node:assert/strict';
import { writeFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, after, before, test } from 'node:test';
import { FixedClock } from '../../../src/clock.ts';
import type { Store } from '../../../src/store/open.ts';
import { root, throwawayFolder } from '../../cli/process.ts';
import { onOneDatabase } from '../../support/databases.ts';
import {
  closeDispute,
  decline,
  dispute,
  makeInvoice,
  pay,
  refund,
} from '../../support/stripe/billing.ts';
import { addCases } from '../../support/stripe/cases.ts';
import { startStripe } from '../../support/stripe/stand-in.ts';
import { StripeWorld } from '../../support/stripe/world.ts';
import { importMapped } from '../mapping/mapped.ts';
import { casesOf, worldAt } from '../mapping/stripe/cases.ts';
import { openSynced } from './synced.ts';

const updated = 'customer.subscription.updated';
const month = 30 * 24 * 60 * 60;

onOneDatabase('Until when Stripe has been paid', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  async function start(t: TestContext) {
    const clock = new FixedClock(worldAt);
    const world = new StripeWorld({ clock });
    const [paying = assert.fail()] = addCases(world, casesOf('USD').slice(0, 1));
    const { id } = paying.subscription;
    const stripe = await startStripe(world);
    t.after(() => stripe.close());
    const change = (fields: object) =>
      world.change('subscription', id, (each) => Object.assign(each, fields), updated);
    /** Stripe renews first, and asks for the money then. */
    const renew = () =>
      world.change(
        'subscription',
        id,
        (each) => {
          const { data } = each['items'] as { data: Record<string, number>[] };
          for (const item of data) {
            item['current_period_start'] = world.now;
            item['current_period_end'] = world.now + month;
          }
        },
        updated,
      );
    return { clock, world, stripe, id, change, renew };
  }
  const stored = async (shopId: number) => {
    const [found] = await store.write<{ status: string; paidThrough: Date | null }[]>`
      select status, paid_through_at as "paidThrough" from subscriptions where shop_id = ${shopId}`;
    return [found?.status, found?.paidThrough ? found.paidThrough.getTime() / 1000 : null];
  };

  test('is not moved by a renewal that is not paid', async (t) => {
    const { clock, world, stripe, id, change, renew } = await start(t);
    pay(world, makeInvoice(world, id, 'subscription_create', { amount: 1000 }));
    renew();
    const paidUntil = world.now + month;
    const { shop, sync } = await openSynced(store, stripe, clock);
    await sync();
    assert.deepEqual(await stored(shop.id), ['active', paidUntil]);

    clock.advance(month * 1000);
    const invoice = makeInvoice(world, id, 'subscription_cycle', { amount: 1000 });
    renew();
    await sync();
    assert.deepEqual(await stored(shop.id), ['active', paidUntil]);
    decline(world, invoice);
    change({ status: 'past_due' });
    await sync();
    change({ status: 'unpaid' });
    await sync();
    assert.deepEqual(await stored(shop.id), ['failed', paidUntil]);

    // The invoice's event is the only one of this payment.
    change({ status: 'active' });
    await sync();
    pay(world, invoice);
    await sync();
    assert.deepEqual(await stored(shop.id), ['active', world.now + month]);
  });

  test('stays what it is when a subscription is cancelled at once, in a first sync, too', async (t) => {
    const { clock, world, stripe, id, change, renew } = await start(t);
    pay(world, makeInvoice(world, id, 'subscription_create', { amount: 1000 }));
    renew();
    const paidUntil = world.now + month;
    change({ status: 'canceled', ended_at: world.now, canceled_at: world.now });
    const { shop, sync } = await openSynced(store, stripe, clock);
    await sync();
    assert.deepEqual(await stored(shop.id), ['cancelled', paidUntil]);

    makeInvoice(world, id, 'subscription_cycle', { amount: 1000 });
    const unpaid = await openSynced(store, stripe, clock);
    await unpaid.sync();
    assert.deepEqual(await stored(unpaid.shop.id), ['cancelled', null]);
  });

  test('is not moved by the periods of a pause, whose invoices are voided', async (t) => {
    const { clock, world, stripe, id, change, renew } = await start(t);
    pay(world, makeInvoice(world, id, 'subscription_create', { amount: 1000 }));
    renew();
    const paidUntil = world.now + month;
    change({ pause_collection: { behavior: 'void', resumes_at: null } });
    const { shop, sync } = await openSynced(store, stripe, clock);
    await sync();
    assert.deepEqual(await stored(shop.id), ['paused', paidUntil]);

    clock.advance(month * 1000);
    const invoice = makeInvoice(world, id, 'subscription_cycle', { amount: 1000 });
    world.change(
      'invoice',
      invoice,
      (each) => Object.assign(each, { status: 'void' }),
      'invoice.voided',
    );
    renew();
    await sync();
    assert.deepEqual(await stored(shop.id), ['paused', paidUntil]);
  });

  for (const [what, takeBack] of [
    ['a full refund', refund],
    ['a lost dispute', (world, invoice) => closeDispute(world, dispute(world, invoice), 'lost')],
  ] as const satisfies [string, (world: StripeWorld, invoice: string) => unknown][]) {
    test(`goes back to what was paid for before by ${what}, in a first sync, too`, async (t) => {
      const { clock, world, stripe, id, change, renew } = await start(t);
      renew();
      const began = world.now;
      const invoice = makeInvoice(world, id, 'subscription_cycle', { amount: 1000 });
      pay(world, invoice);
      const { shop, sync } = await openSynced(store, stripe, clock);
      await sync();
      clock.advance(3_600_000);
      change({ status: 'canceled', ended_at: world.now, canceled_at: world.now });
      await sync();
      assert.deepEqual(await stored(shop.id), ['cancelled', began + month]);
      takeBack(world, invoice);
      await sync();
      assert.deepEqual(await stored(shop.id), ['cancelled', began]);
      clock.advance(24 * 3_600_000);
      await sync();
      assert.deepEqual(await stored(shop.id), ['cancelled', began]);

      const later = await openSynced(store, stripe, clock);
      await later.sync();
      assert.deepEqual(await stored(later.shop.id), ['cancelled', began]);
    });
  }

  test('stays when only what a change within the period cost is refunded', async (t) => {
    const { clock, world, stripe, id, change, renew } = await start(t);
    renew();
    const paidUntil = world.now + month;
    pay(world, makeInvoice(world, id, 'subscription_cycle', { amount: 1000 }));
    clock.advance(3_600_000);
    const upgrade = makeInvoice(world, id, 'subscription_update', { amount: 500, isPeriod: false });
    pay(world, upgrade);
    change({ status: 'canceled', ended_at: world.now, canceled_at: world.now });
    refund(world, upgrade);
    const { shop, sync } = await openSynced(store, stripe, clock);
    await sync();
    assert.deepEqual(await stored(shop.id), ['cancelled', paidUntil]);
  });

  test('stays after a refund of a part, and after one that the bank returns', async (t) => {
    const { clock, world, stripe, id, change, renew } = await start(t);
    renew();
    const began = world.now;
    const invoice = makeInvoice(world, id, 'subscription_cycle', { amount: 1000 });
    pay(world, invoice);
    change({ status: 'canceled', ended_at: world.now, canceled_at: world.now });
    const { shop, sync } = await openSynced(store, stripe, clock);
    const refunded = async () => {
      const [found] = await store.write<{ sum: string }[]>`
        select sum(amount)::text from refunds where shop_id = ${shop.id}`;
      return Number(found?.sum);
    };
    refund(world, invoice, 0.5);
    await sync();
    assert.deepEqual(await stored(shop.id), ['cancelled', began + month]);
    const rest = refund(world, invoice, 0.5);
    clock.advance(60_000);
    await sync();
    assert.deepEqual([...(await stored(shop.id)), await refunded()], ['cancelled', began, 10]);

    const fail = (each: object) => Object.assign(each, { status: 'failed' });
    world.change('refund', String(rest['id']), fail, 'refund.updated', 'refund.failed');
    clock.advance(24 * 3_600_000);
    await sync();
    assert.deepEqual(
      [...(await stored(shop.id)), await refunded()],
      ['cancelled', began + month, 5],
    );
  });

  test('what is in another currency is not gone, if files brought it', async (t) => {
    const { clock, world, stripe } = await start(t);
    const [euros = assert.fail()] = addCases(world, casesOf('EUR').slice(0, 1));
    const { shop, sync } = await openSynced(store, stripe, clock);
    const file = path.join(throwawayFolder(), 'stripe');
    writeFileSync(file, JSON.stringify({ data: world.exportRows('subscription') }));
    const mapping = readFileSync(path.join(root, 'mappings/stripe-objects.json'), 'utf8');
    await importMapped(store, shop, mapping, file, { at: worldAt, asOf: worldAt });
    const statuses = () => store.write`
      select status, count(*)::int from subscriptions where shop_id = ${shop.id} group by status order by 1`;
    const imported = await statuses();
    assert.equal(euros.subscription['status'], 'active');
    assert.equal((await sync({ takeOver: true })).refused, 1);
    assert.deepEqual(await statuses(), imported);
  });
});
