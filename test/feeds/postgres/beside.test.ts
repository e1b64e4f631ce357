import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { importShopOf } from '../../../src/ingest/apply.ts';
import { listKeepers } from '../../../src/platforms/keeper.ts';
import {
  beginShopifySync,
  completeShopifySync,
} from '../../../src/platforms/shopify/store/syncs.ts';
import { unread } from '../../../src/platforms/streams.ts';
import { rehearseSync } from '../../../src/push/upload/jobs/rehearse-sync.ts';
import { deleteConnection, upsertConnection } from '../../../src/store/feeds/platforms.ts';
import { deleteStreams, upsertStreams } from '../../../src/store/feeds/streams.ts';
import { findShop } from '../../../src/store/shops.ts';
import { run } from '../../cli/process.ts';
import { createShop } from '../../support/world.ts';
import { onMerchant } from './merchant.ts';
import { chargeStream, createTables, planStream, subscriptionStream } from './source.ts';

const streams = [chargeStream, subscriptionStream, planStream];

onMerchant('a PostgreSQL beside another platform', (at) => {
  let shop: number;
  beforeEach(async () => {
    await createTables(at.source);
    shop = (await createShop(at.store)).id;
  });

  const connect = async () => {
    const { code, err } = await run(['platforms', 'connect', 'postgres', '--shop', String(shop)], {
      env: at.env,
      input: JSON.stringify({ url: at.source.url, streams }),
    });
    assert.equal(code, 0, err);
  };
  const sync = () => run(['sync', 'postgres', '--shop', String(shop), '--once'], { env: at.env });
  const keepers = async () =>
    (await listKeepers(at.store.write, shop)).map(({ platform, types }) =>
      [platform.name, ...types.toSorted()].join(' '),
    );

  /** Another platform that has brought some types. */
  async function addStripe() {
    const [account, connectedAt] = ['acct_1', new Date()];
    const { write } = at.store;
    await write.begin((tx) =>
      upsertConnection(tx, 'stripe', { shopId: shop, account, credentials: '', connectedAt }),
    );
    const stream = unread(account, { name: 'subscriptions', types: ['plan', 'subscription'] });
    await upsertStreams(write, shop, 'stripe', [{ ...stream, readAt: connectedAt }]);
  }

  test('keeps up only what the other does not, until that is disconnected', async () => {
    await addStripe();
    await connect();
    const { code, out, err } = await sync();
    assert.equal(code, 3, err);
    assert.match(out, /0 records written, 0 deleted, 7 lines refused/);
    assert.deepEqual(await keepers(), ['stripe plan subscription', 'postgres payment']);
    await at.store.write.begin(async (tx) => {
      await deleteConnection(tx, shop, 'stripe');
      await deleteStreams(tx, shop, 'stripe');
    });
    const alone = await sync();
    assert.match(alone.out, /0 deleted, 0 lines refused/, alone.err);
    const [row] = await at.store.write<{ count: number }[]>`
      select count(*)::int as count from subscriptions where shop_id = ${shop}`;
    assert.equal(row?.count, 3);
    assert.deepEqual(await keepers(), ['postgres payment plan subscription']);
  });

  test('keeps up what it brought before Shopify', async () => {
    await connect();
    assert.equal((await sync()).code, 0);
    const now = new Date();
    await beginShopifySync(at.store.write, shop, 'a.myshopify.com');
    await completeShopifySync(at.store.write, shop, { watermark: now, reconciledAt: now });
    assert.deepEqual(await keepers(), ['shopify refund', 'postgres payment plan subscription']);
  });

  test('is rehearsed without what the other keeps up', async () => {
    await addStripe();
    const row = await findShop(at.store.write, shop);
    if (!row) throw new Error('There is no such shop.');
    const request = {
      database: at.env['DATABASE_URL'] ?? '',
      shop: importShopOf(row),
      platform: 'postgres',
      account: 'db/billing',
      baseUrl: undefined,
      version: '1',
      credentials: { shop, url: at.source.url, streams },
      sourceNetworks: ['127.0.0.0/8', '::1'],
    };
    const { signal } = new AbortController();
    const { counts, refused, failure } = await rehearseSync(request, { signal, report: () => {} });
    assert.equal(failure, undefined);
    const { stored, refused: count } = counts['subscription'] ?? {};
    assert.deepEqual([stored, count], [0, 3]);
    assert.match(refused, /its plans and subscriptions come from Stripe/);
  });
});
