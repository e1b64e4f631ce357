import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FixedClock } from '../../src/clock.ts';
import { apiKeys } from '../../src/access/keys/keys.ts';
import { revokeSecret, rotateSecret } from '../../src/access/secrets.ts';
import { listRevokedKeys } from '../../src/store/keys/keys.ts';
import type { Store } from '../../src/store/open.ts';
import { onEveryDatabase } from '../support/databases.ts';
import { createShop, createTestKey, now, silentLog } from '../support/world.ts';

const hour = 3_600_000;
const at = (hours: number) => new Date(Date.parse(now) + hours * hour);

onEveryDatabase('the list of revoked keys', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  test('lists keys revoked or rotated since an instant, ordered by when they end', async () => {
    const clock = new FixedClock(now);
    const ending = { sql: store.write, clock, log: silentLog };
    const [shop, other] = [await createShop(store), await createShop(store)];
    const create = async (shopId: number) => (await createTestKey(store, shopId)).id;
    const [rotated, revoked] = [await create(shop.id), await create(shop.id)];
    const foreign = await create(other.id);
    await create(shop.id);

    const newId = apiKeys.newId();
    const keyOf = (shopId: number, id: string) =>
      ({ shopId, id, actor: { who: 'command line' } }) as const;
    await rotateSecret(apiKeys, ending, keyOf(shop.id, rotated), {
      newId,
      newExpiresAt: null,
      overlapMilliseconds: 24 * hour,
    });
    clock.advance(hour);
    await revokeSecret(apiKeys, ending, keyOf(shop.id, revoked));
    await revokeSecret(apiKeys, ending, keyOf(other.id, foreign));

    const list = async (hours: number, ...shopIds: number[]) =>
      (await listRevokedKeys(store.write, shopIds, at(hours))).map((each) => ({ ...each }));
    const row = { shopId: shop.id, name: 'test' };
    const first = { ...row, keyId: revoked, revokedAt: at(1), expiresAt: null, replacedBy: null };
    const second = {
      ...row,
      keyId: rotated,
      revokedAt: null,
      expiresAt: at(24),
      replacedBy: newId,
    };
    assert.deepEqual(await list(0, shop.id), [first, second]);
    // Selected by when it was rotated, not by when it ends.
    assert.deepEqual(await list(0.5, shop.id), [first]);
    assert.deepEqual(await list(2, shop.id, other.id), []);
    assert.deepEqual(
      (await list(1, shop.id, other.id)).map(({ keyId }) => keyId).toSorted(),
      [revoked, foreign].toSorted(),
    );
    assert.deepEqual(await list(0), []);
  });
});
