import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { findKeyGeneration, listKeysByHash } from '../../src/store/keys/keys.ts';
import { type Store } from '../../src/store/open.ts';
import { onEveryDatabase } from '../support/databases.ts';
import { tablesWith } from '../support/tables-with.ts';
import { createShop, createTestKey, get, startTestService } from '../support/world.ts';

onEveryDatabase('keys in the database', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  // Requirements: rest.auth.only-hash-stored.
  test('stores only the SHA-256 and the last four characters', async () => {
    const shop = await createShop(store);
    const { id, key } = await createTestKey(store, shop.id);
    const service = await startTestService(store);
    const used = get(`${service.baseUrl}/api/external/v1/plans`, key);
    // Closing waits until the key's usage is stored.
    const { status } = await used.finally(() => service.close());
    assert.equal(status, 200);

    const [row] = await store.write<Record<string, unknown>[]>`
      select encode(hash, 'hex') as hash, last_four as "lastFour", u.last_used_at is not null as used
      from api_keys k join key_uses u using (shop_id, key_id)
      where shop_id = ${shop.id} and key_id = ${id}`;
    assert.deepEqual(
      { ...row },
      { hash: hash('sha256', key), lastFour: key.slice(-4), used: true },
    );

    // Neither the whole key, nor a part long enough to help guess it.
    for (const part of [key, key.slice(4), key.slice(4, 20), key.slice(20, 36), key.slice(-8)]) {
      const hex = Buffer.from(part).toString('hex');
      assert.deepEqual(await tablesWith(store, [shop.id], `${part}|${hex}`), []);
    }
    assert.deepEqual(await tablesWith(store, [shop.id], hash('sha256', key)), ['api_keys']);
  });

  /** Whether a transaction with this statement gives all keys a new generation. */
  async function changesGeneration(statement: string): Promise<boolean> {
    return store.write.begin(async (tx) => {
      await tx.unsafe(statement);
      await tx.script('set constraints all immediate');
      const [row] = await tx<{ isMine: boolean }[]>`
        select changed_by is not distinct from pg_current_xact_id() as "isMine" from key_generation`;
      return row?.isMine === true;
    });
  }

  // Requirements: rest.auth.revoked-at-once.
  test('gives all keys a new generation with each change of a key, or of what its shop may do', async () => {
    const shop = await createShop(store);
    const { id } = await createTestKey(store, shop.id);
    const key = `where shop_id = ${shop.id} and key_id = '${id}'`;
    const values = `shop_id, 'key_other', 'other', sha256('other ${shop.id}'), 'abcd', '{read:plans}', 'test', now()`;
    for (const statement of [
      `insert into api_keys (shop_id, key_id, name, hash, last_four, scopes, created_by, created_at)
        select ${values} from api_keys ${key}`,
      `update api_keys set networks = '{192.0.2.1}' ${key}`,
      `update api_keys set expires_at = now() ${key}`,
      `update api_keys set scopes = '{read:metrics}' ${key}`,
      `update api_keys set revoked_at = now() ${key}`,
      `update shops set tier = 'free' where shop_id = ${shop.id}`,
      `delete from api_keys ${key}`,
      `delete from api_keys where shop_id = ${shop.id}`,
      `delete from shops where shop_id = ${shop.id}`,
    ]) {
      const earlier = await findKeyGeneration(store.primary.keys);
      assert.ok(await changesGeneration(statement), statement);
      assert.notEqual(await findKeyGeneration(store.primary.keys), earlier);
    }
  });

  test('keeps their generation when a key is used, or a shop created', async () => {
    const shop = await createShop(store);
    const { id } = await createTestKey(store, shop.id);
    for (const statement of [
      `update api_keys set last_used_at = now() where shop_id = ${shop.id} and key_id = '${id}'`,
      `update shops set customer_link = 'https://example.com/{id}' where shop_id = ${shop.id}`,
      `insert into shops values (${shop.id + 1}, 'Other', 'pro', 'USD', now())`,
    ]) {
      assert.equal(await changesGeneration(statement), false, statement);
    }
  });

  test('finds a key with the generation of that moment', async () => {
    const shop = await createShop(store);
    const { key } = await createTestKey(store, shop.id);
    for (;;) {
      const generation = await findKeyGeneration(store.primary.keys);
      const [found] = await listKeysByHash(store.primary.keys, [hash('sha256', key, 'base64')]);
      // Other tests change keys meanwhile.
      if ((await findKeyGeneration(store.primary.keys)) !== generation) continue;
      assert.equal(found?.record.generation, generation);
      return;
    }
  });
});
