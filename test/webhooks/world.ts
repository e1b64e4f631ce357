import { createHmac, randomUUID } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../../src/clock.ts';
import type { Log } from '../../src/log/log.ts';
import type { Service } from '../../src/service.ts';
import { listJobCounts } from '../../src/store/feeds/jobs.ts';
import type { Store } from '../../src/store/open.ts';
import { type StandIn, startStandIn } from '../feeds/shopify/stand-in.ts';
import { StandInWorld } from '../feeds/shopify/stand-in-world.ts';
import { until } from '../support/until.ts';
import { type TestShop, createShop, startTestService } from '../support/world.ts';

export const secret = 'hush_made_up_for_tests';

/** A shop and its Shopify domain. */
export interface ShopAtShopify {
  readonly shop: TestShop;
  readonly domain: string;
}

export async function createShopAtShopify(store: Store): Promise<ShopAtShopify> {
  return { shop: await createShop(store), domain: `shop-${randomUUID()}.myshopify.com` };
}

export function writeCredentials(
  shops: readonly { readonly shop: { readonly id: number }; readonly domain: string }[],
  { baseUrl, accessToken }: StandIn,
): string {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'retention-test-')), 'shopify.json');
  const entries = shops.map(({ shop, domain }) => ({
    shop: shop.id,
    domain,
    accessToken,
    baseUrl,
  }));
  writeFileSync(file, JSON.stringify({ shops: entries }));
  return file;
}

interface SendOptions {
  /** The event id; a new one by default. */
  readonly event?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a signed webhook as Shopify does. @param body may be text, as it is sent */
export async function sendWebhook(
  baseUrl: string,
  domain: string,
  topic: string,
  body: object | string,
  { event = randomUUID(), headers = {} }: SendOptions = {},
): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(`${baseUrl}/webhooks/shopify`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-shopify-topic': topic,
      'x-shopify-shop-domain': domain,
      'x-shopify-event-id': event,
      'x-shopify-webhook-id': randomUUID(),
      'x-shopify-hmac-sha256': createHmac('sha256', secret).update(text).digest('base64'),
      ...headers,
    },
    body: text,
  });
}

/** The same as Shopify does it: again while the answer is 503, as it is while a busy machine opens the job queue. */
export function deliverWebhook(
  baseUrl: string,
  domain: string,
  topic: string,
  body: object | string,
  options: SendOptions = {},
): Promise<Response> {
  const sending = { event: randomUUID(), ...options };
  return until(
    () => sendWebhook(baseUrl, domain, topic, body, sending),
    ({ status }) => status !== 503,
  );
}

/** Waits until no job is queued, running or due for a retry. */
export async function untilQuiet(store: Store): Promise<void> {
  await until(async () =>
    (await listJobCounts(store.write)).every(({ state }) => state === 'failed'),
  );
}

/** A service that receives webhooks, a stand-in for Shopify, and two new shops. */
export async function startWebhookWorld(
  store: Store,
  {
    log,
    source = new StandInWorld(),
    secretScanningKeysUrl,
  }: { log?: Log; source?: StandInWorld; secretScanningKeysUrl?: string } = {},
) {
  const standIn = await startStandIn(source);
  const shops = [await createShopAtShopify(store), await createShopAtShopify(store)] as const;
  const shopify = {
    webhookSecrets: [secret],
    credentialsFile: writeCredentials(shops, standIn),
  };
  const services: Service[] = [];
  const startService = async () => {
    const service = await startTestService(store, {
      clock: systemClock,
      shopify,
      secretScanningKeysUrl,
      ...(log && { log }),
    });
    services.push(service);
    return service;
  };
  const service = await startService();
  const [{ shop, domain }, other] = shops;
  return {
    store,
    service,
    startService,
    shop,
    domain,
    other,
    standIn,
    source: standIn.world,
    send: (topic: string, body: object | string, options?: SendOptions) =>
      deliverWebhook(service.baseUrl, domain, topic, body, options),
    async close() {
      for (const each of services) await each.close();
      await standIn.close();
    },
  };
}
