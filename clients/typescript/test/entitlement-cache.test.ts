import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EntitlementCache } from '../src/entitlement-cache.ts';
import { AuthenticationError, RateLimitError, UnavailableError } from '../src/errors.ts';
import type { EntitlementEntry } from '../src/types.ts';
import { entry } from './fake-service.ts';

type Loaded = readonly EntitlementEntry[] | Error;

/** A cache whose service answers as `next` says, at the time `now` in seconds. */
function open(options: ConstructorParameters<typeof EntitlementCache>[1] = {}) {
  const world = { now: 1000, next: [entry] as Loaded, loads: 0 };
  const cache = new EntitlementCache(
    async () => {
      world.loads += 1;
      if (world.next instanceof Error) throw world.next;
      return world.next;
    },
    options,
    () => world.now * 1000,
  );
  const isEntitled = async (id = 1) => (await cache.entitlingEntries(id)).length > 0;
  return { world, cache, isEntitled };
}

const at = (seconds: number) => new Date(seconds * 1000).toISOString();
const down = new UnavailableError('down');

test('keeps an answer for a minute, and a refusal for five seconds', async () => {
  const { world, isEntitled } = open();
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

test('ends with a paid period, even within the minute', async () => {
  const { world, isEntitled } = open();
  world.next = [{ ...entry, status: 'cancelled', paidThroughAt: at(1010) }];
  assert.equal(await isEntitled(), true);
  world.now = 1009.9;
  assert.deepEqual([await isEntitled(), world.loads], [true, 1]);
  world.next = [];
  world.now = 1010;
  assert.deepEqual([await isEntitled(), world.loads], [false, 2]);
});

test('asks once for all who wait for one customer', async () => {
  const { world, isEntitled } = open();
  await Promise.all(Array.from({ length: 50 }, () => isEntitled()));
  assert.equal(world.loads, 1);
  await Promise.all([2, 3, 2, 3].map((id) => isEntitled(id)));
  assert.equal(world.loads, 3);
});

test('lets an answer count until a paid period ends while the service is away, then throws', async () => {
  const { world, isEntitled } = open();
  world.next = [{ ...entry, paidThroughAt: at(2000) }];
  assert.equal(await isEntitled(), true);
  world.next = down;
  world.now = 1999;
  assert.equal(await isEntitled(), true);
  world.next = new RateLimitError('slow down');
  assert.equal(await isEntitled(), true);
  world.now = 2000;
  await assert.rejects(isEntitled(), RateLimitError);
});

test('lets any answer count for the grace, if there is one', async () => {
  const { world, isEntitled } = open({ graceSeconds: 300 });
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

test('throws if there never was an answer, and if the key is refused', async () => {
  const { world, isEntitled } = open({ graceSeconds: 300 });
  world.next = down;
  await assert.rejects(isEntitled(), UnavailableError);
  world.next = [{ ...entry, paidThroughAt: at(9000) }];
  assert.equal(await isEntitled(), true);
  world.next = new AuthenticationError('Unauthorized');
  world.now += 60;
  await assert.rejects(isEntitled(), AuthenticationError);
});

test('forgets the customers who were not asked about for the longest time', async () => {
  const { world, isEntitled } = open({ maxCustomers: 2 });
  for (const id of [1, 2, 1, 3, 1]) await isEntitled(id);
  assert.equal(world.loads, 3);
  await isEntitled(2);
  assert.equal(world.loads, 4);
});

test('does not keep an answer that was under way when it was told to forget', async () => {
  const { world, cache, isEntitled } = open();
  world.next = [];
  const early = isEntitled();
  cache.forget(1);
  world.next = [entry];
  assert.equal(await isEntitled(), true);
  await early;
  assert.equal(await isEntitled(), true);
});
