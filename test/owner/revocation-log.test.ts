import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FixedClock } from '../../src/clock.ts';
import { createLog } from '../../src/log/log.ts';
import { apiKeys } from '../../src/access/keys/keys.ts';
import { type Target, createSecret, revokeSecret, rotateSecret } from '../../src/access/secrets.ts';
import type { Store } from '../../src/store/open.ts';
import { onOneDatabase } from '../support/databases.ts';
import { createShop, createTestKey, now, startWorld } from '../support/world.ts';
import { signedInOwner } from './visitor.ts';

const hour = 3_600_000;

onOneDatabase('the service log of revoked and rotated keys', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  /** A log, and its lines about keys, without the time. */
  function listen() {
    const lines: Record<string, unknown>[] = [];
    const log = createLog('info', {
      write(text) {
        for (const line of text.trimEnd().split('\n')) {
          const { time: _time, level, ...rest } = JSON.parse(line);
          if (String(rest.msg).startsWith('key ')) lines.push({ level, ...rest });
        }
      },
    });
    return { lines, ending: { sql: store.write, clock: new FixedClock(now), log }, log };
  }

  test('has a line for a key that an owner revokes, without the key itself', async () => {
    const { lines, log } = listen();
    const world = await startWorld(store, { log });
    try {
      const { visitor } = await signedInOwner(world, { shopId: world.shop.id });
      const path = `/app/shops/${world.shop.id}/keys/${world.keyId}/revoke`;
      await visitor.get(path);
      await visitor.post(path);
    } finally {
      await world.service.close();
    }
    const { keyId, shop } = world;
    assert.deepEqual(lines, [
      {
        level: 'info',
        shopId: shop.id,
        keyId,
        revokedAt: now,
        cause: 'owner',
        msg: 'key revoked',
      },
    ]);
  });

  test('repeats the line, with the original date, for a key that is already revoked', async () => {
    const { lines, ending } = listen();
    const shop = await createShop(store);
    const { id } = await createTestKey(store, shop.id);
    const key = { shopId: shop.id, id, actor: { who: 'command line' } };
    await revokeSecret(apiKeys, ending, key);
    ending.clock.advance(hour);
    await revokeSecret(apiKeys, ending, key);
    const unknown = { ...key, id: apiKeys.newId() };
    assert.equal(await revokeSecret(apiKeys, ending, unknown), false);
    assert.deepEqual(
      lines.map(({ keyId, revokedAt, cause }) => [keyId, revokedAt, cause]),
      [
        [id, now, 'command line'],
        [id, now, 'command line'],
      ],
    );
  });

  test('says for a rotation when the old key expires', async () => {
    const { lines, ending } = listen();
    const shop = await createShop(store);
    const rotate = async (keyId: string, overlapMilliseconds: number) => {
      const newId = apiKeys.newId();
      const key = { shopId: shop.id, id: keyId, actor: { who: 'command line' } };
      await rotateSecret(apiKeys, ending, key, {
        newId,
        newExpiresAt: new Date(Date.parse(now) + hour),
        overlapMilliseconds,
      });
      return newId;
    };
    const { id } = await createTestKey(store, shop.id);
    const second = await rotate(id, 2 * hour);
    const third = await rotate(second, 2 * hour);
    await rotate(third, 0);
    const rotated = { level: 'info', shopId: shop.id, msg: 'key rotated' };
    assert.deepEqual(lines, [
      { ...rotated, keyId: id, replacedBy: second, expiresAt: '2026-11-20T14:00:00.000Z' },
      // This key already expires before the overlap ends.
      { ...rotated, keyId: second, replacedBy: third, expiresAt: '2026-11-20T13:00:00.000Z' },
      { ...rotated, keyId: third, revokedAt: now, cause: 'rotation', msg: 'key revoked' },
    ]);
  });

  test('has no rotation of a key that has expired, since none takes place', async () => {
    const { lines, ending } = listen();
    const shop = await createShop(store);
    const keyOf = async (expiresAt: string) => {
      const key = { shopId: shop.id, id: apiKeys.newId(), actor: { who: 'command line' } };
      const created = await createSecret(apiKeys, ending, key, {
        name: 'test',
        scopes: ['read:plans'],
        expiresAt: new Date(expiresAt),
      });
      assert.equal(created.kind, 'created');
      return key;
    };
    const rotate = async (key: Target) =>
      (
        await rotateSecret(apiKeys, ending, key, {
          newId: apiKeys.newId(),
          newExpiresAt: null,
          overlapMilliseconds: hour,
        })
      ).kind;
    // At the instant at which it expires, it already has.
    assert.equal(await rotate(await keyOf(now)), 'ended');
    assert.deepEqual(lines, []);
    assert.equal(await rotate(await keyOf(new Date(Date.parse(now) + 1).toISOString())), 'created');
  });
});
