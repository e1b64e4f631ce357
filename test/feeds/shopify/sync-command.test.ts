import { listFeeds } from '../../../src/store/feeds/feeds.ts';
import { deleteSyncStates } from '../../../src/store/feeds/platforms.ts';
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { storeBulkResults } from '../../../src/platforms/shopify/sync/intake.ts';
import { type Store, connectAll } from '../../../src/store/open.ts';
import { ShopLocks } from '../../../src/store/locks.ts';
import { assertSameShop, dumpShop } from '../../model/dump.ts';
import { launch, migratedFolder, newShopId, run, throwawayFolder } from '../../cli/process.ts';
import { serverUrl } from '../../support/databases.ts';
import { type OwnDatabase, createServerDatabase } from '../../support/own-databases.ts';
import { until } from '../../support/until.ts';
import { type TestShop, createShop } from '../../support/world.ts';
import { type StandIn, startStandIn } from './stand-in.ts';
import { sampleWorld, sourcesOf } from './stand-in-world.ts';
import { domain, syncedShop } from './synced.ts';

/** Of its own: the command syncs all shops that are connected in its database. */
let database: OwnDatabase;
let target = '';
const skip = serverUrl === undefined && 'PostgreSQL is not available on this machine';

interface Entry {
  readonly shop: number;
  readonly domain: string;
  readonly accessToken: string;
  readonly baseUrl: string;
}

function entryOf(shop: { readonly id: number }, { accessToken, baseUrl }: StandIn): Entry {
  return { shop: shop.id, domain, accessToken, baseUrl };
}

/** The environment of a process with these credentials. */
function envOf(entries: readonly Entry[], more: Readonly<Record<string, string>> = {}) {
  const file = path.join(throwawayFolder(), 'shopify.json');
  writeFileSync(file, JSON.stringify({ shops: entries }));
  chmodSync(file, 0o600);
  return { DATABASE_URL: target, SHOPIFY_CREDENTIALS_FILE: file, ...more };
}

