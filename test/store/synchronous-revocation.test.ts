import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { apiKeys } from '../../src/access/keys/keys.ts';
import { revokeSecret, rotateSecret } from '../../src/access/secrets.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { linkShopifyShop } from '../../src/platforms/shopify/store/shops.ts';
import { uninstall } from '../../src/platforms/shopify/webhooks/duties.ts';
import { type Running, launch, run, runProcess } from '../cli/process.ts';
import { signedInOwner } from '../owner/visitor.ts';
import { type PostgresServer, findPostgresPrograms, requirePostgres } from '../support/postgres.ts';
import { onServer } from '../support/replication.ts';
import { makeSynchronous, waitingForStandby } from '../support/synchronous.ts';
import { until } from '../support/until.ts';
import { createShop, createTestKey, get, silentLog, startTestService } from '../support/world.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';

describe('a revocation with a synchronous standby', { skip, timeout: 600_000 }, () => {
  let primary: PostgresServer;
  let standby: PostgresServer;
  let store: Store;
  /** Keys that were revoked or rotated, and their replacements. */
  const ended: string[] = [];
  const live: string[] = [];

  before(async () => {
    primary = await requirePostgres(['fsync=off']);
    standby = await primary.startReplica();
    // No other commit of the service waits for the standby.
    await onServer(primary.url, 'alter role postgres set synchronous_commit = off');
    store = connectAll(primary.url);
    await makeSynchronous({ primary, standby });
  });
  after(async () => {
    await store.close();
    for (const server of [standby, primary]) await server.destroy();
  });

  const frozen = <Result>(work: () => Promise<Result>, waiting?: () => Promise<unknown>) =>
    waitingForStandby({ primary, standby }, work, waiting);
  const ending = () => ({ sql: store.write, clock: systemClock, log: silentLog });
  const retention = async (...args: string[]) => {
    const { code, out, err } = await run(args, {
      env: { DATABASE_URL: primary.url, LOG_LEVEL: 'warn' },
    });
    assert.equal(code, 0, err);
    return { out, err };
  };

  async function createShopWithKeys() {
    const shop = await createShop(store);
    const [first, second] = [
      await createTestKey(store, shop.id),
      await createTestKey(store, shop.id),
    ];
    const domain = `shop-${randomUUID()}.myshopify.com`;
    await linkShopifyShop(store.write, { shopId: shop.id, domain });
    return { shop, id: String(shop.id), domain, first, second };
  }

  test('keys revoke returns once the standby has the change, and says what it waits for', async () => {
    const { id, first, second } = await createShopWithKeys();
    const env = { DATABASE_URL: primary.url, LOG_LEVEL: 'warn' };
    let command: Running | undefined;
    const revoked = await frozen(
      () => (command = launch(['keys', 'revoke', '--shop', id, first.id], { env })).ended,
      async () => command?.logged(/^The database has not confirmed the revocation yet\. /),
    );
    assert.deepEqual([revoked.code, revoked.out], [0, `Key ${first.id} is revoked.\n`]);
    assert.doesNotMatch(revoked.err, /asynchronous/);
    ended.push(first.key);
    live.push(second.key);
  });

  test('keys revoke fails if its wait for the standby is cancelled, and can be run again', async () => {
    const { id, first, second } = await createShopWithKeys();
    const env = { DATABASE_URL: primary.url, LOG_LEVEL: 'warn' };
    standby.freeze();
    const command = launch(['keys', 'revoke', '--shop', id, first.id], { env });
    const cancel = () =>
      onServer(
        primary.url,
        "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'",
      );
    await until(cancel, ({ length }) => length === 1);
    const cancelled = await command.ended;
    standby.thaw();
    assert.deepEqual([cancelled.code, cancelled.out], [1, '']);
    assert.match(
      cancelled.err,
      /^retention: The server stopped waiting for its synchronous standby\..* a failover can undo it\. Run the command again/m,
    );
    await retention('keys', 'revoke', '--shop', id, first.id);
    ended.push(first.key);
    live.push(second.key);
  });

  test('viewing a page does not wait for the standby', async () => {
    const { shop } = await createShopWithKeys();
    const url = `${primary.url}?synchronous_commit=on`;
    const waiting = connectAll(url);
    const service = await startTestService(waiting, { clock: systemClock });
    const { visitor } = await signedInOwner({ store: waiting, clock: systemClock, service, shop });
    // Makes the service update when the session was last seen.
    await onServer(primary.url, "update owners.sessions set seen_at = now() - interval '1 hour'");
    standby.freeze();
    const page = await visitor.get(`/app/shops/${shop.id}/keys`);
    standby.thaw();
    assert.equal(page.status, 200);
    await service.close();
    await waiting.close();
  });

  test('a standby is refused as the database, even if it is the only host', async () => {
    const { code, out } = await run(['doctor'], { env: { DATABASE_URL: standby.url } });
    assert.equal(code, 1);
    assert.match(out, /^FAIL? *database: .*it is a standby/im);
    const served = await runProcess(['serve'], { env: { DATABASE_URL: standby.url, PORT: '0' } });
    assert.equal(served.code, 1);
    assert.match(served.err, /it is a standby/);
  });

  test('revoking a key waits for the standby, even if it was revoked before', async () => {
    const { shop, first, second } = await createShopWithKeys();
    const key = { shopId: shop.id, id: first.id, actor: { who: 'command line' } };
    const revoke = () => revokeSecret(apiKeys, ending(), key);
    assert.deepEqual([await frozen(revoke), await frozen(revoke)], [true, true]);
    ended.push(first.key);
    live.push(second.key);
  });

  test('a rotation waits for the standby, with and without an overlap', async () => {
    const { shop, first, second } = await createShopWithKeys();
    const rotate = (id: string, overlapMilliseconds: number) => () =>
      rotateSecret(
        apiKeys,
        ending(),
        { shopId: shop.id, id, actor: { who: 'command line' } },
        { newId: apiKeys.newId(), newExpiresAt: null, overlapMilliseconds },
      );
    const now = await frozen(rotate(first.id, 0));
    const later = await frozen(rotate(second.id, 86_400_000));
    assert.ok(now.kind === 'created' && later.kind === 'created');
    ended.push(first.key);
    live.push(second.key, now.secret, later.secret);
  });

  test('an uninstall waits for the standby, even if its webhook is delivered again', async () => {
    const { shop, domain, first, second } = await createShopWithKeys();
    const told = {
      shopId: shop.id,
      domain,
      event: randomUUID(),
      updatedAt: null,
      receivedAt: new Date(),
    };
    const parts = { sql: store.jobs, log: silentLog };
    assert.equal(await frozen(() => uninstall(parts, told)), undefined);
    assert.equal(await frozen(() => uninstall(parts, told)), undefined);
    ended.push(first.key, second.key);
  });

  test('shopify uninstalled waits for the standby', async () => {
    const { id, first, second } = await createShopWithKeys();
    await frozen(() => retention('shopify', 'uninstalled', '--shop', id));
    ended.push(first.key, second.key);
  });

  test('doctor reports that revocations wait, and a missing standby', async () => {
    const doctor = async () => (await run(['doctor'], { env: { DATABASE_URL: primary.url } })).out;
    assert.match(await doctor(), /^ok {4}failover: revocations wait for a synchronous standby$/m);
    await standby.stop();
    const alone = await until(doctor, (out) => /^warn {2}failover/m.test(out));
    assert.match(alone, /^warn {2}failover: synchronous_standby_names is set, but no standby is/m);
    await standby.start();
  });

  // Must be the last test: it stops the primary.
  test('refuses all of these keys after a failover', async () => {
    await store.close();
    await primary.stop('crash');
    await onServer(standby.url, 'select pg_promote()');
    store = connectAll(standby.url);
    const service = await startTestService(store, { clock: systemClock });
    const send = (keys: readonly string[]) =>
      Promise.all(
        keys.map(
          async (key) => (await get(`${service.baseUrl}/api/external/v1/plans`, key)).status,
        ),
      );
    const statuses = [await send(ended), await send(live)];
    await service.close();
    assert.deepEqual(statuses, [ended.map(() => 401), live.map(() => 200)]);
    assert.deepEqual([ended.length, live.length], [8, 6]);
  });
});
