import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { hashKey } from '../../src/access/keys/key-format.ts';
import type { Sql } from '../../src/store/database.ts';
import { FixedClock } from '../../src/clock.ts';
import { type KeyRecord, listKeysByHash, updateRevokedKey } from '../../src/store/keys/keys.ts';
import {
  LookupAllowance,
  LookupRefused,
  SecretLookups,
} from '../../src/store/keys/secret-lookups.ts';
import type { Store } from '../../src/store/open.ts';
import { onEveryDatabase } from '../support/databases.ts';
import { createShop, createTestKey, now } from '../support/world.ts';

const lookupsOf = (sql: Sql, clock: FixedClock) =>
  new SecretLookups((hashes) => listKeysByHash(sql, hashes), new LookupAllowance(clock));
const invented = () => randomBytes(32).toString('base64');

onEveryDatabase('looking up keys', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  /** Look-ups over a connection that counts statements. */
  function start() {
    let statements = 0;
    const sql = new Proxy(store.primary.keys, {
      apply(target, self, parts) {
        statements += 1;
        return Reflect.apply(target, self, parts);
      },
    }) as Sql;
    const clock = new FixedClock(0);
    const lookups = lookupsOf(sql, clock);
    return { lookups, clock, statements: () => statements };
  }

  /** This many invented keys at once, each from a different client. */
  const flood = (lookups: SecretLookups<KeyRecord>, count: number) =>
    Array.from({ length: count }, (_, each) => lookups.find(invented(), `client ${each}`));

  async function keyOf(tier: 'growth' | 'pro' = 'growth') {
    const shop = await createShop(store, { tier, currency: 'JPY' });
    const { id, key } = await createTestKey(store, shop.id, ['read:plans', 'read:metrics']);
    return { shop, id, hash: hashKey(key) };
  }

  test('returns each key’s shop, tier, currency and scopes', async () => {
    const { lookups, statements } = start();
    const keys = [await keyOf('growth'), await keyOf('pro')];
    const [first, unknown, second] = await Promise.all(
      [keys[0]?.hash, invented(), keys[1]?.hash].map((hash) => lookups.find(hash ?? '', 'a')),
    );
    assert.equal(unknown, undefined);
    assert.deepEqual(
      [first, second].map((found) => ({ ...found, generation: undefined })),
      keys.map(({ shop, id }) => ({
        shopId: shop.id,
        keyId: id,
        scopes: ['read:plans', 'read:metrics'],
        tier: shop.tier,
        currency: 'JPY',
        networks: [],
        expiresAt: null,
        isRevoked: false,
        generation: undefined,
      })),
    );
    assert.equal(statements(), 1);
  });

  test('says that a key is revoked', async () => {
    const { lookups } = start();
    const { shop, id, hash } = await keyOf();
    const found = async () => {
      const { keyId, isRevoked } = (await lookups.find(hash, 'a')) ?? {};
      return { keyId, isRevoked };
    };
    assert.deepEqual(await found(), { keyId: id, isRevoked: false });
    await updateRevokedKey(store.write, shop.id, id, new Date(now));
    assert.deepEqual(await found(), { keyId: id, isRevoked: true });
  });

  test('looks up a flood of invented keys a hundred at a time, and recently found keys first', async () => {
    const { lookups, statements } = start();
    const { id, hash } = await keyOf();
    await lookups.find(hash, 'a');
    const sentBefore = statements();

    let answered = 0;
    const pending = flood(lookups, 2_000).map(async (record) => {
      assert.equal(await record, undefined);
      answered += 1;
    });
    const found = await lookups.find(hash, 'a');
    assert.equal(found?.keyId, id);
    assert.ok(answered < 200, `${answered} invented keys were answered first`);
    await Promise.all(pending);
    assert.equal(statements() - sentBefore, 21);
  });

  test('rejects look-ups when too many are waiting, and answers those that wait', async () => {
    const { lookups } = start();
    const { id, hash } = await keyOf();
    await lookups.find(hash, 'a');
    const waiting = flood(lookups, 10_000);
    await assert.rejects(lookups.find(invented(), 'a'), /10000 secrets are already waiting/);
    assert.equal((await lookups.find(hash, 'a'))?.keyId, id);
    assert.deepEqual(new Set(await Promise.all(waiting)), new Set([undefined]));
    assert.equal(await lookups.find(invented(), 'a'), undefined);
  });

  test('looks up only a hundred invented keys per client', async () => {
    const { lookups, statements } = start();
    const settled = await Promise.allSettled(
      Array.from({ length: 2_000 }, () => lookups.find(invented(), 'a')),
    );
    assert.equal(statements(), 1);
    assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, 100);
    await assert.rejects(lookups.find(invented(), 'a'), LookupRefused);
    assert.equal(statements(), 1);
    assert.equal(await lookups.find(invented(), 'b'), undefined);
  });

  test('a client over its allowance can still use recently found keys, and new ones later', async () => {
    const { lookups, clock } = start();
    const [known, fresh] = [await keyOf(), await keyOf()];
    await lookups.find(known.hash, 'b');
    await Promise.allSettled(Array.from({ length: 200 }, () => lookups.find(invented(), 'a')));
    assert.equal((await lookups.find(known.hash, 'a'))?.keyId, known.id);
    await assert.rejects(lookups.find(fresh.hash, 'a'), LookupRefused);
    clock.advance(10);
    assert.equal((await lookups.find(fresh.hash, 'a'))?.keyId, fresh.id);
    await lookups.find(invented(), 'a');
    assert.equal((await lookups.find(fresh.hash, 'a'))?.keyId, fresh.id);
  });

  test('keys that exist do not use up the allowance', async () => {
    const { lookups } = start();
    const keys = await Promise.all(Array.from({ length: 150 }, () => keyOf()));
    const found = await Promise.all(keys.map(({ hash }) => lookups.find(hash, 'a')));
    assert.deepEqual(
      found.map((record) => record?.keyId),
      keys.map(({ id }) => id),
    );
    assert.equal(await lookups.find(invented(), 'a'), undefined);
  });

  test('a database failure fails all waiting look-ups; the next one retries', async () => {
    let isDown = true;
    const sql = new Proxy(store.primary.keys, {
      apply: (target, self, parts) =>
        isDown ? target`select 1 / 0` : Reflect.apply(target, self, parts),
    }) as Sql;
    const lookups = lookupsOf(sql, new FixedClock(0));
    const { id, hash } = await keyOf();
    const settled = await Promise.allSettled(
      [hash, ...Array.from({ length: 300 }, invented)].map((each) => lookups.find(each, 'a')),
    );
    assert.deepEqual(new Set(settled.map(({ status }) => status)), new Set(['rejected']));
    isDown = false;
    assert.equal((await lookups.find(hash, 'a'))?.keyId, id);
  });
});
