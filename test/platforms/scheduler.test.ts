import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import type { Store } from '../../src/store/open.ts';
import { onEveryDatabase } from '../support/databases.ts';
import { until } from '../support/until.ts';
import { begin as beginWith, fail, hour, interval, refuse } from './fake.ts';

/** A sync that lasts until it is let go, or its process stops. */
function hanging() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const behaviour = async (signal: AbortSignal) => {
    await Promise.race([promise, once(signal, 'abort')]);
    signal.throwIfAborted();
  };
  return { behaviour, release: resolve };
}

onEveryDatabase('the scheduler of syncs', (open, database) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  const begin = (count: number) => beginWith(store, database, count);

  test('syncs every shop at once, and again when it is due', async () => {
    const { fake, shops } = await begin(6);
    const { sync } = await fake.process();
    await sync();
    assert.deepEqual(fake.synced.toSorted(), shops.toSorted());
    fake.clock.advance(interval - 1);
    await sync();
    assert.equal(fake.synced.length, 6);
    fake.clock.advance(1);
    await sync();
    assert.equal(fake.synced.length, 12);
  });

  test('gives the places of syncs that take long to other shops', async () => {
    const { fake, shops } = await begin(6);
    const hung = shops.slice(0, 4).map((shop) => {
      const { behaviour, release } = hanging();
      fake.behaviours.set(shop, behaviour);
      return release;
    });
    const { sync } = await fake.process();
    const running = sync();
    await until(() => fake.synced.length === 4);
    let waits = 0;
    fake.whenWaiting = () => void (waits += 1);
    await until(() => waits >= 3);
    assert.equal(fake.synced.length, 4);
    fake.clock.advance(5 * 60_000);
    await until(() => fake.synced.length === 6);
    for (const release of hung) release();
    await running;
  });

  test('lists shops again only when all that were due are synced, or after five seconds', async () => {
    const { fake, shops } = await begin(20);
    /** How many syncs had begun when shops were listed. Four that were started may not have. */
    const lists: number[] = [];
    const whileAnyWait = () => lists.filter((count) => count % 20 > 0 && count % 20 < 16);
    fake.whenListed = () => void lists.push(fake.synced.length);
    const { sync } = await fake.process();
    await sync();
    assert.deepEqual(fake.synced.toSorted(), shops.toSorted());
    assert.deepEqual(whileAnyWait(), []);

    for (const shop of shops) fake.behaviours.set(shop, async () => fake.clock.advance(2000));
    fake.clock.advance(interval);
    await sync();
    assert.equal(fake.synced.length, 40);
    assert.ok(whileAnyWait().length > 1);
  });

  test('varies the time to the next sync by a tenth', async () => {
    for (const [random, factor] of [
      [0, 0.9],
      [0.75, 1.05],
    ] as const) {
      const { fake, one } = await begin(1);
      await (await fake.process({ random })).sync();
      const { dueAt } = (await fake.stateOf(one)) ?? {};
      assert.equal(Number(dueAt) - fake.clock.now(), Math.round(interval * factor));
    }
  });

  test('waits longer after each failure, at most an hour, until a sync succeeds', async () => {
    const { fake, one } = await begin(1);
    const { sync, logged } = await fake.process();
    fake.behaviours.set(one, fail);
    const minutes: number[] = [];
    for (let failures = 1; failures <= 7; failures += 1) {
      await sync();
      const state = await fake.stateOf(one);
      assert.ok(state);
      assert.deepEqual([state.failures, state.problem], [failures, 'The platform is down.']);
      const pause = state.dueAt.getTime() - fake.clock.now();
      minutes.push(pause / 60_000);
      fake.clock.advance(pause - 1);
      await sync();
      assert.equal(fake.countOf(one), failures);
      fake.clock.advance(1);
    }
    assert.deepEqual(minutes, [4, 8, 16, 32, 60, 60, 60]);
    const { level, msg, reason } = logged[0] ?? {};
    assert.deepEqual([level, msg, reason], ['error', 'sync failed', 'The platform is down.']);

    fake.behaviours.clear();
    await sync();
    const { dueAt, ...state } = (await fake.stateOf(one)) ?? {};
    assert.equal(Number(dueAt) - fake.clock.now(), interval);
    assert.deepEqual(state, {
      shopId: one,
      failures: 0,
      problem: null,
      reason: null,
      refusedAt: null,
      refusedVersion: null,
      takesOver: false,
      refused: 0,
      refusedRecordsAt: null,
      refusals: '[]',
    });
  });

  test('tries a shop whose credentials are refused again after an hour, and goes on with the others', async () => {
    const { fake, shops, one } = await begin(3);
    const { sync, logged } = await fake.process();
    fake.behaviours.set(one, refuse);
    const since = new Date(fake.clock.now());
    await sync();
    for (let time = interval; time < hour; time += interval) {
      fake.clock.advance(interval);
      await sync();
    }
    assert.deepEqual(
      shops.map((shop) => fake.countOf(shop)),
      [1, 30, 30],
    );
    fake.clock.advance(interval);
    await sync();
    assert.equal(fake.countOf(one), 2);
    const { refusedAt, failures, problem } = (await fake.stateOf(one)) ?? {};
    assert.deepEqual(
      [refusedAt, failures, problem],
      [since, 0, 'The platform does not accept the token.'],
    );
    assert.deepEqual(
      logged.filter(({ shop }) => shop === one).map(({ level, msg }) => `${level} ${msg}`),
      ['warn sync paused', 'warn sync paused'],
    );
  });

  test('tries a shop whose refused credentials were replaced', async () => {
    const { fake, one } = await begin(1);
    const { sync } = await fake.process();
    fake.behaviours.set(one, refuse);
    await sync();
    fake.connect(one, '2');
    // A moment that no person notices.
    fake.clock.advance(5_000);
    await sync();
    assert.equal(fake.countOf(one), 2);
    // These are refused too.
    fake.clock.advance(interval);
    await sync();
    assert.equal(fake.countOf(one), 2);
    fake.behaviours.clear();
    fake.connect(one, '3');
    await sync();
    const { refusedAt, problem } = (await fake.stateOf(one)) ?? {};
    assert.deepEqual([fake.countOf(one), refusedAt, problem], [3, null, null]);
  });

  test('asks the platform nothing for a shop that is paused, and says why', async () => {
    const { fake, one } = await begin(1);
    const { sync, logged } = await fake.process();
    fake.backoff.set(one, 'The app is uninstalled.');
    await sync();
    const { problem, failures } = (await fake.stateOf(one)) ?? {};
    assert.deepEqual([problem, failures, fake.synced], ['The app is uninstalled.', 0, []]);
    assert.deepEqual(
      logged.map(({ msg }) => msg),
      ['sync paused'],
    );
    fake.backoff.clear();
    fake.clock.advance(interval);
    await sync();
    assert.deepEqual(fake.synced, [one]);
  });

  test('is not delayed by shops that hang', async () => {
    const { fake, shops } = await begin(6);
    const { sync } = await fake.process();
    const [first = 0, second = 0, third = 0, ...others] = shops;
    const { behaviour, release } = hanging();
    for (const shop of [first, second, third]) fake.behaviours.set(shop, behaviour);
    const running = sync();
    for (let round = 1; round <= 3; round += 1) {
      await until(() => others.every((shop) => fake.countOf(shop) === round));
      await until(async () => {
        const states = await Promise.all(others.map((shop) => fake.stateOf(shop)));
        return states.every((state) => Number(state?.dueAt) > fake.clock.now());
      });
      fake.clock.advance(interval);
    }
    assert.deepEqual(
      [first, second, third].map((shop) => fake.countOf(shop)),
      [1, 1, 1],
    );
    release();
    await running;
  });

  test('of two processes syncs each shop once', async () => {
    const { fake, shops } = await begin(12);
    const processes = [await fake.process(), await fake.process()];
    await Promise.all(processes.map(({ sync }) => sync()));
    assert.deepEqual(fake.synced.toSorted(), shops.toSorted());
  });

  test('of two processes does what the other has no hands for', async () => {
    const { fake, shops } = await begin(8);
    const { behaviour, release } = hanging();
    const busy = shops.slice(0, 4);
    for (const shop of busy) fake.behaviours.set(shop, behaviour);
    const [one, other] = [await fake.process(), await fake.process()];
    const running = one.sync();
    await until(() => fake.synced.length === 4);
    await other.sync();
    assert.deepEqual(fake.synced.slice(4).toSorted(), shops.slice(4).toSorted());
    release();
    await running;
    assert.equal(fake.synced.length, 8);
    assert.deepEqual(
      other.logged.filter(({ level }) => level !== 'info'),
      [],
    );
  });

  test('names shops that do not exist, and is not held up by them', async () => {
    const { fake, one } = await begin(1);
    const [real] = fake.connected.splice(0);
    for (let missing = 1; missing <= 5; missing += 1) fake.connect(2 ** 48 + missing);
    fake.connected.push(real as NonNullable<typeof real>);
    const { sync, logged } = await fake.process();
    await sync();
    assert.deepEqual(fake.synced, [one]);
    const missing = () => logged.filter(({ reason = '' }) => reason.startsWith('There is no shop'));
    assert.equal(missing().length, 5);
    fake.clock.advance(interval - 1);
    await sync();
    assert.equal(missing().length, 5);
    fake.clock.advance(1);
    await sync();
    assert.equal(missing().length, 10);
  });

  test('stops at once, starts nothing more, and leaves what it was at due', async () => {
    const { fake, shops } = await begin(6);
    const { behaviour } = hanging();
    for (const shop of shops) fake.behaviours.set(shop, behaviour);
    const { sync, stopping, logged } = await fake.process();
    const running = sync();
    await until(() => fake.synced.length === 4);
    const reason = new Error('Stop.');
    stopping.abort(reason);
    await assert.rejects(running, reason);
    assert.equal(fake.synced.length, 4);
    for (const shop of shops) assert.equal(await fake.stateOf(shop), undefined);
    assert.deepEqual(logged, []);

    // Also while it looks for more.
    const next = await fake.process();
    fake.whenListed = () => next.stopping.abort(reason);
    await assert.rejects(next.sync(), reason);
    assert.equal(fake.synced.length, 4);
    fake.whenListed = () => {};

    // Their locks are free.
    fake.behaviours.clear();
    await (await fake.process()).sync();
    assert.equal(fake.synced.length, 10);
  });
});
