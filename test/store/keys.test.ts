import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type Store } from '../../src/store/open.ts';
import { onEveryDatabase } from '../support/databases.ts';
import { createShop, createTestKey, get, startTestService } from '../support/world.ts';

onEveryDatabase('keys in the database', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  /** Tables with a row that contains this text, or its bytes in hexadecimal. */
  async function tablesWith(text: string): Promise<string[]> {
    const tables = await store.write<{ name: string }[]>`
      select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE' order by table_name`;
    assert.ok(tables.length > 10);
    const hex = Buffer.from(text).toString('hex');
    const found: string[] = [];
    for (const { name } of tables) {
      const rows = await store.write`
        select 1 from ${store.write.unsafe(name)} t
        where strpos(t::text, ${text}) > 0 or strpos(t::text, ${hex}) > 0 limit 1`;
      if (rows.length > 0) found.push(name);
    }
    return found;
  }

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
      assert.deepEqual(await tablesWith(part), []);
    }
    assert.deepEqual(await tablesWith(hash('sha256', key)), ['api_keys']);
  });
});
