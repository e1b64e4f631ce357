import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Store, connectAll } from '../../../src/store/open.ts';
import { upsertConnection } from '../../../src/store/feeds/platforms.ts';
import { Sealing } from '../../../src/platforms/credentials/sealing.ts';
import { seal } from '../../../src/platforms/credentials/stored.ts';
import { run, throwawayFolder } from '../../cli/process.ts';
import { serverUrl } from '../../support/databases.ts';
import { type OwnDatabase, createServerDatabase } from '../../support/own-databases.ts';
import { createShop } from '../../support/world.ts';
import { type StandIn, startStandIn } from './stand-in.ts';
import { sampleWorld } from './stand-in-world.ts';
import { domain } from './synced.ts';

/** Of its own: the commands show and sync all shops that are connected in their database. */
let database: OwnDatabase;
const skip = serverUrl === undefined && 'PostgreSQL is not available on this machine';

describe('retention platforms', { skip }, () => {
  let store: Store;
  let standIn: StandIn;
  let env: Record<string, string>;
  const credentialsKey = randomBytes(32).toString('base64');

  before(async () => {
    database = await createServerDatabase();
    const { target } = database;
    store = connectAll(target);
    standIn = await startStandIn(sampleWorld());
    standIn.bulk.polls = 1;
    env = {
      DATABASE_URL: target,
      CREDENTIALS_KEY: credentialsKey,
      SHOPIFY_BASE_URL: standIn.baseUrl,
      LOG_LEVEL: 'debug',
    };
  });
  after(async () => {
    await store.close();
    await database.drop();
    await standIn.close();
  });

  const connect = (shop: number, given: unknown, more: Record<string, string> = {}) =>
    run(['platforms', 'connect', 'shopify', '--shop', String(shop)], {
      env: { ...env, ...more },
      input: typeof given === 'string' ? given : JSON.stringify(given),
    });
  const disconnect = (shop: number, more: Record<string, string> = {}, ...options: string[]) =>
    run(['platforms', 'disconnect', 'shopify', '--shop', String(shop), ...options], {
      env: { ...env, ...more },
    });
  const listed = async () => JSON.parse((await run(['platforms', 'list', '--json'], { env })).out);

  test('connects a shop by a token or an app, lists it, syncs it and disconnects it', async () => {
    const { id } = await createShop(store);
    const { fixed, clientId, clientSecret } = standIn.tokens;
    for (const credentials of [{ accessToken: fixed }, { clientId, clientSecret }]) {
      const { code, out } = await connect(id, { domain, ...credentials });
      const connected = `Shop ${id} is connected to ${domain}. "serve" or "sync shopify" fetches its data.\n`;
      assert.deepEqual([code, out], [0, connected]);
      const entry = { platform: 'shopify', shop: id, account: domain, origin: 'database' };
      assert.deepEqual(await listed(), [{ ...entry, problem: null }]);
      assert.match((await run(['sync', 'shopify', '--once'], { env })).out, /^Shop \d+: read /);
    }
    const gone = await disconnect(id);
    assert.deepEqual(
      [gone.code, gone.out],
      [0, `Shop ${id} is no longer connected to ${domain}.\n`],
    );
    assert.deepEqual(await listed(), []);
    const again = await disconnect(id);
    assert.deepEqual(
      [again.code, again.err],
      [1, `retention: Shop ${id} is not connected to Shopify.\n`],
    );
  });

  test('says as JSON what it did', async () => {
    const { id } = await createShop(store);
    const connected = await run(
      ['platforms', 'connect', 'shopify', '--shop', String(id), '--json'],
      { env, input: JSON.stringify({ domain, accessToken: standIn.tokens.fixed }) },
    );
    const result = { platform: 'shopify', shop: id };
    assert.deepEqual(JSON.parse(connected.out), { ...result, state: 'connected' });
    const { out } = await disconnect(id, {}, '--json');
    assert.deepEqual(JSON.parse(out), { ...result, state: 'disconnected' });
  });

  test('refuses what cannot work, and stores nothing', async () => {
    const { id } = await createShop(store);
    const accessToken = standIn.tokens.fixed;
    const file = path.join(throwawayFolder(), 'shopify.json');
    const entry = { shop: id, domain: 'other.myshopify.com', accessToken };
    writeFileSync(file, JSON.stringify({ shops: [entry] }), { mode: 0o600 });
    const inFile = { SHOPIFY_CREDENTIALS_FILE: file };
    const secret = `shpat_${randomBytes(16).toString('hex')}`;
    for (const [given, more, code, problem] of [
      [
        { domain, accessToken },
        { CREDENTIALS_KEY: '' },
        2,
        /^retention: CREDENTIALS_KEY is not set/,
      ],
      [`{"accessToken":"${secret}"`, {}, 2, /^retention: Standard input must be one JSON object/],
      [{ domain, accessToken: `x${secret}` }, {}, 2, /accessToken must be the app's access token/],
      [{ domain: 'shop.example', accessToken: secret }, {}, 2, /domain must be text such as/],
      [{ domain, accessToken: secret }, {}, 1, /does not accept the access token/],
      [
        { domain, accessToken },
        inFile,
        1,
        /is connected by the operator, in SHOPIFY_CREDENTIALS_FILE/,
      ],
    ] as const) {
      const refused = await connect(id, given, more);
      assert.deepEqual([refused.code, refused.out], [code, '']);
      assert.match(refused.err, problem);
      assert.ok(!refused.err.includes(secret), refused.err);
      assert.deepEqual(await listed(), []);
    }
    const unknown = await run(['platforms', 'connect', 'shopware', '--shop', String(id)], { env });
    assert.deepEqual(
      [unknown.code, unknown.err.split('\n')[0]],
      [
        2,
        'retention: There is no platform "shopware"; there is: shopify, stripe, recharge, postgres.',
      ],
    );
    const fromFile = await disconnect(id, inFile);
    assert.equal(fromFile.code, 1);
    assert.match(fromFile.err, /is connected by SHOPIFY_CREDENTIALS_FILE; remove its entry there/);
  });

  // The owner's pages: test/owner/sources/connect.test.ts.
  test('leaves no secret in logs, errors, reports or the database', async () => {
    const { id } = await createShop(store);
    const { tokens } = standIn;
    const { clientId, clientSecret, fixed } = tokens;
    const app = { SHOPIFY_CLIENT_ID: clientId, SHOPIFY_CLIENT_SECRET: clientSecret };
    const secrets = new Set([credentialsKey, clientSecret, fixed]);
    const answer = tokens.answer.bind(tokens);
    tokens.answer = (body) => {
      const answered = answer(body);
      for (const value of Object.values(answered.body)) {
        if (String(value).startsWith('shp')) secrets.add(String(value));
      }
      return answered;
    };
    const told: string[] = [];
    const tell = async (args: string[], more: Record<string, string> = {}) => {
      const { out, err } = await run(args, { env: { ...env, ...app, ...more } });
      told.push(out, err);
      return out + err;
    };
    const isValid = tokens.isValid.bind(tokens);
    /** Syncs until the credentials are refused. */
    const useUp = async (refusal: RegExp) => {
      await tell(['sync', 'shopify', '--once']);
      tokens.isValid = () => false;
      tokens.revokeAll();
      assert.match(await tell(['sync', 'shopify', '--once', '--full']), refusal);
      tokens.isValid = isValid;
      told.push(await dumpInClear(store));
    };
    /** Asks everything that may speak of credentials. */
    const askAll = async () => {
      await tell(['feeds', 'status']);
      await tell(['platforms', 'list', '--json']);
      assert.match(await tell(['doctor']), /1 in the database/);
      // With another key, they cannot be decrypted.
      const CREDENTIALS_KEY = randomBytes(32).toString('base64');
      const text = await tell(['doctor', '--json'], { CREDENTIALS_KEY });
      assert.match(text, /cannot be decrypted/);
      await tell(['sync', 'shopify', '--once'], { CREDENTIALS_KEY });
    };

    assert.equal((await connect(id, { domain, accessToken: fixed })).code, 0);
    await useUp(/does not accept/);
    const client = await connect(id, { domain, clientId, clientSecret });
    told.push(client.out, client.err);
    await useUp(/refused two access tokens in turn/);
    const expiring = { ...tokens.grant(), expiresAt: Date.now() - 1 };
    secrets.add(expiring.accessToken).add(expiring.refreshToken);
    await store.write.begin((tx) => {
      const sealing = new Sealing([Buffer.from(credentialsKey, 'base64')]);
      const given = { shop: id, domain, ...expiring };
      const credentials = seal({ sql: store.write, platform: 'shopify', sealing }, given);
      const row = { shopId: id, account: domain, credentials, connectedAt: new Date() };
      return upsertConnection(tx, 'shopify', row);
    });
    await useUp(/no longer accepts the refresh token/);
    await askAll();
    told.push(await dumpInClear(store));

    // Those that were given: one for the client, and at least one for the refresh token, with its replacement.
    assert.ok(secrets.size >= 8, String(secrets.size));
    const all = told.join('\n');
    for (const secret of secrets) assert.ok(!all.includes(secret), secret);
  });
});

/** Every row of every table, as text. */
async function dumpInClear({ write: sql }: Store): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`;
  const rows: string[] = [];
  for (const { name } of tables) {
    const found = await sql.unsafe<{ row: string }[]>(`select t::text as row from ${name} t`);
    rows.push(...found.map(({ row }) => row));
  }
  return rows.join('\n');
}
