import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FixedClock } from '../clock.ts';
import type { KeyRecord } from '../store/keys/keys.ts';
import { type Admission, Gate } from './gate.ts';
import { generateKey, hashKey } from './keys/key-format.ts';
import { KeyLeases } from './keys/key-leases.ts';
import { MemoryRateLimiter } from './limiter/rolling-memory-limiter.ts';
import type { Tier } from '../vocabulary.ts';

const client = { ip: '203.0.113.7' };

/** A gate and one key of a shop with the given tier, bound to networks or not. */
function start(tier: Tier = 'growth', networks: readonly string[] = []) {
  const clock = new FixedClock('2026-11-20T12:00:00.000Z');
  const key = generateKey();
  const caller: KeyRecord = {
    shopId: 1,
    keyId: 'key_1',
    scopes: ['read:plans'],
    tier,
    currency: 'USD',
    expiresAt: null,
    isRevoked: false,
    networks,
  };
  const lookUps: string[] = [];
  const gate = new Gate({
    clock,
    leases: new KeyLeases(
      clock,
      async (hash) => {
        lookUps.push(hash);
        return hash === hashKey(key) ? caller : undefined;
      },
      async () => null,
    ),
    limiter: new MemoryRateLimiter(clock),
  });
  const admit = () => gate.admit(`Bearer ${key}`, client);
  return { clock, key, caller, gate, admit, lookUps };
}

function refusalOf(admission: Admission): string | undefined {
  return 'refusal' in admission
    ? `${admission.refusal.kind}: ${admission.refusal.message}`
    : undefined;
}

// Requirements: rest.auth.bearer.
describe('the Authorization header', () => {
  const { key, gate } = start();
  const headers: [string | undefined, boolean][] = [
    [`Bearer ${key}`, true],
    [`bearer ${key}`, true],
    [`BEARER ${key}`, true],
    [`Bearer    ${key}`, true],
    [undefined, false],
    ['', false],
    ['Bearer', false],
    ['Bearer ', false],
    [key, false],
    [`Bearer${key}`, false],
    [`Bearer\t${key}`, false],
    [`Bearer: ${key}`, false],
    [` Bearer ${key}`, false],
    [`Bearer ${key} `, false],
    [`Bearer ${key} ${key}`, false],
    [`Bearer ${key},${key}`, false],
    [`Bearer ${key}, Bearer ${key}`, false],
    [`Bearer "${key}"`, false],
    [`Bearer <${key}>`, false],
    [`Basic ${key}`, false],
    [`Token ${key}`, false],
    [`Bearer ${key.toLowerCase()}`, false],
  ];
  for (const [header, isAdmitted] of headers) {
    const shown = header?.replaceAll(key, 'KEY').replaceAll(key.toLowerCase(), 'key');
    test(`${JSON.stringify(shown) ?? 'none'} is ${isAdmitted ? 'accepted' : 'rejected'}`, async () => {
      const refusal = isAdmitted ? undefined : 'unauthenticated: Unauthorized';
      assert.equal(refusalOf(await gate.admit(header, client)), refusal);
    });
  }
});

// Requirements: rest.auth.same-401.
test('answers an unknown key like an unreadable header', async () => {
  const { gate } = start();
  const unknown = await gate.admit(`Bearer ${generateKey()}`, client);
  assert.deepEqual(unknown, await gate.admit(undefined, client));
  assert.equal(refusalOf(unknown), 'unauthenticated: Unauthorized');
});

// Requirements: rest.auth.same-401.
test('refuses a revoked and an expired key like an unknown one, but says whose key it is', async () => {
  const { gate, caller, clock } = start();
  const unknown = await gate.admit(`Bearer ${generateKey()}`, client);
  const revoked = { ...caller, isRevoked: true };
  assert.deepEqual(await gate.judge(revoked), { ...unknown, caller: revoked });
  const expiring = { ...caller, expiresAt: clock.now() + 1 };
  assert.equal(refusalOf(await gate.judge(expiring)), undefined);
  clock.advance(1);
  assert.deepEqual(await gate.judge(expiring), { ...unknown, caller: expiring });
});

