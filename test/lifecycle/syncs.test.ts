import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/log/log.ts';
import { platforms } from '../../src/platforms/registry.ts';
import { startSyncs } from '../../src/platforms/sync/start.ts';
import { insertShop } from '../../src/store/shops.ts';
import { launchServer, migratedFolder, run, throwawayFolder } from '../cli/process.ts';
import { type StandIn, startStandIn } from '../feeds/shopify/stand-in.ts';
import { sampleWorld } from '../feeds/shopify/stand-in-world.ts';
import { domain } from '../feeds/shopify/synced.ts';
import { type PostgresServer, findPostgresPrograms, requirePostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { inDatabase } from './shop-with-key.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';

describe('the syncs of a server', { timeout: 600_000 }, () => {
  const standIns: StandIn[] = [];
  const servers: PostgresServer[] = [];
  let postgres = '';
  before(async () => {
    if (skip !== false) return;
    const server = await requirePostgres(['fsync=off']);
    servers.push(server);
    postgres = server.url;
  });
  after(async () => {
    for (const each of standIns) await each.close();
    for (const each of servers) await each.destroy();
  });

  let shops = 0;
  /** A shop, its Shopify, and the settings that connect them. */
  async function begin(database: Record<string, string>) {
    const standIn = await startStandIn(sampleWorld());
    standIn.bulk.polls = 1;
    standIns.push(standIn);
    const shop = (shops += 1);
    const createdAt = new Date();
    await inDatabase(database, (sql) =>
      insertShop(sql, { id: shop, name: 'x', tier: 'growth', currency: 'USD', createdAt }),
    );
    const { accessToken, baseUrl } = standIn;
    const file = path.join(throwawayFolder(), 'shopify.json');
    const entry = { shop, domain: `${shop}-${domain}`, accessToken, baseUrl };
    const credentials = JSON.stringify({ shops: [entry] });
    writeFileSync(file, credentials);
    return {
      standIn,
      shop,
      file,
      credentials,
      env: { ...database, SHOPIFY_CREDENTIALS_FILE: file },
    };
  }

  // The embedded database, which must stay open until they have stopped. On PostgreSQL, the one beside SYNC=off runs.
  const embedded = () => ({ RETENTION_DATA_DIR: migratedFolder() });

  test('run by themselves', async () => {
    const { shop, env } = await begin(embedded());
    const server = await launchServer('serve', env);
    const [line] = await server.logged(/.*"msg":"shop synced".*/);
    const { shop: synced, kind, contracts } = JSON.parse(line);
    assert.deepEqual([synced, kind, contracts], [shop, 'whole', 11]);
    const status = await run(['feeds', 'status', '--shop', String(shop), '--json'], { env });
    const [feed] = JSON.parse(status.out);
    assert.deepEqual([feed.feed, feed.problem, feed.pausedSince], ['shopify', null, null]);
    assert.notEqual(feed.completedAt, null);
    server.child.kill('SIGTERM');
    assert.equal((await server.ended).code, 0);
  });

  test('stop in the middle', async () => {
    const { standIn, shop, env } = await begin(embedded());
    // Shopify works on a bulk query for ever, or accepts requests and never answers.
    standIn.bulk.polls = 1e9;
    for (const isSilent of [false, true]) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const asked = standIn.requests.length;
      const server = await launchServer('serve', { ...env, STOP_SECONDS: '60' });
      await until(() => standIn.requests.length > asked);
      if (isSilent) standIn.pause = () => promise;
      await until(() => standIn.requests.slice(asked).includes('BulkOperation'));
      server.child.kill('SIGTERM');
      const { code, signal, err } = await server.ended;
      assert.deepEqual([code, signal], [0, null], err);
      assert.doesNotMatch(err, /took too long|in time|"level":"error"|"shop synced"/);
      resolve();
      standIn.pause = async () => {};
    }
    // What was stopped leaves the shop to the next.
    standIn.bulk.polls = 1;
    const args = ['sync', 'shopify', '--once', '--shop', String(shop)];
    assert.match((await run(args, { env })).out, /^Shop \d+: read all 11 contracts; /);
  });
  test('do not run with SYNC=off', { skip }, async () => {
    const [off, on] = [
      await begin({ DATABASE_URL: postgres }),
      await begin({ DATABASE_URL: postgres }),
    ];
    const silent = await launchServer('serve', { ...off.env, SYNC: 'off' });
    // The other server starts later, so the first would have been done by then.
    const server = await launchServer('serve', on.env);
    await server.logged(/"msg":"shop synced"/);
    assert.deepEqual(off.standIn.requests, []);
    for (const { child, ended } of [silent, server]) {
      child.kill('SIGTERM');
      assert.equal((await ended).code, 0);
    }
  });

  const configOf = (env: Record<string, string>) =>
    parseConfig(
      { LOG_LEVEL: 'silent', ...env },
      platforms.map(({ settings }) => settings),
    );

  function capturedLog() {
    const lines: string[] = [];
    return { lines, log: createLog('info', { write: (line) => void lines.push(line) }) };
  }

  test('start again after their thread has died', { skip }, async () => {
    const { standIn, file, credentials, env } = await begin({ DATABASE_URL: postgres });
    const { lines, log } = capturedLog();
    writeFileSync(file, 'not JSON');
    const syncs = startSyncs(configOf(env), log);
    assert.ok(syncs);
    await until(() => lines.length > 0);
    const { level, msg } = JSON.parse(lines[0] ?? '');
    assert.deepEqual([level, msg], ['error', 'the thread that syncs shops died; starting another']);
    assert.deepEqual(standIn.requests, []);
    writeFileSync(file, credentials);
    await until(() => standIn.requests.includes('RunBulkQuery'));
    await syncs.close(new AbortController().signal);
  });

  test('are ended at the deadline, wherever they are', { skip }, async () => {
    const { standIn, env } = await begin({ DATABASE_URL: postgres });
    standIn.bulk.polls = 1e9;
    const { lines, log } = capturedLog();
    const syncs = startSyncs(configOf(env), log);
    await until(() => standIn.requests.includes('BulkOperation'));
    await syncs?.close(AbortSignal.abort());
    assert.match(lines.join(''), /"msg":"syncs did not stop in time and were ended/);
  });

  test('stop while their thread dies', async () => {
    const { lines, log } = capturedLog();
    const file = path.join(throwawayFolder(), 'shopify.json');
    const env = { DATABASE_URL: 'postgres://user@127.0.0.1:1/x', SHOPIFY_CREDENTIALS_FILE: file };
    const syncs = startSyncs(configOf(env), log);
    await syncs?.close(new AbortController().signal);
    assert.match(lines.join(''), /^[^\n]*the thread that syncs shops died[^\n]*\n$/);
  });

  test('do not start without a way to connect a shop, or with SYNC=off', () => {
    const { log } = capturedLog();
    const file = { SHOPIFY_CREDENTIALS_FILE: '/nowhere' };
    for (const env of [{}, { ...file, SYNC: 'off' }]) {
      assert.equal(startSyncs(configOf(env), log), undefined);
    }
  });
});
