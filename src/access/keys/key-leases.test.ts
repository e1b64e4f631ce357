import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedClock } from '../../clock.ts';
import { LookupRefused } from '../../store/keys/secret-lookups.ts';
import type { FoundKey } from '../../store/keys/keys.ts';
import { generateKey, hashKey } from './key-format.ts';
import { KeyLeases, leaseDrainMilliseconds } from './key-leases.ts';

const [a, b] = [generateKey(), generateKey()];
const client = { ip: '203.0.113.7' };
const record: FoundKey = {
  shopId: 1,
  keyId: 'key_1',
  scopes: ['read:plans'],
  tier: 'growth',
  currency: 'USD',
  expiresAt: null,
  isRevoked: false,
  networks: [],
};

/** Leases whose reads are answered by the test. */
function start() {
  const clock = new FixedClock(0);
  const reads: PromiseWithResolvers<FoundKey | undefined>[] = [];
  const hashes: string[] = [];
  const clients: string[] = [];
  const generations: PromiseWithResolvers<string | null>[] = [];
  const leases = new KeyLeases(
    clock,
    (hash, network) => {
      hashes.push(hash);
      clients.push(network);
      const read = Promise.withResolvers<FoundKey | undefined>();
      reads.push(read);
      return read.promise;
    },
    () => {
      const read = Promise.withResolvers<string | null>();
      generations.push(read);
      return read.promise;
    },
  );
  return { clock, leases, reads, generations, hashes, clients };
}

test('trusts a record for just under a second', async () => {
  const { clock, leases, reads } = start();
  const first = leases.find(a, client);
  reads[0]?.resolve(record);
  assert.equal(await first, record);
  clock.advance(999.875);
  assert.equal(await leases.find(a, client), record);
  assert.equal(reads.length, 1);
  clock.advance(0.125);
  void leases.find(a, client);
  assert.equal(reads.length, 2);
});

test('a lease starts before its read is sent, however late the answer', async () => {
  const { clock, leases, reads } = start();
  const first = leases.find(a, client);
  clock.advance(999);
  reads[0]?.resolve(record);
  assert.equal(await first, record);
  clock.advance(1);
  void leases.find(a, client);
  assert.equal(reads.length, 2);
});

// Requirements: rest.auth.revoked-at-once.
test('a record read before a revocation is no longer used when the revocation is acknowledged', async () => {
  const { clock, leases, reads } = start();
  const begun = leases.find(a, client);
  // The key is revoked here; the read that started earlier still returns the old record.
  clock.advance(500);
  const waiting = leases.find(a, client);
  reads[0]?.resolve(record);
  assert.deepEqual(await Promise.all([begun, waiting]), [record, record]);

  clock.advance(leaseDrainMilliseconds);
  const after = leases.find(a, client);
  reads[1]?.resolve(undefined);
  assert.equal(await after, undefined);
});

test('a revocation waits longer than any lease', () => {
  assert.equal(leaseDrainMilliseconds, 1100);
});

test('concurrent requests share one read per key', async () => {
  const { leases, reads } = start();
  const pending = [leases.find(a, client), leases.find(a, client), leases.find(b, client)];
  assert.equal(reads.length, 2);
  reads[0]?.resolve(record);
  reads[1]?.resolve(undefined);
  assert.deepEqual(await Promise.all(pending), [record, record, undefined]);
});

test('remembers unknown keys for as long as known ones', async () => {
  const { clock, leases, reads } = start();
  const first = leases.find(a, client);
  reads[0]?.resolve(undefined);
  await first;
  clock.advance(999);
  assert.equal(await leases.find(a, client), undefined);
  assert.equal(reads.length, 1);
});

test('a failed read fails the requests that share it, and the next request retries', async () => {
  const { leases, reads } = start();
  const pending = [leases.find(a, client), leases.find(a, client)];
  reads[0]?.reject(new Error('no database'));
  for (const each of pending) await assert.rejects(async () => each, /no database/);
  assert.equal(leases.size, 0);

  const again = leases.find(a, client);
  reads[1]?.resolve(record);
  assert.equal(await again, record);
});

test('a refused look-up counts as an unknown key and is not remembered', async () => {
  const { leases, reads, clients } = start();
  const pending = leases.find(a, { ip: '2001:db8:1:2::7' });
  reads[0]?.reject(new LookupRefused());
  assert.equal(await pending, undefined);
  assert.equal(leases.size, 0);
  const again = leases.find(a, client);
  reads[1]?.resolve(record);
  assert.equal(await again, record);
  assert.deepEqual(clients, ['2001:db8:1:2', '203.0.113.7']);
});

test('a failed read does not remove a newer lease', async () => {
  const { clock, leases, reads } = start();
  const slow = leases.find(a, client);
  clock.advance(1000);
  const next = leases.find(a, client);
  reads[1]?.resolve(record);
  assert.equal(await next, record);
  reads[0]?.reject(new Error('no database'));
  await assert.rejects(async () => slow);
  assert.equal(await leases.find(a, client), record);
  assert.equal(reads.length, 2);
});

/** One key that has been looked up. */
async function startWith(generation: string) {
  const started = start();
  const first = started.leases.find(a, client);
  started.reads[0]?.resolve({ ...record, generation });
  await first;
  return started;
}

test('trusts what it has read as long as no key changes, with one read for all keys', async () => {
  const { clock, leases, reads, generations } = start();
  for (const key of [a, b]) void leases.find(key, client);
  for (const read of reads) read.resolve({ ...record, generation: 'one' });
  await leases.find(b, client);
  for (let second = 0; second < 5; second += 1) {
    clock.advance(1000);
    const found = [a, a, b].map((key) => leases.find(key, client));
    assert.equal(generations.length, second + 1);
    generations[second]?.resolve('one');
    for (const each of await Promise.all(found)) assert.equal(each?.shopId, 1);
  }
  assert.equal(reads.length, 2);
});