// Requirements: rest.auth.same-401.
test('refuses a key from another network like an unknown one, but says whose key it is', async () => {
  const { gate, key, caller } = start('growth', ['203.0.113.0/24', '2001:db8:1::/48']);
  const unknown = await gate.admit(`Bearer ${generateKey()}`, client);
  const from = (ip: string | undefined) => gate.admit(`Bearer ${key}`, { ip });
  for (const ip of ['203.0.113.7', '::ffff:203.0.113.7', '203.0.113.7:4711', '2001:db8:1::7']) {
    assert.equal(refusalOf(await from(ip)), undefined, ip);
  }
  for (const ip of ['203.0.114.7', '2001:db8:2::7', '::1', 'unknown', '', undefined]) {
    assert.deepEqual(await from(ip), { ...unknown, caller });
  }
  // On the page where owners try keys.
  assert.equal(refusalOf(await gate.judge(caller)), undefined);
});

for (const [networks, times] of [
  [[], 0],
  [['203.0.113.0/24'], 1],
] as const) {
  test(`asks ${times} times for the address of a client if a key has ${networks.length} networks`, async () => {
    const { gate, key, admit } = start('growth', networks);
    // Looks the key up, for which it needs the address.
    assert.equal(refusalOf(await admit()), undefined);
    let asked = 0;
    const counting = {
      get ip() {
        asked += 1;
        return client.ip;
      },
    };
    assert.equal(refusalOf(await gate.admit(`Bearer ${key}`, counting)), undefined);
    assert.equal(asked, times);
  });
}

test('rejects a mistyped key without a look-up', async () => {
  const { gate, key, lookUps } = start();
  const last = key.endsWith('A') ? 'B' : 'A';
  await gate.admit(`Bearer ${key.slice(0, -1)}${last}`, client);
  assert.deepEqual(lookUps, []);
});

for (const tier of ['free', 'starter'] as const) {
  // Requirements: rest.auth.tier-required.
  test(`rejects ${tier} without rate limiting, but says whose key it is`, async () => {
    const { admit, caller } = start(tier);
    for (let each = 0; each < 100; each += 1) {
      const admission = await admit();
      assert.equal(
        refusalOf(admission),
        'tierRequired: Developer API access requires the Growth plan or higher.',
      );
      assert.deepEqual([admission.rate, admission.caller], [undefined, caller]);
    }
  });
}

// Requirements: rest.limits.growth, rest.errors.429.
test('growth: 60 requests a minute, then Retry-After', async () => {
  const { admit, caller, clock } = start('growth');
  const rate = { admitted: true, limit: 60, remaining: 59, resetSeconds: 60 };
  assert.deepEqual(await admit(), { caller, rate });
  for (let each = 1; each < 60; each += 1) assert.equal(refusalOf(await admit()), undefined);

  clock.advance(17_500);
  const refused = await admit();
  assert.equal(refusalOf(refused), 'rateLimited: Rate limit exceeded. Retry after 43 seconds.');
  assert.deepEqual(refused.rate, { admitted: false, limit: 60, remaining: 0, resetSeconds: 43 });
  clock.advance(42_500);
  assert.equal(refusalOf(await admit()), undefined);
});

// Requirements: rest.limits.pro.
test('pro: 300 requests a minute', async () => {
  const { admit } = start('pro');
  for (let each = 0; each < 300; each += 1) assert.equal(refusalOf(await admit()), undefined);
  assert.match(refusalOf(await admit()) ?? '', /^rateLimited: /);
});

// Requirements: rest.limits.enterprise-plus.
test('enterprise_plus: no limit', async () => {
  const { admit, caller } = start('enterprise_plus');
  for (let each = 0; each < 1000; each += 1)
    assert.deepEqual(await admit(), { caller, rate: undefined });
});

test('a failed look-up is an internal error, not a 401', async () => {
  const clock = new FixedClock(0);
  const gate = new Gate({
    clock,
    leases: new KeyLeases(
      clock,
      () => Promise.reject(new Error('no database')),
      async () => null,
    ),
    limiter: new MemoryRateLimiter(clock),
  });
  await assert.rejects(gate.admit(`Bearer ${generateKey()}`, client), /no database/);
});
