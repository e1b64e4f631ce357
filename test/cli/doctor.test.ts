import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { appSealing, resealApps } from '../../src/accounts/factors/codes.ts';
import { contextOf } from '../../src/accounts/sso/providers.ts';
import { Sealing } from '../../src/platforms/credentials/sealing.ts';
import { seal } from '../../src/platforms/credentials/stored.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { upsertConnection } from '../../src/store/feeds/platforms.ts';
import { type PostgresServer, findPostgresPrograms, requirePostgres } from '../support/postgres.ts';
import { deliver, finished } from '../push/world.ts';
import { until } from '../support/until.ts';
import { launchServer, run, throwawayFolder } from './process.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';

// It counts all connected shops, so it has a database to itself.
describe('doctor', { skip }, () => {
  let server: PostgresServer;
  let store: Store;
  before(async () => {
    server = await requirePostgres(['fsync=off']);
    store = connectAll(server.url);
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
    assert.match(out, /^uploadDir +\/.*\/retention-uploads-\d+$/m);
    assert.match(out, /^uploadMaxMegabytes +1024$/m);
    for (const line of [
      'databaseReadUrls none: reads go to the database',
      'databaseServeUrl the login of databaseUrl',
      'redisUrl none: each instance counts requests by itself',
      'metricsPort off',
      'baseUrl http://127.0.0.1:8787',
      'trustedProxies none',
      'credentialsKeys none',
      'tracing off',
      'shopifyClientSecret none',
      'smtpUrl none: no mail is sent',
      'smtpFrom none',
    ]) {
      assert.ok(out.replace(/ +/g, ' ').includes(`\n${line}\n`), line);
    }
    assert.doesNotMatch(out, /default|unset|undefined/);
    assert.doesNotMatch(out, /sesame|FAIL|Shopify|\[object/);
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

  test('warns of signing secrets that are stored unencrypted, until serve has encrypted them', async () => {
    const env = { DATABASE_URL: server.url, SYNC: 'off' };
    const CREDENTIALS_KEY = randomBytes(32).toString('base64');
    const findings = async (more: Record<string, string> = {}) =>
      (await doctor(more)).out.split('\n').filter((line) => line.includes('push sources:'));
    const shop = ['--id', '1', '--name', 'Shop', '--currency', 'USD'];
    assert.equal((await run(['shops', 'create', ...shop], { env })).code, 0);
    const create = ['ingest', 'create', '--shop', '1', '--name', 'Billing', '--json'];
    const source = JSON.parse((await run(create, { env })).out);

    const first = await launchServer('serve', env);
    const record = {
      type: 'cancellation',
      id: 7001,
      detectedReason: 'other',
      createdAt: '2026-11-17T10:58:00Z',
    };
    const { status, body } = await deliver(first.baseUrl, source, [record]);
    assert.equal(status, 202);
    const { outcomes } = await finished(first.baseUrl, source, body.batchId);
    assert.equal(outcomes['stored'], 1);
    first.child.kill('SIGTERM');
    await first.ended;
    const inUse = 'ok    push sources: 1 in use';
    const warning = 'warn  push sources: signing secrets are stored unencrypted (1 of 1 sources); ';
    assert.deepEqual(await findings(), [
      inUse,
      `${warning}set CREDENTIALS_KEY to the output of "openssl rand -base64 32" and restart "serve", which encrypts them.`,
    ]);
    assert.deepEqual(await findings({ CREDENTIALS_KEY }), [
      inUse,
      `${warning}restart "serve", which encrypts them.`,
    ]);

    const second = await launchServer('serve', { ...env, CREDENTIALS_KEY });
    await until(
      () => findings({ CREDENTIALS_KEY }),
      (lines) => lines.length === 1,
    );
    const stored = JSON.stringify(await store.write`select * from ingest.sources`);
    assert.ok(!/plain|whsec/.test(stored) && !stored.includes(source.secret.slice(6)));
    assert.equal((await deliver(second.baseUrl, source, [record])).status, 202);
    second.child.kill('SIGTERM');
    const { err } = await second.ended;
    assert.match(err, /"sources":1,"msg":"secrets of push sources encrypted anew"/);
    assert.deepEqual(await findings(), [
      `FAIL  push sources: CREDENTIALS_KEY is not set, so requests of ${source.sourceId} of shop 1 are answered 503. Set the key that their secrets were encrypted with.`,
    ]);
  });

  test('warns of secrets of authenticator apps that are stored unencrypted, or cannot be decrypted', async () => {
    const keys = [randomBytes(32), randomBytes(32)] as const;
    const [key, other] = keys.map((each) => each.toString('base64'));
    const findings = async (CREDENTIALS_KEY = '') =>
      (await doctor({ CREDENTIALS_KEY })).out
        .split('\n')
        .filter((line) => line.includes('authenticator apps:'));
    assert.deepEqual(await findings(), []);
    await store.write`
      with owner as (
        insert into owners.accounts (email, created_at) values ('app@example.com', now())
        returning owner_id
      )
      insert into owners.factors (owner_id, name, key, created_at)
      select owner_id, 'App', 'plain:GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ', now() from owner`;
    assert.deepEqual(await findings(), [
      'warn  authenticator apps: secrets are stored unencrypted (1 of 1); set CREDENTIALS_KEY to the output of "openssl rand -base64 32" and restart "serve", which encrypts them.',
    ]);
    await resealApps(store.write, appSealing([keys[0]]));
    assert.deepEqual(await findings(key), ['ok    authenticator apps: 1 in use']);
    for (const wrong of [undefined, other]) {
      const [line = ''] = await findings(wrong);
      assert.match(line, /^FAIL  authenticator apps: secrets of 1 of 1 cannot be decrypted, so/);
    }
    await store.write`delete from owners.accounts where email = 'app@example.com'`;
  });

  test('fails if the secret of a shop’s issuer cannot be decrypted', async () => {
    const keys = [randomBytes(32), randomBytes(32)] as const;
    const [key, other] = keys.map((each) => each.toString('base64'));
    const findings = async (CREDENTIALS_KEY = '') =>
      (await doctor({ CREDENTIALS_KEY })).out
        .split('\n')
        .filter((line) => line.includes('single sign-on:'));
    assert.deepEqual(await findings(), []);
    const sealed = new Sealing([keys[0]]).seal('secret', contextOf(1));
    await store.write`
      insert into owners.sso_providers (shop_id, issuer, client_id, client_secret, domain, verification)
      values (1, 'https://login.example.com', 'retention', ${sealed}, 'example.com', 'x')`;
    assert.deepEqual(await findings(key), ['ok    single sign-on: 1 in use']);
    for (const wrong of [undefined, other]) {
      const [line = ''] = await findings(wrong);
      assert.match(line, /^FAIL  single sign-on: secrets of shop 1 cannot be decrypted, so people/);
    }
    await store.write`delete from owners.sso_providers`;
  });
});