// Requirements: rest.auth.revoked-at-once.
test('looks a key up again once any key has changed', async () => {
  const { clock, leases, reads, generations } = await startWith('one');
  clock.advance(1000);
  const found = leases.find(a, client);
  generations[0]?.resolve('two');
  const revoked = { ...record, isRevoked: true, generation: 'two' };
  await new Promise(setImmediate);
  assert.equal(leases.remembered, 0);
  reads[1]?.resolve(revoked);
  assert.equal(await found, revoked);
  clock.advance(749);
  assert.equal(await leases.find(a, client), revoked);
  assert.deepEqual([reads.length, generations.length], [2, 1]);
});

test('a lease of the generation starts before its read is sent, however late the answer', async () => {
  const { clock, leases, generations } = await startWith('one');
  clock.advance(1000);
  const found = leases.find(a, client);
  clock.advance(999);
  generations[0]?.resolve('one');
  assert.equal((await found)?.shopId, 1);
  assert.equal((await leases.find(a, client))?.shopId, 1);
  clock.advance(1);
  void leases.find(a, client);
  // In the last quarter of a second it was read again, by that request.
  assert.equal(generations.length, 2);
  clock.advance(998);
  generations[1]?.resolve('one');
  await new Promise(setImmediate);
  clock.advance(1);
  void leases.find(a, client);
  assert.equal(generations.length, 3);
});

test('reads the generation in the last quarter of its lease, and lets requests go on meanwhile', async () => {
  const { clock, leases, generations } = await startWith('one');
  clock.advance(749);
  await leases.find(a, client);
  assert.equal(generations.length, 0);
  clock.advance(1);
  for (let each = 0; each < 3; each += 1) await leases.find(a, client);
  assert.equal(generations.length, 1);
  generations[0]?.reject(new Error('no database'));
  await new Promise(setImmediate);
  await leases.find(a, client);
  assert.equal(generations.length, 2);
  clock.advance(250);
  generations[1]?.reject(new Error('no database'));
  await assert.rejects(async () => leases.find(a, client), /no database/);
});

// Requirements: rest.auth.revoked-at-once.
test('looks a key up again once the look-up of another one shows that keys have changed', async () => {
  const { clock, leases, reads } = await startWith('one');
  clock.advance(500);
  const other = leases.find(b, client);
  reads[1]?.resolve({ ...record, generation: 'two' });
  await other;
  clock.advance(500);
  void leases.find(a, client);
  assert.equal(reads.length, 3);
});

// Requirements: rest.auth.revoked-at-once.
test('an older generation does not replace a newer one that came with a key', async () => {
  const { clock, leases, reads, generations } = await startWith('one');
  clock.advance(800);
  await leases.find(a, client);
  clock.advance(50);
  const other = leases.find(b, client);
  reads[1]?.resolve({ ...record, generation: 'two' });
  await other;
  generations[0]?.resolve('one');
  await new Promise(setImmediate);
  clock.advance(250);
  void leases.find(a, client);
  assert.deepEqual([reads.length, generations.length], [3, 1]);
});

// Requirements: rest.auth.revoked-at-once.
test('a late answer with an older generation does not count', async () => {
  const { clock, leases, reads, generations } = await startWith('one');
  clock.advance(900);
  void leases.find(a, client);
  clock.advance(1000);
  const next = leases.find(a, client);
  generations[1]?.resolve('two');
  await new Promise(setImmediate);
  generations[0]?.resolve('one');
  const revoked = { ...record, isRevoked: true, generation: 'two' };
  reads[1]?.resolve(revoked);
  assert.equal(await next, revoked);
  assert.equal(await leases.find(a, client), revoked);
});

// Requirements: rest.auth.revoked-at-once.
test('a record that was read before keys changed is not trusted after its lease, however late it comes', async () => {
  const { clock, leases, reads } = start();
  const late = leases.find(a, client);
  clock.advance(500);
  const other = leases.find(b, client);
  reads[1]?.resolve({ ...record, generation: 'two' });
  await other;
  reads[0]?.resolve({ ...record, generation: 'one' });
  await late;
  clock.advance(500);
  void leases.find(a, client);
  assert.equal(reads.length, 3);
});

test('forgets records after some minutes, and those above its limit', async () => {
  const { clock, leases, reads } = await startWith('one');
  const look = async () => {
    const found = leases.find(generateKey(), client);
    reads.at(-1)?.resolve({ ...record, generation: 'one' });
    await found;
  };
  assert.equal(leases.remembered, 1);
  for (const remembered of [2, 2]) {
    clock.advance(60_000);
    await look();
    assert.equal(leases.remembered, remembered);
  }
  for (let each = 0; each < 60_000; each += 1) await look();
  assert.ok(leases.remembered <= 50_000);
});

test('drops expired leases', () => {
  const { clock, leases } = start();
  for (let each = 0; each < 1000; each += 1) void leases.find(generateKey(), client);
  clock.advance(600);
  for (let each = 0; each < 10; each += 1) void leases.find(generateKey(), client);
  assert.equal(leases.size, 1010);
  clock.advance(400);
  void leases.find(generateKey(), client);
  assert.equal(leases.size, 11);
});

test('looks up keys by hash, and malformed keys not at all', async () => {
  const { leases, reads, hashes } = start();
  void leases.find(a, client);
  assert.deepEqual(hashes, [hashKey(a)]);
  assert.equal(await leases.find(`${a.slice(0, -1)}!`, client), undefined);
  assert.equal(reads.length, 1);
  assert.equal(leases.size, 1);
});
