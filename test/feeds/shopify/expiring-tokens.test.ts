import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { FixedClock } from '../../../src/clock.ts';
import { createLog } from '../../../src/log/log.ts';
import type { ConnectedShop } from '../../../src/platforms/platform.ts';
import { Sealing } from '../../../src/platforms/credentials/sealing.ts';
import { storedCredentials, seal } from '../../../src/platforms/credentials/stored.ts';
import { CredentialsRefused } from '../../../src/platforms/errors.ts';
import { connectShopify } from '../../../src/platforms/shopify/code.ts';
import type { Store } from '../../../src/store/open.ts';
import { upsertConnection } from '../../../src/store/feeds/platforms.ts';
import { assertSameShop } from '../../model/dump.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { createShop } from '../../support/world.ts';
import { type StandIn, startStandIn } from './stand-in.ts';
import { sampleWorld } from './stand-in-world.ts';
import { beginSync, domain, noBackoff } from './synced.ts';
import { syncShop } from '../../../src/platforms/shopify/sync/sync-shop.ts';

const changes = { full: false, takeOver: false };
const everything = { full: true, takeOver: false };
const minute = 60_000;
/** Not Shopify's own name: tests of commands sync all that is connected to it. */
const platform = 'expiring';

onOneDatabase('access to Shopify that ends', (open) => {
  let store: Store;
  const standIns: StandIn[] = [];
  const sealing = new Sealing([randomBytes(32)]);
  before(() => {
    store = open();
  });
  after(async () => {
    for (const each of standIns) await each.close();
    await store.close();
  });

  /** A shop that is connected by an expiring token, and a way to open it in one more process. */
  async function begin() {
    const standIn = await startStandIn(sampleWorld());
    standIns.push(standIn);
    const { tokens } = standIn;
    const clock = new FixedClock(Date.now());
    tokens.now = () => clock.now();
    const shop = await createShop(store);
    const log: string[] = [];
    const expiresAt = clock.now() + 60 * minute;
    const given = { shop: shop.id, domain, ...tokens.grant(), expiresAt };
    const credentials = seal({ sql: store.write, platform, sealing }, given);
    const account = `${shop.id}.${domain}`;
    const stored = { shopId: shop.id, account, credentials, connectedAt: new Date() };
    await store.write.begin((tx) => upsertConnection(tx, platform, stored));
    const openShop = () => {
      const backoff = noBackoff(clock);
      const connected: ConnectedShop = {
        shop: shop.id,
        account: domain,
        baseUrl: standIn.baseUrl,
        origin: 'database',
        version: '1',
        credentials: storedCredentials({ sql: store.write, platform, sealing }, shop.id),
      };
      const app = { clientId: tokens.clientId, clientSecret: tokens.clientSecret };
      const logged = createLog('debug', { write: (line) => void log.push(line) });
      const connection = connectShopify(connected, { app, clock, log: logged, backoff });
      const intake = { sql: store.write, shop, feed: 'shopify', clock, log: logged } as const;
      return {
        sync: (options = changes) => connection.sync(intake, options),
        credentials: connected.credentials,
      };
    };
    return { standIn, tokens, clock, shop, log, openShop };
  }

  /** The same world, by a token that does not end. */
  async function assertComplete(shopId: number): Promise<void> {
    const { synced, shop } = await beginSync(store, standIns);
    await syncShop(synced, everything);
    await assertSameShop(store.write, shopId, shop.id);
  }

  test('is renewed through 20 ends, and the data is complete', async () => {
    const { clock, tokens, shop, openShop } = await begin();
    const process = openShop();
    for (let each = 0; each < 20; each += 1) {
      await process.sync(each % 7 === 0 ? everything : changes);
      clock.advance(61 * minute);
    }
    assert.ok(tokens.asked >= 19, `${tokens.asked}`);
    await process.sync(everything);
    await assertComplete(shop.id);
  });

  test('is renewed in the middle of a bulk operation', async () => {
    const { standIn, clock, tokens, shop, openShop } = await begin();
    standIn.pause = async () => {
      // Each answer takes half an hour.
      clock.advance(31 * minute);
    };
    await openShop().sync();
    assert.ok(tokens.asked >= 2, `${tokens.asked}`);
    await assertComplete(shop.id);
  });

  test('that is revoked in the middle of a bulk operation is replaced', async () => {
    const { standIn, tokens, shop, openShop } = await begin();
    let answers = 0;
    standIn.pause = async () => {
      answers += 1;
      if (answers === 3 || answers === 5) tokens.revoke();
    };
    await openShop().sync();
    assert.equal(tokens.asked, 2);
    await assertComplete(shop.id);
  });

  test('is renewed after renewing has failed twice', async () => {
    const { clock, tokens, shop, openShop } = await begin();
    clock.advance(61 * minute);
    tokens.unavailable = 2;
    await openShop().sync();
    assert.equal(tokens.asked, 3);
    await assertComplete(shop.id);
  });

  test('is not lost by a process that dies after Shopify has answered', async () => {
    const { clock, tokens, shop, openShop } = await begin();
    clock.advance(61 * minute);
    const { credentials } = openShop();
    const stale = await credentials.read();
    // It used the refresh token, and never stored what it was given.
    const { status } = tokens.answer(
      String(
        new URLSearchParams({
          client_id: tokens.clientId,
          client_secret: tokens.clientSecret,
          grant_type: 'refresh_token',
          refresh_token: String(stale['refreshToken']),
        }),
      ),
    );
    assert.equal(status, 200);
    await openShop().sync();
    await assertComplete(shop.id);
  });

  test('is renewed once by processes that need it at the same time', async () => {
    const { clock, tokens, openShop } = await begin();
    clock.advance(61 * minute);
    const processes = Array.from({ length: 4 }, openShop);
    await Promise.all(processes.map((each) => each.sync()));
    assert.equal(tokens.asked, 1);
  });

  test('that Shopify no longer gives is refused with what to do, and no secret is told', async () => {
    const { clock, tokens, log, openShop } = await begin();
    const { sync, credentials } = openShop();
    const given = await credentials.read();
    await sync();
    clock.advance(61 * minute);
    tokens.revokeAll();
    const error = await sync().then(
      () => assert.fail('It was not refused.'),
      (reason: unknown) => reason as Error,
    );
    assert.ok(error instanceof CredentialsRefused);
    assert.match(error.message, /no longer accepts the refresh token; connect the shop again/);
    const told = [...log, error.stack, JSON.stringify(error)].join('\n');
    for (const secret of [given['accessToken'], given['refreshToken'], tokens.clientSecret]) {
      assert.ok(!told.includes(String(secret).slice(8)), 'a secret was told');
    }
  });
});
