import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedClock } from '../../clock.ts';
import { LookupRefused } from '../../store/keys/key-lookups.ts';
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
  lastUsedAt: 0,
  expiresAt: null,
};

/** Leases over reads that are answered when the test says so. */
function begin() {
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

test('what was read is trusted for a second, and not at its end', async () => {
  const { clock, leases, reads } = begin();
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

test('the second begins before the read is sent, however late its answer', async () => {
  const { clock, leases, reads } = begin();
  const first = leases.find(a, client);
  clock.advance(999);
  reads[0]?.resolve(record);
  assert.equal(await first, record);
  clock.advance(1);
  void leases.find(a, client);
  assert.equal(reads.length, 2);
});

test('[rest.auth.revoked-at-once] a read from before a revocation is gone when it is acknowledged', async () => {
  const { clock, leases, reads } = begin();
  const begun = leases.find(a, client);
  // Here the key is revoked; the read that had begun still sees it as it was.
  clock.advance(500);
  const waiting = leases.find(a, client);
  reads[0]?.resolve(record);
  assert.deepEqual(await Promise.all([begun, waiting]), [record, record]);

  clock.advance(leaseDrainMilliseconds);
  const after = leases.find(a, client);
  reads[1]?.resolve(undefined);
  assert.equal(await after, undefined);
});

test('a revocation waits longer than any lease can run', () => {
  assert.equal(leaseDrainMilliseconds, 1100);
});

test('those who ask at the same time share one read, each key its own', async () => {
  const { leases, reads } = begin();
  const asked = [leases.find(a, client), leases.find(a, client), leases.find(b, client)];
  assert.equal(reads.length, 2);
  reads[0]?.resolve(record);
  reads[1]?.resolve(undefined);
  assert.deepEqual(await Promise.all(asked), [record, record, undefined]);
});

test('that nobody has a key is remembered as long as that somebody has it', async () => {
  const { clock, leases, reads } = begin();
  const first = leases.find(a, client);
  reads[0]?.resolve(undefined);
  await first;
  clock.advance(999);
  assert.equal(await leases.find(a, client), undefined);
  assert.equal(reads.length, 1);
});

test('a read that fails is not kept: who shares it fails, who comes after asks again', async () => {
  const { leases, reads } = begin();
  const asked = [leases.find(a, client), leases.find(a, client)];
  reads[0]?.reject(new Error('no database'));
  for (const each of asked) await assert.rejects(each, /no database/);
  assert.equal(leases.size, 0);

  const again = leases.find(a, client);
  reads[1]?.resolve(record);
  assert.equal(await again, record);
});

test('a key that was not looked up is answered as unknown, and nothing of that is kept', async () => {
  const { leases, reads, clients } = begin();
  const asked = leases.find(a, { ip: '2001:db8:1:2::7' });
  reads[0]?.reject(new LookupRefused());
  assert.equal(await asked, undefined);
  assert.equal(leases.size, 0);
  const again = leases.find(a, client);
  reads[1]?.resolve(record);
  assert.equal(await again, record);
  assert.deepEqual(clients, ['2001:db8:1:2', '203.0.113.7']);
});

test('a failure does not take away the lease that came after it', async () => {
  const { clock, leases, reads } = begin();
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

test('leases that have ended are dropped', () => {
  const { clock, leases } = begin();
  for (let each = 0; each < 1000; each += 1) void leases.find(generateKey(), client);
  clock.advance(600);
  for (let each = 0; each < 10; each += 1) void leases.find(generateKey(), client);
  assert.equal(leases.size, 1010);
  clock.advance(400);
  void leases.find(generateKey(), client);
  assert.equal(leases.size, 11);
});

test('a key is looked up by its hash, and one that is malformed not at all', async () => {
  const { leases, reads, hashes } = begin();
  void leases.find(a, client);
  assert.deepEqual(hashes, [hashKey(a)]);
  assert.equal(await leases.find(`${a.slice(0, -1)}!`, client), undefined);
  assert.equal(reads.length, 1);
  assert.equal(leases.size, 1);
});
