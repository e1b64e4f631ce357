import assert from 'node:assert/strict';
import { type TestContext, after, before, test } from 'node:test';
import { FixedClock } from '../../../src/clock.ts';
import { CredentialsRefused, PlatformError } from '../../../src/platforms/errors.ts';
import { newPace, openClient } from '../../../src/platforms/stripe/client.ts';
import type { Store } from '../../../src/store/open.ts';
import { listStreams } from '../../../src/store/feeds/streams.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { addCases } from '../../support/stripe/cases.ts';
import { startStripe } from '../../support/stripe/stand-in.ts';
import { StripeWorld } from '../../support/stripe/world.ts';
import { importAll, silentLog } from '../../support/world.ts';
import { plan } from '../../rest/records.ts';
import { casesOf, worldAt } from '../mapping/stripe/cases.ts';
import { openSynced } from './synced.ts';

const updated = 'customer.subscription.updated';
const hour = 3_600_000;

onOneDatabase('A sync with Stripe', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  async function start(t: TestContext, { many = 3 } = {}) {
    const clock = new FixedClock(worldAt);
    const world = new StripeWorld({ clock });
    const cases = addCases(world, casesOf('USD').slice(0, many));
    const stripe = await startStripe(world);
    t.after(() => stripe.close());
    const ids = cases.map(({ subscription: { id } }) => id);
    return { clock, world, stripe, ids, synced: await openSynced(store, stripe, clock) };
  }
  const statuses = async (shopId: number) => {
    const rows = await store.write<{ status: string }[]>`
      select status from subscriptions where shop_id = ${shopId}`;
    return rows.map(({ status }) => status).toSorted();
  };
  const cancel = (world: StripeWorld, id: string) =>
    world.change(
      'subscription',
      id,
      (each) => Object.assign(each, { status: 'canceled', ended_at: world.now }),
      updated,
    );

  test('asks again after errors of the server and lost connections', async (t) => {
    const { stripe, synced } = await start(t);
    Object.assign(stripe.faults, { failed: 2, cut: 1, tooMany: 3 });
    assert.equal((await synced.sync()).refused, 0);
    assert.equal((await statuses(synced.shop.id)).length, 3);
  });

  test('waits as long as a 429 says, and sends at most 25 requests a second', async (t) => {
    const { stripe } = await start(t);
    const clock = { now: () => 0, monotonic: () => at };
    let at = 0;
    const times: number[] = [];
    const client = openClient(stripe.key, stripe.baseUrl, {
      clock,
      backoff: { wait: async (milliseconds) => void (at += milliseconds), random: () => 0 },
    });
    stripe.pause = async () => void times.push(at);
    for (let index = 0; index < 60; index += 1) await client.account();
    for (const [index, first] of times.entries()) {
      assert.ok((times[index + 25] ?? Infinity) - first >= 1000);
    }
    // Two shops of an account share what it may be asked.
    times.length = 0;
    const backoff = {
      wait: async (milliseconds: number) => void (at += milliseconds),
      random: () => 0,
    };
    const ofOneAccount = { clock, backoff, pace: newPace() };
    const shared = [1, 2].map(() => openClient(stripe.key, stripe.baseUrl, ofOneAccount));
    for (let index = 0; index < 30; index += 1) for (const each of shared) await each.account();
    for (const [index, first] of times.entries()) {
      assert.ok((times[index + 25] ?? Infinity) - first >= 1000);
    }
    const asked = at;
    stripe.faults.tooMany = 1;
    stripe.retryAfter = '7';
    await client.account();
    assert.ok(at - asked >= 7000);
  });

  test('says what is wrong with a key, without a part of it', async (t) => {
    const { stripe, clock } = await start(t);
    const ask = (key: string) =>
      openClient(key, stripe.baseUrl, { clock, backoff: { wait: async () => {}, random: () => 0 } })
        .list('invoices', {})
        .next();
    const expired = stripe.createKey();
    stripe.expireKey(expired);
    await assert.rejects(ask(expired), (error) => {
      assert.ok(error instanceof CredentialsRefused);
      return error.message === 'Stripe says that the key has expired. Connect with another one.';
    });
    await assert.rejects(ask('rk_test_unknown'), CredentialsRefused);
    const restricted = stripe.createKey({ without: ['rak_invoice_read'] });
    await assert.rejects(ask(restricted), (error) => {
      assert.ok(error instanceof PlatformError && !(error instanceof CredentialsRefused));
      return (
        /rak_invoice_read/.test(error.message) && !error.message.includes(restricted.slice(-4))
      );
    });
  });

  test('takes events that come twice, late or never', async (t) => {
    const { stripe, world, clock, ids, synced } = await start(t);
    await synced.sync();
    clock.advance(60_000);
    const [first = '', second = '', third = ''] = ids;
    for (const event of cancel(world, first)) world.repeatEvent(event);
    world.holdEvents();
    cancel(world, second);
    clock.advance(60_000);
    await synced.sync();
    assert.deepEqual(await statuses(synced.shop.id), ['active', 'active', 'cancelled']);
    world.releaseEvents();
    const asked = stripe.requests.length;
    assert.equal((await synced.sync()).written, 1);
    // The one that is late is read again, those that came before are not.
    assert.equal(stripe.requests.filter(({ path }) => path.endsWith(first)).length, 1);
    assert.ok(stripe.requests.length - asked <= 4);
    for (const event of cancel(world, third)) world.loseEvent(event);
    clock.advance(hour);
    await synced.sync();
    assert.deepEqual(await statuses(synced.shop.id), ['active', 'cancelled', 'cancelled']);
    clock.advance(24 * hour);
    assert.equal((await synced.sync()).kind, 'whole');
    assert.deepEqual(await statuses(synced.shop.id), ['cancelled', 'cancelled', 'cancelled']);
  });

  test('asks once for what many subscriptions have, until it changes or is old', async (t) => {
    const { stripe, world, clock, synced } = await start(t, { many: 60 });
    await synced.sync();
    const ids = world.list('subscription').map(({ id }) => String(id));
    const ask = async () => {
      const asked = stripe.requests.length;
      await Promise.all(ids.map((id) => synced.follow('subscriptions', id)));
      return stripe.requests.length - asked;
    };
    assert.equal(await ask(), ids.length);
    const [product] = world.list('product');
    const rename = (name: string) =>
      world.change(
        'product',
        String(product?.['id']),
        (each) => void (each['name'] = name),
        'product.updated',
      );
    clock.advance(60_000);
    rename('Renamed');
    await synced.sync();
    assert.ok((await ask()) > ids.length);
    const [line] = await store.write`
      select count(*)::int as count from subscription_lines
      where shop_id = ${synced.shop.id} and product_title = 'Renamed'`;
    assert.ok(Number(line?.['count']) > 0);
    assert.equal(await ask(), ids.length);
    clock.advance(600_000);
    assert.ok((await ask()) > ids.length);
  });

  test('cancels what Stripe no longer has, unless that is too much', async (t) => {
    const { world, clock, ids, synced } = await start(t, { many: 12 });
    await synced.sync();
    const [first = '', ...others] = ids;
    world.delete('subscription', first);
    clock.advance(24 * hour);
    await synced.sync();
    const isEnded = (status: string) => status === 'cancelled';
    assert.equal((await statuses(synced.shop.id)).filter(isEnded).length, 1);
    for (const id of others.slice(0, 8)) world.delete('subscription', id);
    clock.advance(24 * hour);
    await assert.rejects(synced.sync(), /gone from a complete stream, more than a fifth/);
    assert.equal((await statuses(synced.shop.id)).filter(isEnded).length, 1);
    await synced.sync({ full: true, takeOver: true });
    assert.equal((await statuses(synced.shop.id)).filter(isEnded).length, 9);
  });

  test('reads everything again once events may have been forgotten', async (t) => {
    const { world, clock, ids, synced } = await start(t);
    await synced.sync();
    cancel(world, ids[0] ?? '');
    clock.advance(31 * 24 * hour);
    await synced.sync();
    assert.ok((await statuses(synced.shop.id)).includes('cancelled'));
  });

  test('goes on where a long list was interrupted', async (t) => {
    const { stripe, world, synced } = await start(t);
    const [sample] = world.list('subscription');
    for (let number = 0; number < 1200; number += 1) {
      const items = structuredClone(sample?.['items']) as { data: Record<string, unknown>[] };
      for (const item of items.data) item['id'] = world.makeId('subscription_item');
      world.add('subscription', { ...sample, id: world.makeId('subscription'), items });
    }
    const pages = () => stripe.requests.filter(({ path }) => path === '/v1/subscriptions');
    stripe.pause = async () => {
      if (pages().length === 8) stripe.faults.failed = 100;
    };
    await assert.rejects(synced.sync(), PlatformError);
    const state = (await listStreams(store.write, synced.shop.id, 'stripe')).find(
      ({ stream }) => stream === 'subscriptions',
    );
    assert.equal(state?.rows, 500);
    stripe.faults.failed = 0;
    stripe.pause = async () => {};
    const asked = pages().length;
    await synced.sync();
    assert.equal(pages()[asked]?.query.get('starting_after'), state?.cursor);
    assert.equal((await statuses(synced.shop.id)).length, 1203);
  });

  test('begins a list anew if what it was interrupted at is gone', async (t) => {
    const { stripe, synced } = await start(t);
    await synced.sync();
    await store.write`
      update platforms.streams set cursor = 'in_gone', whole_at = null
      where shop_id = ${synced.shop.id} and stream = 'invoices'`;
    await assert.rejects(synced.sync(), PlatformError);
    await synced.sync();
    assert.equal(stripe.requests.at(-1)?.query.get('starting_after') ?? null, null);
    const states = await listStreams(store.write, synced.shop.id, 'stripe');
    assert.ok(states.every(({ stream, wholeAt }) => stream === 'events' || wholeAt));
  });

  test('takes one currency of an account, and leaves another to another shop', async (t) => {
    const { stripe, world, clock } = await start(t);
    addCases(world, casesOf('EUR'));
    const warned: object[] = [];
    const log = { ...silentLog, warn: (fields: object) => void warned.push(fields) };
    const dollars = await openSynced(store, stripe, clock, { log: log as typeof silentLog });
    const euros = await openSynced(store, stripe, clock, { currency: 'EUR' });
    await dollars.sync();
    await euros.sync();
    assert.equal((await statuses(dollars.shop.id)).length, 3);
    assert.ok((await statuses(euros.shop.id)).length > 3);
    const ofEuros = world.list('subscription').filter(({ currency }) => currency === 'eur');
    const named = warned.flatMap((each) => ('what' in each ? [each.what] : []));
    assert.deepEqual(named.toSorted(), ofEuros.map(({ id }) => id).toSorted());
  });

  test('refuses a shop with other data, until it may take it over', async (t) => {
    const { synced } = await start(t);
    await importAll(store, synced.shop, [plan()]);
    await assert.rejects(synced.sync(), /already has plans, which no connection keeps up; acct_1/);
    assert.equal((await synced.sync({ takeOver: true })).refused, 0);
  });
});