describe('retention sync shopify', { skip }, () => {
  let store: Store;
  const standIns: StandIn[] = [];
  before(async () => {
    database = await createServerDatabase();
    ({ target } = database);
    store = connectAll(target);
  });
  after(async () => {
    await store.close();
    await database.drop();
    for (const standIn of standIns) await standIn.close();
  });

  async function begin() {
    const standIn = await startStandIn(sampleWorld());
    standIn.bulk.polls = 1;
    standIns.push(standIn);
    return { standIn, shop: await createShop(store) };
  }

  /** Another shop, with Shopify's current data imported as from files. */
  async function imported(standIn: StandIn): Promise<TestShop> {
    const shop = await createShop(store);
    await storeBulkResults(syncedShop(store, shop, standIn).synced, sourcesOf(standIn.world));
    return shop;
  }

  test('--once reads everything first and then changes, and shows no token', async () => {
    const { standIn, shop } = await begin();
    const env = envOf([entryOf(shop, standIn)], { LOG_LEVEL: 'debug' });
    const first = await run(['sync', 'shopify', '--once'], { env });
    assert.deepEqual(
      [first.code, first.out],
      [
        3,
        `Shop ${shop.id}: read all 11 contracts; 36 records written, 0 deleted, 3 lines refused.\n`,
      ],
    );
    const lines = first.err.split('\n').filter((line) => line.includes('"shop synced"'));
    assert.equal(lines.length, 1);
    const { time: _, durationMs, ...line } = JSON.parse(lines[0] ?? '');
    assert.equal(typeof durationMs, 'number');
    assert.deepEqual(line, {
      level: 'info',
      shop: shop.id,
      platform: 'shopify',
      account: domain,
      kind: 'whole',
      written: 36,
      refused: 3,
      deleted: 0,
      contracts: 11,
      queries: 4,
      cost: 40,
      msg: 'shop synced',
    });
    await assertSameShop(store.write, shop.id, (await imported(standIn)).id);

    const completedAt = async () => (await listFeeds(store.write, shop.id))[0]?.completedAt ?? 0;
    const completedBefore = await completedAt();
    assert.ok(Number(completedBefore) > 0);
    const second = await run(['sync', 'shopify', '--once'], { env });
    const none = 'read 0 changed contracts; 0 records written, 0 deleted, 0 lines refused.';
    assert.deepEqual([second.code, second.out], [0, `Shop ${shop.id}: ${none}\n`]);
    assert.ok((await completedAt()) > completedBefore);
    const third = await run(['sync', 'shopify', '--full'], { env });
    const same = 'read all 11 contracts; 0 records written, 0 deleted, 3 lines refused.';
    assert.deepEqual([third.code, third.out], [3, `Shop ${shop.id}: ${same}\n`]);
    const doctor = await run(['doctor'], { env });
    assert.match(doctor.out, new RegExp(`^ok {4}shopify credentials: shop ${shop.id}$`, 'm'));
    // As if the shop had been missing from the file for a while.
    await deleteSyncStates(store.write, [shop.id], 'shopify');
    const again = await run(['sync', 'shopify', '--once'], { env });
    assert.deepEqual([again.code, again.out], [3, `Shop ${shop.id}: ${same}\n`]);
    const shown = [first, second, third, again, doctor].map(({ out, err }) => out + err).join('');
    assert.ok(!shown.includes(standIn.accessToken) && !shown.includes('Signature'));
  });

  test('syncs the other shops if one fails, and says why it failed', async () => {
    const [refused, missing, healthy] = [await begin(), await begin(), await begin()];
    refused.standIn.status = 401;
    const entries = [
      entryOf(refused.shop, refused.standIn),
      { ...entryOf({ id: Number(newShopId()) }, missing.standIn), domain: 'b.myshopify.com' },
      { ...entryOf(healthy.shop, healthy.standIn), domain: 'c.myshopify.com' },
    ];
    const env = envOf(entries, { LOG_LEVEL: 'silent' });
    const { code, out, err } = await run(['sync', 'shopify', '--once'], { env });
    assert.deepEqual(
      [code, out, err],
      [
        1,
        `Shop ${healthy.shop.id}: read all 11 contracts; 36 records written, 0 deleted, 3 lines refused.\n`,
        `retention: shop ${refused.shop.id}: ${domain} does not accept the access token. Put a valid one into SHOPIFY_CREDENTIALS_FILE.\n` +
          `retention: shop ${entries[1]?.shop}: There is no shop ${entries[1]?.shop}; "retention shops create" creates one.\n`,
      ],
    );
    const only = await run(['sync', 'shopify', '--once', '--shop', String(healthy.shop.id)], {
      env,
    });
    assert.deepEqual([only.code, only.err], [0, '']);
    const other = await run(['sync', 'shopify', '--once', '--shop', '12'], { env });
    assert.deepEqual(
      [other.code, other.err],
      [2, 'retention: Shop 12 is not connected to Shopify.\n'],
    );
  });

  test('refuses a shop that another process is syncing', async () => {
    const { standIn, shop } = await begin();
    const config = { databaseUrl: target, dataDir: '' };
    const unlock = await new ShopLocks(store.write, config).lock('sync', shop.id);
    assert.ok(unlock);
    const env = envOf([entryOf(shop, standIn)], { LOG_LEVEL: 'silent' });
    const { code, err } = await run(['sync', 'shopify', '--once'], { env });
    assert.deepEqual(
      [code, err],
      [
        1,
        `retention: shop ${shop.id}: Another process is already syncing shop ${shop.id}; wait until it finishes.\n`,
      ],
    );
    assert.deepEqual(standIn.requests, []);
    await unlock();
    assert.equal((await run(['sync', 'shopify', '--once'], { env })).code, 3);
  });

  test('syncs until a signal, and stops cleanly at any time', async () => {
    const { standIn, shop } = await begin();
    const env = envOf([entryOf(shop, standIn)], { LOG_LEVEL: 'info' });
    const running = launch(['sync', 'shopify', '--interval', '1'], { env });
    const changesRead = () => standIn.requests.filter((name) => name === 'ChangedContracts').length;
    // A process starts, reads the whole shop, and then its changes twice.
    await until(changesRead, (count) => count >= 2, { minutes: 3 });
    for (const { node } of standIn.world.contracts.values()) {
      node['nextBillingDate'] = '2027-03-01T00:00:00Z';
      node['updatedAt'] = new Date().toISOString();
      break;
    }
    await until(() => standIn.requests.includes('Contract'));
    running.child.kill('SIGTERM');
    const { code, signal, err } = await running.ended;
    assert.deepEqual([code, signal], [0, null], err);
    assert.match(err, /"signal":"SIGTERM","msg":"stopping"/);

    // Also while it waits for a bulk query; then what was asked for is not done.
    standIn.bulk.polls = 1000;
    const waiting = launch(['sync', 'shopify', '--full'], { env });
    await until(() => standIn.bulk.operations[0]?.status === 'RUNNING');
    waiting.child.kill('SIGINT');
    assert.equal((await waiting.ended).code, 130);
  });

  test('stores the same after being killed at random moments and run again', async () => {
    const { standIn, shop } = await begin();
    const env = envOf([entryOf(shop, standIn)], { LOG_LEVEL: 'error' });
    const { world } = standIn;
    let kills = 0;
    for (let time = 0; time < 3; time += 1) {
      standIn.requests.length = 0;
      const { child, ended } = launch(['sync', 'shopify', '--interval', '1'], { env });
      // During the first full sync, or while reading changes.
      const requestsBeforeKill = randomInt(1, time < 2 ? 6 : 12);
      await until(() => child.exitCode !== null || standIn.requests.length >= requestsBeforeKill);
      await sleep(randomInt(0, 150));
      child.kill('SIGKILL');
      if ((await ended).signal === 'SIGKILL') kills += 1;
      for (const id of [1001, 1006, 1007, 1008, 1011]) {
        const { node } = world.contracts.get(`gid://shopify/SubscriptionContract/${id}`) ?? {};
        assert.ok(node);
        node['nextBillingDate'] = `2027-01-0${time + 1}T00:00:00Z`;
        node['updatedAt'] = new Date().toISOString();
      }
    }
    assert.equal(kills, 3);
    // The first may only finish what a killed one began: a bulk query from before the last changes.
    for (let turn = 0; turn < 2; turn += 1) {
      // The lock of a killed process is held until PostgreSQL notices that its connection is gone.
      await until(async () => {
        const { code, err } = await run(['sync', 'shopify', '--once'], { env });
        if (err.includes('Another process is already syncing')) return false;
        assert.notEqual(code, 1, err);
        return true;
      });
    }
    await assertSameShop(store.write, shop.id, (await imported(standIn)).id);
  });

  test('refuses invalid options and missing credentials', async () => {
    const { standIn, shop } = await begin();
    const env = envOf([entryOf(shop, standIn)]);
    const cases = [
      [['--interval', '0'], env, '--interval must be whole seconds from 1 to 86400, not "0".'],
      [['--interval', 'x'], env, '--interval must be whole seconds from 1 to 86400, not "x".'],
      [
        [],
        { DATABASE_URL: target },
        'No shop can be connected to Shopify: set SHOPIFY_CREDENTIALS_FILE, which names the file with the shops and their credentials, or CREDENTIALS_KEY for those that are connected in the database.',
      ],
    ] as const;
    for (const [args, environment, sentence] of cases) {
      const { code, err } = await run(['sync', 'shopify', ...args], { env: environment });
      assert.deepEqual([code, err], [2, `retention: ${sentence}\n`]);
    }
    assert.equal((await dumpShop(store.write, shop.id))['plans']?.length, 0);
  });
});

