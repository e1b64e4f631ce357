import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { EntitlementCache } from '../src/entitlement-cache.ts';
import { AuthenticationError, RateLimitError, UnavailableError } from '../src/errors.ts';
import type { EntitlementEntry } from '../src/types.ts';
import { entry } from './fake-service.ts';

type Loaded = readonly EntitlementEntry[] | Error;

/** A cache whose service answers as `next` says, at the time `now` in seconds. */
function open(t: TestContext, options: ConstructorParameters<typeof EntitlementCache>[1] = {}) {
  const world = { now: 1000, next: [entry] as Loaded, loads: 0, retried: [] as boolean[] };
  t.mock.method(Date, 'now', () => world.now * 1000);
  const cache = new EntitlementCache(async (_id, { retries }) => {
    world.loads += 1;
    world.retried.push(retries);
    const askedAt = Date.now();
    if (world.next instanceof Error) throw world.next;
    return { entries: world.next, askedAt };
  }, options);
  const isEntitled = (id = 1, planIds?: readonly number[]) =>
    cache.isEntitled(id, planIds, unlimited);
  return { world, cache, isEntitled };
}

const unlimited = { endsAt: Infinity };
const at = (seconds: number) => new Date(seconds * 1000).toISOString();
const down = new UnavailableError('down');

test('keeps an answer for a minute, and a refusal for five seconds', async (t) => {
  const { world, isEntitled } = open(t);
  assert.equal(await isEntitled(), true);
  world.next = [];
  world.now += 59.9;
  assert.deepEqual([await isEntitled(), world.loads], [true, 1]);
  world.now += 0.1;
  assert.deepEqual([await isEntitled(), world.loads], [false, 2]);
  world.next = [entry];
  world.now += 4.9;
  assert.deepEqual([await isEntitled(), world.loads], [false, 2]);
  world.now += 0.1;
  assert.deepEqual([await isEntitled(), world.loads], [true, 3]);
});

test('ends with a paid period, even within the minute', async (t) => {
  const { world, isEntitled } = open(t);
  world.next = [{ ...entry, status: 'cancelled', paidThroughAt: at(1010) }];
  assert.equal(await isEntitled(), true);
  world.now = 1009.9;
  assert.deepEqual([await isEntitled(), world.loads], [true, 1]);
  world.next = [];
  world.now = 1010;
  assert.deepEqual([await isEntitled(), world.loads], [false, 2]);
});

test('asks once for all who wait for one customer', async (t) => {
  const { world, isEntitled } = open(t);
  await Promise.all(Array.from({ length: 50 }, () => isEntitled()));
  assert.equal(world.loads, 1);
  await Promise.all([2, 3, 2, 3].map((id) => isEntitled(id)));
  assert.equal(world.loads, 3);
});

test('lets an answer hold until a paid period ends while the service is away, then throws', async (t) => {
  const { world, isEntitled } = open(t, { graceSeconds: 0 });
  world.next = [{ ...entry, paidThroughAt: at(2000) }];
  assert.equal(await isEntitled(), true);
  world.next = down;
  world.now = 1999;
  assert.equal(await isEntitled(), true);
  world.next = new RateLimitError('slow down');
  assert.equal(await isEntitled(), true);
  world.now = 2000;
  await assert.rejects(isEntitled(), RateLimitError);
  // Retries are for callers whom nothing else can be told.
  assert.deepEqual(world.retried, [true, false, false, true]);
});

test('never refuses a plan because of what holds for another one', async (t) => {
  const { world, isEntitled } = open(t, { graceSeconds: 0 });
  const other = { ...entry, planId: 15, paidThroughAt: at(2000) };
  world.next = [entry, other];
  assert.deepEqual([await isEntitled(1, [12]), await isEntitled(1, [15])], [true, true]);
  world.next = down;
  world.now += 60;
  await assert.rejects(isEntitled(1, [12]), UnavailableError);
  assert.equal(await isEntitled(1, [15]), true);
});

test('keeps a refusal of a plan for five seconds, though another plan entitles', async (t) => {
  const { world, isEntitled } = open(t);
  assert.equal(await isEntitled(1, [15]), false);
  world.next = [{ ...entry, planId: 15 }];
  world.now += 4.9;
  assert.equal(await isEntitled(1, [15]), false);
  world.now += 0.1;
  assert.equal(await isEntitled(1, [15]), true);
});

test('believes the service about a status that it does not know', async (t) => {
  const { world, isEntitled } = open(t);
  world.next = [{ ...entry, status: 'trialing', paidThroughAt: null }];
  assert.equal(await isEntitled(), true);
  // Its clock is ahead of this one, or behind.
  world.next = [{ ...entry, status: 'cancelled', paidThroughAt: at(900) }];
  world.now += 60;
  assert.equal(await isEntitled(), true);
});

test('asks anew if the request that another caller waits for was sent too long ago', async (t) => {
  const { world } = open(t);
  const slow = Promise.withResolvers<void>();
  const late = new EntitlementCache(async () => {
    world.loads += 1;
    const askedAt = Date.now();
    if (world.loads === 1) await slow.promise;
    return { entries: world.loads === 1 ? [] : [entry], askedAt };
  });
  const early = late.isEntitled(1, undefined, unlimited);
  world.now += 4.9;
  const within = late.isEntitled(1, undefined, unlimited);
  world.now += 0.1;
  const beyond = late.isEntitled(1, undefined, unlimited);
  slow.resolve();
  assert.deepEqual(await Promise.all([early, within, beyond]), [false, false, true]);
  assert.equal(world.loads, 2);
});

test('lets any answer hold for an hour while the service is away', async (t) => {
  const { world, isEntitled } = open(t);
  world.next = [{ ...entry, paidThroughAt: null }];
  assert.equal(await isEntitled(), true);
  world.next = down;
  world.now += 3599;
  assert.equal(await isEntitled(), true);
  world.now += 1;
  await assert.rejects(isEntitled(), UnavailableError);
});

test('lets any answer hold for the grace that is chosen', async (t) => {
  const { world, isEntitled } = open(t, { graceSeconds: 300 });
  assert.equal(await isEntitled(), true);
  world.next = down;
  world.now += 299;
  assert.equal(await isEntitled(), true);
  world.now += 1;
  await assert.rejects(isEntitled(), UnavailableError);
  world.next = [];
  assert.equal(await isEntitled(), false);
  world.next = down;
  world.now += 299;
  assert.equal(await isEntitled(), false);
});

test('throws if there never was an answer, and if the key is refused', async (t) => {
  const { world, isEntitled } = open(t, { graceSeconds: 300 });
  world.next = down;
  await assert.rejects(isEntitled(), UnavailableError);
  world.next = [{ ...entry, paidThroughAt: at(9000) }];
  assert.equal(await isEntitled(), true);
  world.next = new AuthenticationError('Unauthorized');
  world.now += 60;
  await assert.rejects(isEntitled(), AuthenticationError);
});

test('forgets the least recently used customers', async (t) => {
  const { world, isEntitled } = open(t, { maxCustomers: 2 });
  for (const id of [1, 2, 1, 3, 1]) await isEntitled(id);
  assert.equal(world.loads, 3);
  await isEntitled(2);
  assert.equal(world.loads, 4);
});

test('does not keep an answer that was under way when it was told to forget', async (t) => {
  const { world, cache, isEntitled } = open(t);
  world.next = [];
  const early = isEntitled();
  cache.forget(1);
  world.next = [entry];
  assert.equal(await isEntitled(), true);
  await early;
  assert.equal(await isEntitled(), true);
});
