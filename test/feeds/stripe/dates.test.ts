import assert from 'node:assert/strict';
import { type TestContext, after, before, test } from 'node:test';
import { FixedClock } from '../../../src/clock.ts';
import { summariseMovements, toMovements } from '../../../src/metrics/movements.ts';
import type { Store } from '../../../src/store/open.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { addCases } from '../../support/stripe/cases.ts';
import { itemsOf } from '../../support/stripe/invoice-lines.ts';
import { document } from '../../support/stripe/schema.ts';
import { startStripe } from '../../support/stripe/stand-in.ts';
import { StripeWorld } from '../../support/stripe/world.ts';
import { casesOf } from '../mapping/stripe/cases.ts';
import { openSynced } from './synced.ts';

const updated = 'customer.subscription.updated';
const day = '2026-11-20';
const at = (time: string) => new Date(`${day}T${time}:00.000Z`);

onOneDatabase('A change at Stripe', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  async function start(t: TestContext, apiVersion = document.info.version) {
    const clock = new FixedClock(at('09:00').toISOString());
    const world = new StripeWorld({ clock, apiVersion });
    const [{ subscription: { id } } = { subscription: { id: '' } }] = addCases(
      world,
      casesOf('USD').slice(0, 1),
    );
    const stripe = await startStripe(world);
    t.after(() => stripe.close());
    const until = (time: string) => clock.advance(at(time).getTime() - clock.now());
    const change = (alter: (object: Record<string, unknown>) => unknown) =>
      world.change('subscription', id, (each) => void alter(each), updated);
    const pause = () =>
      change((each) => (each['pause_collection'] = { behavior: 'void', resumes_at: null }));
    const resume = () => change((each) => (each['pause_collection'] = null));
    const rename = () => change((each) => (each['description'] = 'Other'));
    const synced = await openSynced(store, stripe, clock);
    await synced.sync();
    return { clock, world, id, until, change, pause, resume, rename, synced };
  }
  async function changesOf(shopId: number) {
    const rows = await store.write<{ at: Date; to: string }[]>`
      select at, to_status as to from status_events where shop_id = ${shopId} order by at, position`;
    return rows.map((each) => `${each.at.toISOString().slice(11, 16)} ${each.to}`);
  }

  async function valuesByTime(shopId: number) {
    const rows = await store.write<{ seen: [at: number, amounts?: Record<string, string>][] }[]>`
      select past_values as seen from subscriptions where shop_id = ${shopId}`;
    return rows.flatMap(({ seen }) =>
      seen.flatMap(([time, amounts]) =>
        amounts ? [`${new Date(time).toISOString().slice(11, 16)} ${amounts['']}`] : [],
      ),
    );
  }

  test('is dated when it happened, also hours later, and stays so', async (t) => {
    const { clock, world, until, pause, rename, synced } = await start(t);
    until('10:00');
    const [event] = pause();
    // Changes nothing that is kept.
    until('15:00');
    rename();
    until('18:00');
    await synced.sync();
    assert.deepEqual(await changesOf(synced.shop.id), ['10:00 paused']);
    const lineOf = async (from: string, to: string) => {
      const period = { from: at(from).getTime(), until: at(to).getTime() };
      const found = await summariseMovements(store.write, synced.shop.id, period);
      const { opening, paused } = toMovements(found, 'USD');
      return { opening: opening > 0, paused: paused > 0 };
    };
    assert.deepEqual(await lineOf('09:00', '10:00'), { opening: true, paused: false });
    assert.deepEqual(await lineOf('10:00', '10:01'), { opening: true, paused: true });
    assert.deepEqual(await lineOf('17:00', '18:30'), { opening: false, paused: false });
    // Across the overlap, twice, and by what is read without an event.
    assert.ok(event);
    world.repeatEvent(event);
    clock.advance(60_000);
    await synced.sync();
    for (let days = 0; days < 2; days += 1) {
      clock.advance(24 * 3_600_000);
      assert.equal((await synced.sync()).refused, 0);
      assert.deepEqual(await changesOf(synced.shop.id), ['10:00 paused']);
    }
  });

  test('is dated the same in whatever order its events arrive', async (t) => {
    const { world, until, pause, rename, synced } = await start(t);
    until('10:00');
    world.holdEvents();
    pause();
    until('10:01');
    world.releaseEvents();
    world.holdEvents();
    rename();
    await synced.sync();
    world.releaseEvents();
    until('10:02');
    await synced.sync();
    assert.deepEqual(await changesOf(synced.shop.id), ['10:00 paused']);
  });

  // An account's own version decides how its events look: older ones have the discount itself, not its id.
  for (const [version, ...between] of [
    ['2024-06-20', '13:00 122.5'],
    [document.info.version],
  ] as const) {
    test(`of the value is kept at its time, with others before it is read, by events of version ${version}`, async (t) => {
      const { world, id, until, change, rename, synced } = await start(t, version);
      const discount = String(
        world.add('discount', {
          customer: null,
          start: world.now,
          source: {
            type: 'coupon',
            coupon: world.add('coupon', { percent_off: 50, duration: 'forever' })['id'],
          },
          subscription: id,
        })['id'],
      );
      const buy = (quantity: number) =>
        change((each) => itemsOf(each).forEach((item) => (item['quantity'] = quantity)));
      until('10:00');
      buy(3);
      until('10:30');
      rename();
      until('11:00');
      change((each) => (each['discounts'] = [discount]));
      until('12:00');
      buy(2);
      await synced.sync();
      const expected = ['09:00 49', '10:00 147', '11:00 73.5', '12:00 49'];
      assert.deepEqual(await valuesByTime(synced.shop.id), expected);
      // An id of what has been taken away since says nothing of the time between.
      until('13:00');
      buy(5);
      until('14:00');
      change((each) => (each['discounts'] = []));
      await synced.sync();
      expected.push(...between, '14:00 245');
      assert.deepEqual(await valuesByTime(synced.shop.id), expected);
      await synced.sync({ full: true });
      assert.deepEqual(await valuesByTime(synced.shop.id), expected);
    });
  }

  test('is dated by its webhook, and by the event that comes later', async (t) => {
    const { id, until, pause, resume, synced } = await start(t);
    until('10:00');
    pause();
    until('10:01');
    await synced.follow('subscriptions', id, at('10:00').getTime() / 1000);
    until('10:02');
    await synced.sync();
    until('12:00');
    resume();
    until('16:00');
    await synced.sync();
    // Of a clock that is ahead of the service's.
    until('17:00');
    pause();
    await synced.follow('subscriptions', id, at('17:30').getTime() / 1000);
    assert.deepEqual(await changesOf(synced.shop.id), [
      '10:00 paused',
      '12:00 active',
      '17:00 paused',
    ]);
  });
});
