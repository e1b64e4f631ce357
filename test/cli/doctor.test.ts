import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Sealing } from '../../src/platforms/credentials/sealing.ts';
import { seal } from '../../src/platforms/credentials/stored.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { upsertConnection } from '../../src/store/platforms/connections.ts';
import { type PostgresServer, findPostgresPrograms, startPostgres } from '../support/postgres.ts';
import { run, throwawayFolder } from './process.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';

// It counts all connected shops, so it has a database to itself.
describe('doctor', { skip }, () => {
  let server: PostgresServer;
  let store: Store;
  before(async () => {
    const started = await startPostgres(['fsync=off']);
    assert.ok(started);
    server = started;
    store = connectAll(server.url) as Store;
  });
  after(async () => {
    await store.close();
    await server.destroy();
  });

  const doctor = (env: Record<string, string> = {}) =>
    run(['doctor'], { env: { DATABASE_URL: server.url, ...env } });

  test('passes on a healthy database, and hides its password', async () => {
    const DATABASE_URL = server.url.replace('postgres@', 'postgres:sesame@');
    const { code, out, err } = await doctor({ DATABASE_URL });
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /^databaseUrl +postgres:\/\/postgres:redacted@127\.0\.0\.1:\d+\/postgres$/m);
    assert.match(out, /^ok {4}database: PostgreSQL \d+/m);
    assert.match(out, /^ok {4}schema: up to date$/m);
    assert.match(out, /^ok {4}clock: \d+ ms off the database's clock$/m);
    assert.doesNotMatch(out, /sesame|FAIL|Shopify/);
  });

  test('shows how platforms are configured, without secrets', async () => {
    const key = randomBytes(32).toString('base64');
    const secrets = { CREDENTIALS_KEY: key, SHOPIFY_CLIENT_SECRET: 'open-sesame-open-sesame' };
    const { out } = await doctor({
      ...secrets,
      SHOPIFY_CLIENT_ID: 'our-id-at-shopify',
      SHOPIFY_BASE_URL: 'https://proxy.example/{domain}',
      SYNC: 'off',
    });
    assert.match(out, /^shopifyClientId +our-id-at-shopify$/m);
    assert.match(out, /^shopifyBaseUrl +https:\/\/proxy\.example\/\{domain\}$/m);
    assert.match(out, /^shopifyClientSecret +redacted$/m);
    assert.match(out, /^credentialsKeys +redacted$/m);
    assert.match(out, /^sync +off$/m);
    for (const secret of Object.values(secrets)) assert.ok(!out.includes(secret));
    assert.match((await doctor()).out, /^sync +on$/m);
  });

  test('warns if owners can connect their shops, but the public address is not https', async () => {
    const warningOf = async (env: Record<string, string>) =>
      /^warn {2}public address: (.+)$/m.exec((await doctor(env)).out)?.[1];
    const SHOPIFY_CLIENT_ID = 'our-id-at-shopify';
    const warning =
      'SHOPIFY_CLIENT_ID is set, but BASE_URL is not an https address: Shopify sends owners who connect their shop back to it, and webhooks only to https. Set BASE_URL to the public address.';
    const http = 'http://retention.example';
    assert.equal(await warningOf({ SHOPIFY_CLIENT_ID }), warning);
    assert.equal(await warningOf({ SHOPIFY_CLIENT_ID, BASE_URL: http }), warning);
    const https = 'https://retention.example';
    assert.equal(await warningOf({ SHOPIFY_CLIENT_ID, BASE_URL: https }), undefined);
    assert.equal(await warningOf({ BASE_URL: http }), undefined);
  });

  test('counts connected shops, and names those whose credentials cannot be decrypted', async () => {
    const keys = [randomBytes(32), randomBytes(32)] as const;
    const [key, other] = keys.map((each) => each.toString('base64'));
    const accessToken = 'shpat_0123456789abcdef';
    const connect = async (shop: number, damage = (text: string) => text) => {
      const domain = `shop-${shop}.myshopify.com`;
      const kept = { sql: store.write, platform: 'shopify', sealing: new Sealing([keys[0]]) };
      const credentials = damage(seal(kept, { shop, domain, accessToken }));
      const row = { shopId: shop, account: domain, credentials, connectedAt: new Date() };
      await store.write.begin((tx) => upsertConnection(tx, 'shopify', row));
    };
    for (const shop of [7, 8, 9]) await connect(shop);
    const file = path.join(throwawayFolder(), 'shopify.json');
    const entry = { shop: 9, domain: 'shop-9.myshopify.com', accessToken };
    writeFileSync(file, JSON.stringify({ shops: [entry] }));

    const findings = async (env: Record<string, string>) => {
      const { code, out } = await doctor({ SHOPIFY_CREDENTIALS_FILE: file, ...env });
      assert.ok(!out.includes(accessToken));
      for (const text of [key, other]) assert.ok(!out.includes(text as string));
      const lines = out.split('\n').filter((line) => /connected to|stored/.test(line));
      return [code, ...lines];
    };
    const counted =
      'ok    shops connected to Shopify: 1 in SHOPIFY_CREDENTIALS_FILE, 2 in the database';
    const fine = [0, counted, 'ok    stored shopify credentials: can be decrypted'];
    assert.deepEqual(await findings({ CREDENTIALS_KEY: key as string }), fine);
    assert.deepEqual(await findings({ CREDENTIALS_KEY: `${other},${key}` }), fine);
    assert.deepEqual(await findings({}), [
      1,
      counted,
      'FAIL  stored shopify credentials: CREDENTIALS_KEY is not set, so those of shops 7 and 8 cannot be decrypted. Set it, or connect to Shopify by the credentials file.',
    ]);
    const lost = (shops: string) => [
      1,
      counted,
      `FAIL  stored shopify credentials: those of ${shops} cannot be decrypted. Add the key that they were encrypted with to CREDENTIALS_KEY, after the new one and a comma, or connect to Shopify again.`,
    ];
    assert.deepEqual(await findings({ CREDENTIALS_KEY: other as string }), lost('shops 7 and 8'));
    await connect(8, (text) => `${text.slice(0, -8)}AAAAAAA=`);
    assert.deepEqual(await findings({ CREDENTIALS_KEY: key as string }), lost('shop 8'));
  });
});
