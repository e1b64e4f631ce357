import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { FixedClock } from '../../clock.ts';
import { LookupRefused } from '../../store/keys/secret-lookups.ts';
import type { KeyRecord } from '../../store/keys/keys.ts';
import { generateKey, hashKey } from './key-format.ts';
import { KeyLeases, leaseDrainMilliseconds } from './key-leases.ts';

const [a, b] = [generateKey(), generateKey()];
const client = { ip: '203.0.113.7' };
const record: KeyRecord = {
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
  const reads: PromiseWithResolvers<KeyRecord | undefined>[] = [];
  const hashes: string[] = [];
  const clients: string[] = [];
  const leases = new KeyLeases(clock, (hash, network) => {
    hashes.push(hash);
    clients.push(network);
    const read = Promise.withResolvers<KeyRecord | undefined>();
    reads.push(read);
    return read.promise;
  });
  return { clock, leases, reads, hashes, clients };
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
  for (const each of pending) await assert.rejects(each, /no database/);
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
  await assert.rejects(slow);
  assert.equal(await leases.find(a, client), record);
  assert.equal(reads.length, 2);
});

test('reads keys in use again before their leases end, together, and lets requests go on meanwhile', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { clock, leases, reads } = start();
  for (const key of [a, b]) void leases.find(key, client);
  for (const read of reads) read.resolve(record);
  clock.advance(749);
  void leases.find(a, client);
  t.mock.timers.tick(1000);
  assert.equal(reads.length, 2, 'too early');

  clock.advance(1);
  for (const key of [a, a, b]) void leases.find(key, client);
  clock.advance(100);
  t.mock.timers.tick(99);
  assert.equal(reads.length, 2);
  t.mock.timers.tick(1);
  assert.equal(reads.length, 4);
  assert.equal(await leases.find(a, client), record);

  const newer = { ...record, tier: 'pro' } as const;
  reads[2]?.resolve(newer);
  reads[3]?.resolve(newer);
  await turn();
  assert.equal(await leases.find(a, client), newer);
  // Counted from before the renewal was sent.
  clock.advance(999.875);
  assert.equal(await leases.find(b, client), newer);
  assert.equal(reads.length, 4);
  clock.advance(0.125);
  void leases.find(b, client);
  assert.equal(reads.length, 5);
});

// Requirements: rest.auth.revoked-at-once.
test('a renewed lease also starts before its read is sent, however late the answer', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { clock, leases, reads } = start();
  void leases.find(a, client);
  reads[0]?.resolve(record);
  clock.advance(750);
  void leases.find(a, client);
  t.mock.timers.tick(100);
  // The key may be revoked any time from now on; this read still returns the old record.
  clock.advance(249);
  reads[1]?.resolve(record);
  await turn();
  clock.advance(750.875);
  assert.equal(await leases.find(a, client), record);
  assert.equal(reads.length, 2);
  clock.advance(0.125);
  void leases.find(a, client);
  assert.equal(reads.length, 3);
});

test('a failed renewal fails no request, and the lease ends as without it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { clock, leases, reads } = start();
  void leases.find(a, client);
  reads[0]?.resolve(record);
  clock.advance(800);
  void leases.find(a, client);
  t.mock.timers.tick(100);
  reads[1]?.reject(new Error('no database'));
  await turn();
  assert.equal(await leases.find(a, client), record);
  assert.equal(reads.length, 2);
  clock.advance(200);
  const again = leases.find(a, client);
  reads[2]?.resolve(record);
  assert.equal(await again, record);
});

// Requirements: rest.auth.revoked-at-once.
test('a late renewal does not replace what was read after it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { clock, leases, reads } = start();
  void leases.find(a, client);
  reads[0]?.resolve(record);
  clock.advance(900);
  void leases.find(a, client);
  t.mock.timers.tick(100);
  clock.advance(100);
  const revoked = { ...record, isRevoked: true };
  const next = leases.find(a, client);
  reads[2]?.resolve(revoked);
  assert.equal(await next, revoked);
  reads[1]?.resolve(record);
  await turn();
  assert.equal(await leases.find(a, client), revoked);
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
