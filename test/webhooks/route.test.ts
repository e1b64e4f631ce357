import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { listJobCounts } from '../../src/store/feeds/jobs.ts';
import type { Store } from '../../src/store/open.ts';
import { linkShopifyShop } from '../../src/platforms/shopify/store/shops.ts';
import { migrate } from '../../src/store/migrate.ts';
import { connectAll } from '../../src/store/open.ts';
import type { Service } from '../../src/service.ts';
import { until } from '../support/until.ts';
import { findPostgresPrograms, requirePostgres } from '../support/postgres.ts';
import { createShop, startTestService } from '../support/world.ts';
import { onOwnDatabases } from '../support/own-databases.ts';
import { deliverWebhook, secret, sendWebhook } from './world.ts';

const samples = path.join(import.meta.dirname, '../feeds/shopify/samples/webhooks');
const { clientSecret, vectors } = JSON.parse(
  readFileSync(path.join(samples, 'hmac-vectors.json'), 'utf8'),
) as {
  clientSecret: string;
  vectors: { file: string; headers: Record<string, string> }[];
};
const signatureHeader = 'X-Shopify-Hmac-Sha256';
const sampleDomain = 'sample-shop.myshopify.com';

onOwnDatabases('the webhook route', (open) => {
  let store: Store;
  let service: Service;
  before(async () => {
    store = open();
    service = await startTestService(store, {
      // Two secrets, as during a rotation.
      shopify: { webhookSecrets: [secret, clientSecret] },
    });
  });
  after(async () => {
    await service.close();
    await store.close();
  });

  // Again, as Shopify does, if a busy machine has not answered in time.
  const post = (body: Buffer<ArrayBuffer> | string, headers: Record<string, string>) =>
    until(
      () => fetch(`${service.baseUrl}/webhooks/shopify`, { method: 'POST', headers, body }),
      ({ status }) => status !== 503,
    );
  const read = (file: string) => readFileSync(path.join(samples, file));
  const jobs = async () =>
    (await listJobCounts(store.write)).reduce((sum, count) => sum + count.jobs, 0);

  test('accepts every sample, but none with one byte changed', async () => {
    assert.equal(vectors.length, 16);
    for (const { file, headers } of vectors) {
      const bytes = read(file);
      for (const place of [0, Math.floor(bytes.length / 2), bytes.length - 1]) {
        const changed = Buffer.from(bytes);
        changed[place] = (changed[place] as number) ^ 1;
        const { status } = await post(changed, headers);
        assert.equal(status, 401, `${file}, byte ${place}`);
      }
      assert.equal((await post(bytes, headers)).status, 200, file);
    }
    // The samples are for an unknown shop.
    assert.equal(await jobs(), 0);
  });

  test('refuses what Shopify has not signed, without details', async () => {
    const [{ file, headers }] = vectors as [(typeof vectors)[0]];
    const bytes = read(file);
    const signature = headers[signatureHeader] as string;
    const wrong = [
      '',
      ' ',
      'x',
      signature.slice(0, -1),
      `${signature}=`,
      signature.toLowerCase(),
      createHmac('sha256', 'another secret').update(bytes).digest('base64'),
      createHmac('sha256', clientSecret).update(bytes).digest('hex'),
      '='.repeat(4000),
    ];
    for (const each of wrong) {
      const response = await post(bytes, { ...headers, [signatureHeader]: each });
      assert.equal(response.status, 401, each);
      assert.deepEqual(await response.json(), { success: false, message: 'Unauthorized.' });
    }
    const { [signatureHeader]: _, ...unsigned } = headers;
    assert.equal((await post(bytes, unsigned)).status, 401);
    assert.equal((await post(`${bytes.toString()} `, headers)).status, 401);
  });

  test('refuses bodies that are too large or not JSON', async () => {
    const large = { id: 1, text: 'x'.repeat(256 * 1024) };
    const topic = 'subscription_contracts/update';
    assert.equal((await sendWebhook(service.baseUrl, sampleDomain, topic, large)).status, 413);
    const headers = { 'content-type': 'text/plain' };
    const text = await sendWebhook(service.baseUrl, sampleDomain, topic, { id: 1 }, { headers });
    assert.equal(text.status, 415);
    assert.equal((await fetch(`${service.baseUrl}/webhooks/shopify`)).status, 405);
  });

  test('accepts topics that it ignores, so that Shopify does not retry them', async () => {
    const shop = await createShop(store);
    const domain = `shop-${shop.id}.myshopify.com`;
    await linkShopifyShop(store.write, { shopId: shop.id, domain });
    for (const topic of ['orders/create', '', 'constructor', '__proto__/x']) {
      const { status } = await deliverWebhook(service.baseUrl, domain, topic, { id: 1 });
      assert.equal(status, 200, topic);
    }
    assert.equal(await jobs(), 0);
  });

  test('responds 404 if no secret is set', async () => {
    const plain = await startTestService(store);
    const body = { id: 1 };
    const topic = 'subscription_contracts/update';
    const response = await sendWebhook(plain.baseUrl, sampleDomain, topic, body);
    assert.equal(response.status, 404);
    assert.deepEqual(await response.json(), { success: false, message: 'Not found.' });
    await plain.close();
  });
});

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';

describe('the webhook route without its database', { skip, timeout: 600_000 }, () => {
  test('asks Shopify to retry, and accepts the webhook once the database is back', async () => {
    const server = await requirePostgres(['fsync=off']);
    const store = connectAll(server.url);
    await migrate(store.write);
    const shop = await createShop(store);
    const domain = `shop-${shop.id}.myshopify.com`;
    await linkShopifyShop(store.write, { shopId: shop.id, domain });
    const service = await startTestService(store, {
      shopify: { webhookSecrets: [secret] },
    });
    const send = () =>
      sendWebhook(service.baseUrl, domain, 'subscription_contracts/update', { id: 1 });
    try {
      await server.stop('crash');
      const refused = await send();
      assert.equal(refused.status, 503);
      assert.equal(refused.headers.get('retry-after'), '60');
      await server.start();
      for (let status = 503; status !== 200;) ({ status } = await send());
      // Another pool, which finds the server again by itself.
      await until(async () => (await listJobCounts(store.write).catch(() => [])).length === 1);
    } finally {
      await service.close();
      await store.close();
      await server.destroy();
    }
  });
});
