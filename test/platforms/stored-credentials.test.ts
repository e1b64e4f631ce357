import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Credentials } from '../../src/platforms/platform.ts';
import { Sealing } from '../../src/platforms/credentials/sealing.ts';
import { storedCredentials, resealAll, seal } from '../../src/platforms/credentials/stored.ts';
import { PlatformError } from '../../src/platforms/errors.ts';
import type { Store } from '../../src/store/open.ts';
import {
  claimRenewal,
  deleteConnection,
  findConnection,
  upsertConnection,
} from '../../src/store/feeds/platforms.ts';
import { createShop } from '../support/world.ts';
import { onOneDatabase } from '../support/databases.ts';

const platform = 'example';

onOneDatabase('stored credentials', (open) => {
  let store: Store;
  const keys = [randomBytes(32), randomBytes(32)] as const;
  const sealing = new Sealing([keys[0]]);
  before(() => {
    store = open();
  });
  after(() => store.close());

  const credentialsOf = (shopId: number, credentials = sealing) =>
    storedCredentials({ sql: store.write, platform, sealing: credentials }, shopId);

  async function connect(refreshToken = 'refresh-1'): Promise<Credentials> {
    const shop = await createShop(store);
    const given = { shop: shop.id, domain: `shop-${shop.id}.myshopify.com`, refreshToken };
    await replace(given);
    return given;
  }

  async function replace(given: Credentials): Promise<void> {
    const credentials = seal({ sql: store.write, platform, sealing }, given);
    const account = String(given['domain']);
    const stored = { shopId: given.shop, account, credentials, connectedAt: new Date() };
    await store.write.begin((tx) => upsertConnection(tx, platform, stored));
  }

  /** A platform that replaces each refresh token at its use. */
  function platformOf() {
    const asked: string[] = [];
    return {
      asked,
      ask: async (stale: Credentials): Promise<Credentials> => {
        asked.push(String(stale['refreshToken']));
        return { ...stale, refreshToken: `refresh-${asked.length + 1}` };
      },
    };
  }

  test('are read as they were given, and are not readable in the database', async () => {
    const given = await connect('a-very-secret-token');
    assert.deepEqual(await credentialsOf(given.shop).read(), given);
    const [row] = await store.write<{ row: string }[]>`
      select row_to_json(c)::text || encode(decode(credentials, 'base64'), 'escape') as row
      from platforms.connections c where shop_id = ${given.shop}`;
    assert.ok(row && !row.row.includes('a-very-secret-token'));
  });

  test('are renewed by one of many that ask at once', async () => {
    const given = await connect();
    const { ask, asked } = platformOf();
    const sources = Array.from({ length: 8 }, () => credentialsOf(given.shop));
    const renewed = await Promise.all(sources.map((source) => source.renew(given, ask)));
    assert.deepEqual(asked, ['refresh-1']);
    for (const each of renewed) assert.equal(each['refreshToken'], 'refresh-2');
    assert.equal((await credentialsOf(given.shop).read())['refreshToken'], 'refresh-2');
  });

  test('are renewed with the old ones if the process that asked died before it stored', async () => {
    const given = await connect();
    const renewal = { shopId: given.shop, platform, by: '00000000-0000-4000-8000-000000000001' };
    // It has a moment left of its time.
    assert.ok(await claimRenewal(store.write, renewal, 0.5));
    const { ask, asked } = platformOf();
    const renewed = await credentialsOf(given.shop).renew(given, ask);
    assert.deepEqual([asked, renewed['refreshToken']], [['refresh-1'], 'refresh-2']);
  });

  test('are not waited for after a stop while another process renews them', async () => {
    const given = await connect();
    const renewal = { shopId: given.shop, platform, by: '00000000-0000-4000-8000-000000000001' };
    assert.ok(await claimRenewal(store.write, renewal, 5));
    const { ask, asked } = platformOf();
    const signal = AbortSignal.abort(new Error('Stop.'));
    await assert.rejects(credentialsOf(given.shop).renew(given, ask, signal), /^Error: Stop\.$/);
    assert.deepEqual(asked, []);
  });

  test('stay as they are if the platform cannot be asked, and can be renewed at once', async () => {
    const given = await connect();
    const away = async () => {
      throw new PlatformError('unavailable', 'It is away.');
    };
    await assert.rejects(credentialsOf(given.shop).renew(given, away), /It is away/);
    const { ask } = platformOf();
    const renewed = await credentialsOf(given.shop).renew(given, ask);
    assert.equal(renewed['refreshToken'], 'refresh-2');
  });

  test('that are connected anew while they are renewed are not overwritten', async () => {
    const given = await connect();
    const ask = async (stale: Credentials) => {
      await replace({ ...given, refreshToken: 'new' });
      return { ...stale, refreshToken: 'late' };
    };
    await assert.rejects(credentialsOf(given.shop).renew(given, ask), /connected to example anew/);
    assert.equal((await credentialsOf(given.shop).read())['refreshToken'], 'new');
  });

  test('are gone once disconnected, also for a renewal in progress', async () => {
    const given = await connect();
    const ask = async (stale: Credentials) => {
      assert.ok(await deleteConnection(store.write, given.shop, platform));
      return stale;
    };
    await assert.rejects(credentialsOf(given.shop).renew(given, ask), /or disconnected/);
    await assert.rejects(credentialsOf(given.shop).read(), /no longer connected/);
    assert.equal(await findConnection(store.write, given.shop, platform), undefined);
  });

  test('of one account belong to one shop', async () => {
    const given = await connect();
    const other = await createShop(store);
    const credentials = seal({ sql: store.write, platform, sealing }, { shop: other.id });
    const stored = {
      shopId: other.id,
      account: String(given['domain']),
      credentials,
      connectedAt: new Date(),
    };
    const taken = await store.write.begin((tx) => upsertConnection(tx, platform, stored));
    assert.equal(taken, given.shop);
    assert.equal(await findConnection(store.write, other.id, platform), undefined);
  });

  test('cannot be moved to another shop in the database', async () => {
    const [given, other] = [await connect(), await connect()];
    await store.write`
      update platforms.connections set credentials = (
        select credentials from platforms.connections where shop_id = ${given.shop})
      where shop_id = ${other.shop}`;
    await assert.rejects(credentialsOf(other.shop).read(), /cannot be decrypted/);
  });

  test('are encrypted anew with a new key', async () => {
    const given = await connect('kept');
    const rotated = new Sealing([keys[1], keys[0]]);
    assert.ok((await resealAll({ sql: store.write, platform, sealing: rotated })) >= 1);
    const newest = new Sealing([keys[1]]);
    assert.equal((await credentialsOf(given.shop, newest).read())['refreshToken'], 'kept');
    await assert.rejects(credentialsOf(given.shop).read(), /CREDENTIALS_KEY lacks the key/);
    assert.equal(await resealAll({ sql: store.write, platform, sealing: rotated }), 0);
  });
});