test('one process at a time syncs a shop in the embedded database, also beside serve', async () => {
  const dataDir = migratedFolder();
  const standIn = await startStandIn(sampleWorld());
  standIn.bulk.polls = 1;
  const env = {
    ...envOf([entryOf({ id: 7 }, standIn)], { RETENTION_DATA_DIR: dataDir, LOG_LEVEL: 'silent' }),
    DATABASE_URL: '',
  };
  try {
    const create = ['shops', 'create', '--id', '7', '--name', 'x', '--currency', 'USD'];
    assert.equal((await run(create, { env })).code, 0);
    standIn.bulk.polls = 1000;
    const first = launch(['sync', 'shopify'], { env });
    await until(() => standIn.requests.includes('BulkOperation'));
    const second = await run(['sync', 'shopify', '--once'], { env });
    assert.deepEqual(
      [second.code, second.err],
      [
        1,
        'retention: shop 7: Another process is already syncing shop 7; wait until it finishes.\n',
      ],
    );
    first.child.kill('SIGKILL');
    await first.ended;
    standIn.bulk.polls = 1;
    const next = await run(['sync', 'shopify', '--once', '--interval', '2'], { env });
    assert.equal(next.code, 3);
    // The second process resumed the bulk operation of the first.
    assert.equal(standIn.bulk.operations.length, 2);

    // Between two syncs it closes the database, and then joins a process that has opened it.
    const looping = launch(['sync', 'shopify', '--interval', '2'], { env });
    await until(() => standIn.requests.includes('ChangedContracts'));
    // Its own syncs would be due at its own interval.
    const server = launch(['serve'], { env: { ...env, PORT: '0', SYNC: 'off' } });
    await server.said(/listens on/);
    standIn.requests.length = 0;
    await until(() => standIn.requests.includes('ChangedContracts'));
    server.child.kill('SIGTERM');
    assert.equal((await server.ended).code, 0);
    standIn.requests.length = 0;
    await until(() => standIn.requests.includes('ChangedContracts'));
    looping.child.kill('SIGTERM');
    assert.equal((await looping.ended).code, 0);
  } finally {
    await standIn.close();
  }
});
