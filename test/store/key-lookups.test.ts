import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { hashKey } from '../../src/access/key-format.ts';
import type { Sql } from '../../src/store/database.ts';
import { KeyLookups } from '../../src/store/key-lookups.ts';
import { revokeKey } from '../../src/store/keys.ts';
import type { Store } from '../../src/store/open.ts';
import { onEveryDatabase } from '../support/databases.ts';
import { createShop, createTestKey, now } from '../support/world.ts';

const invented = () => randomBytes(32).toString('base64');

onEveryDatabase('looking up keys', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  /** Lookups over a connection that tells how many statements it was given. */
  function begin() {
    let statements = 0;
    const sql = new Proxy(store.primary.read, {
      apply(target, self, parts) {
        statements += 1;
        return Reflect.apply(target, self, parts);
      },
    }) as Sql;
    return { lookups: new KeyLookups(sql), statements: () => statements };
  }

  async function keyOf(tier: 'growth' | 'pro' = 'growth') {
    const shop = await createShop(store, { tier, currency: 'JPY' });
    const { id, key } = await createTestKey(store, shop.id, ['read:plans', 'read:metrics']);
    return { shop, id, hash: hashKey(key) };
  }

  test('each asker gets what is known of their key: its shop, tier, currency and scopes', async () => {
    const { lookups, statements } = begin();
    const keys = [await keyOf('growth'), await keyOf('pro')];
    const [first, nobody, second] = await Promise.all(
      [keys[0]?.hash, invented(), keys[1]?.hash].map((hash) => lookups.find(hash ?? '')),
    );
    assert.equal(nobody, undefined);
    assert.deepEqual(
      [first, second],
      keys.map(({ shop, id }) => ({
        shopId: shop.id,
        keyId: id,
        scopes: ['read:plans', 'read:metrics'],
        tier: shop.tier,
        currency: 'JPY',
        lastUsedAt: 0,
        expiresAt: null,
      })),
    );
    assert.equal(statements(), 1);
  });

  test('a key that is revoked is not found any more, though it was', async () => {
    const { lookups } = begin();
    const { shop, id, hash } = await keyOf();
    assert.equal((await lookups.find(hash))?.keyId, id);
    await revokeKey(store.write, shop.id, id, new Date(now));
    assert.equal(await lookups.find(hash), undefined);
    assert.equal(await lookups.find(hash), undefined);
  });

  test('a flood of invented keys costs a statement for a hundred of them, and a key that was found goes first', async () => {
    const { lookups, statements } = begin();
    const { id, hash } = await keyOf();
    await lookups.find(hash);
    const sentBefore = statements();

    let answered = 0;
    const flood = Array.from({ length: 2_000 }, async () => {
      assert.equal(await lookups.find(invented()), undefined);
      answered += 1;
    });
    const found = await lookups.find(hash);
    assert.equal(found?.keyId, id);
    assert.ok(answered < 200, `${answered} invented keys were answered first`);
    await Promise.all(flood);
    assert.equal(statements() - sentBefore, 21);
  });

  test('too many that wait are refused rather than remembered, and those that wait are answered', async () => {
    const { lookups } = begin();
    const { id, hash } = await keyOf();
    await lookups.find(hash);
    const waiting = Array.from({ length: 10_000 }, () => lookups.find(invented()));
    await assert.rejects(lookups.find(invented()), /10000 keys are waiting/);
    assert.equal((await lookups.find(hash))?.keyId, id);
    assert.deepEqual(new Set(await Promise.all(waiting)), new Set([undefined]));
    assert.equal(await lookups.find(invented()), undefined);
  });

  test('a database that fails fails all who wait, and is asked again by the next', async () => {
    let isDown = true;
    const sql = new Proxy(store.primary.read, {
      apply: (target, self, parts) =>
        isDown ? target`select 1 / 0` : Reflect.apply(target, self, parts),
    }) as Sql;
    const lookups = new KeyLookups(sql);
    const { id, hash } = await keyOf();
    const asked = await Promise.allSettled(
      [hash, ...Array.from({ length: 300 }, invented)].map((each) => lookups.find(each)),
    );
    assert.deepEqual(new Set(asked.map(({ status }) => status)), new Set(['rejected']));
    isDown = false;
    assert.equal((await lookups.find(hash))?.keyId, id);
  });
});
