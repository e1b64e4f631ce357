import assert from 'node:assert/strict';
import { type TestContext, after, before, test } from 'node:test';
import { FixedClock } from '../../../src/clock.ts';
import { CredentialsRefused, PlatformError } from '../../../src/platforms/errors.ts';
import { listStreams } from '../../../src/store/feeds/streams.ts';
import type { Store } from '../../../src/store/open.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { startRecharge } from '../../support/recharge/stand-in.ts';
import { chargeOf, subscriptionsOf } from '../../support/recharge/world.ts';
import { importAll, silentLog } from '../../support/world.ts';
import { plan } from '../../rest/records.ts';
import { worldAt } from '../mapping/stripe/cases.ts';
import { openSynced } from './synced.ts';

const hour = 3_600_000;

onOneDatabase('A sync with Recharge', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  async function start(t: TestContext, many = 3) {
    const clock = new FixedClock(worldAt);
    const recharge = await startRecharge(clock);
    t.after(() => recharge.close());
    const [sample = {}] = subscriptionsOf();
    for (let id = 1; id <= many; id += 1) recharge.put('subscriptions', { ...sample, id });
    return { clock, recharge, synced: await openSynced(store, recharge, clock) };
  }
  const statuses = async (shopId: number) => {
    const rows = await store.write<{ status: string }[]>`
      select status from subscriptions where shop_id = ${shopId}`;
    return Object.entries(Object.groupBy(rows, ({ status }) => status)).map(
      ([status, all]) => `${all?.length} ${status}`,
    );
  };

  test('sends two requests if nothing changed, and keeps a gap between them', async (t) => {
    const { recharge, synced } = await start(t);
    assert.equal((await synced.sync()).kind, 'whole');
    const { requests } = recharge;
    requests.length = 0;
    const { kind, written } = await synced.sync();
    assert.deepEqual([kind, written], ['changes', 0]);
    assert.deepEqual(
      requests.map(({ path, query }) => [path, query.get('updated_at_min')]),
      [
        // The first read found no charge.
        ['/subscriptions', '2026-11-10T09:50:00'],
        ['/charges', null],
      ],
    );
    // The clock stands, so that each has to wait for one more gap.
    assert.deepEqual(synced.waits, [500, 1000, 1500]);
  });

  test('goes on if it ended between storing its first records and keeping how far it came', async (t) => {
    const { clock, recharge } = await start(t);
    let isLost = true;
    const write = new Proxy(store.write, {
      apply(sql, self, parts: [TemplateStringsArray, ...unknown[]]) {
        const [texts, , , , , cursor] = parts;
        const isPlace = texts.join('').includes('insert into platforms.streams');
        if (isLost && isPlace && cursor !== null) throw new Error('the server is gone');
        return Reflect.apply(sql, self, parts);
      },
    });
    const synced = await openSynced({ ...store, write }, recharge, clock);
    await assert.rejects(synced.sync(), /the server is gone/);
    assert.deepEqual(await statuses(synced.shop.id), ['3 active']);
    isLost = false;
    // Not refused as what some other source has stored.
    assert.equal((await synced.sync()).kind, 'whole');
    assert.deepEqual(await statuses(synced.shop.id), ['3 active']);
  });

  test('waits while it is told that there were too many requests', async (t) => {
    const { recharge, synced } = await start(t);
    recharge.faults.tooMany = 3;
    await synced.sync();
    assert.deepEqual(await statuses(synced.shop.id), ['3 active']);
    assert.equal(recharge.requests.length, 5);
    recharge.faults.tooMany = 100;
    await assert.rejects(synced.sync(), /Recharge is not available: subscriptions, 429/);
    assert.equal(recharge.requests.length, 13);
  });

  test('asks again if Recharge fails, a few times', async (t) => {
    const { recharge, synced } = await start(t);
    Object.assign(recharge.faults, { failed: 1, cut: 1 });
    await synced.sync();
    assert.deepEqual(await statuses(synced.shop.id), ['3 active']);
    recharge.faults.cut = 100;
    await assert.rejects(synced.sync(), (error) => {
      assert.ok(error instanceof PlatformError && error.kind === 'unavailable');
      return error.message === 'Recharge is not available: subscriptions, no answer.';
    });
  });

  test('says what is wrong with a token, without its text', async (t) => {
    const { clock, recharge } = await start(t);
    const unknown = await openSynced(store, recharge, clock, { token: 'sk_1x1_unknown' });
    await assert.rejects(unknown.sync(), (error) => {
      assert.ok(error instanceof CredentialsRefused);
      return !error.message.includes('sk_');
    });
    const token = recharge.createToken(['read_orders']);
    const restricted = await openSynced(store, recharge, clock, { token });
    await assert.rejects(restricted.sync(), (error) => {
      assert.ok(error instanceof PlatformError && !(error instanceof CredentialsRefused));
      return /read_orders/.test(error.message) && !error.message.includes(token);
    });
  });

  test('cancels what Recharge no longer has, unless that is too much', async (t) => {
    const { clock, recharge, synced } = await start(t, 12);
    await synced.sync();
    recharge.lists.subscriptions.delete(1);
    clock.advance(hour);
    await synced.sync();
    assert.deepEqual(await statuses(synced.shop.id), ['12 active']);
    clock.advance(24 * hour);
    await synced.sync();
    assert.deepEqual((await statuses(synced.shop.id)).toSorted(), ['1 cancelled', '11 active']);
    for (let id = 2; id < 10; id += 1) recharge.lists.subscriptions.delete(id);
    clock.advance(24 * hour);
    await assert.rejects(synced.sync(), /gone from a complete stream, more than a fifth/);
    assert.deepEqual((await statuses(synced.shop.id)).toSorted(), ['1 cancelled', '11 active']);
    await synced.sync({ full: true, takeOver: true });
    assert.deepEqual((await statuses(synced.shop.id)).toSorted(), ['3 active', '9 cancelled']);
  });

  test('takes a list that is not there for a failure, not for an empty one', async (t) => {
    const { clock, recharge, synced } = await start(t, 1);
    await synced.sync();
    clock.advance(24 * hour);
    recharge.faults.listless = 3;
    await assert.rejects(synced.sync(), PlatformError);
    assert.deepEqual(await statuses(synced.shop.id), ['1 active']);
  });

  test('goes on where a first read was interrupted', async (t) => {
    const { recharge, synced } = await start(t, 0);
    const [sample = {}] = subscriptionsOf();
    for (let id = 1; id <= 700; id += 1) {
      const updated_at = new Date(Date.parse('2026-10-01') + id * hour).toISOString().slice(0, 19);
      recharge.put('subscriptions', { ...sample, id, updated_at });
    }
    recharge.pause = async () => {
      if (recharge.requests.length === 2) recharge.faults.failed = 100;
    };
    await assert.rejects(synced.sync(), PlatformError);
    const read = async () =>
      (await listStreams(store.write, synced.shop.id, 'recharge')).find(
        ({ stream }) => stream === 'subscriptions',
      );
    assert.deepEqual([(await read())?.rows, (await read())?.readAt], [500, null]);
    recharge.pause = async () => {};
    recharge.faults.failed = 0;
    recharge.requests.length = 0;
    await synced.sync();
    assert.equal(recharge.requests[0]?.query.get('updated_at_min'), '2026-10-21T19:50:00');
    assert.deepEqual(await statuses(synced.shop.id), ['700 active']);
    assert.equal((await read())?.rows, 701);
  });

  test('takes one currency of a store, and leaves another to another shop', async (t) => {
    const { clock, recharge } = await start(t, 2);
    const [sample = {}] = subscriptionsOf();
    recharge.put('subscriptions', { ...sample, id: 3, presentment_currency: 'EUR' });
    recharge.put('subscriptions', { ...sample, id: 4, presentment_currency: null });
    recharge.put('charges', chargeOf(501, [3], { currency: 'EUR' }));
    const warned: object[] = [];
    const log = { ...silentLog, warn: (fields: object) => void warned.push(fields) };
    const dollars = await openSynced(store, recharge, clock, { log: log as typeof silentLog });
    const euros = await openSynced(store, recharge, clock, { currency: 'EUR' });
    assert.equal((await dollars.sync()).refused, 1);
    assert.equal((await euros.sync()).refused, 3);
    assert.deepEqual(await statuses(dollars.shop.id), ['3 active']);
    assert.deepEqual(await statuses(euros.shop.id), ['1 active']);
    assert.deepEqual(
      warned.flatMap((each) => ('what' in each ? [each.what] : [])),
      ['3'],
    );
    const [paid] = await store.write<{ shop: number }[]>`
      select shop_id as shop from payments where payment_id = 501
        and shop_id in (${dollars.shop.id}, ${euros.shop.id})`;
    assert.equal(paid?.shop, euros.shop.id);
  });

  test('keeps subscriptions of products that have no number, or none', async (t) => {
    const { recharge, synced } = await start(t, 0);
    const [sample = {}] = subscriptionsOf();
    const noVariant = { variant_title: null, external_variant_id: null };
    recharge.put('subscriptions', { ...sample, ...noVariant, id: 5, external_product_id: null });
    recharge.put('subscriptions', {
      ...sample,
      id: 6,
      external_product_id: { ecommerce: 'SKU-1' },
    });
    assert.equal((await synced.sync()).refused, 0);
    const products = await store.write<{ product: number }[]>`
      select product_id as product from subscription_lines
      where shop_id = ${synced.shop.id} order by 1`;
    assert.deepEqual(
      products.map(({ product }) => product),
      [5, 6],
    );
  });

  test('refuses a shop with other data, until it may take it over', async (t) => {
    const { synced } = await start(t);
    await importAll(store, synced.shop, [plan()]);
    await assert.rejects(synced.sync(), /already has plans, which no connection keeps up; beans/);
    assert.equal((await synced.sync({ takeOver: true })).refused, 0);
  });
});
