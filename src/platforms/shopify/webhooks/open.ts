import { hash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type {
  ReceivedWebhook,
  WebhookClaim,
  WebhookContext,
  Webhooks,
} from '../../webhooks/webhooks.ts';
import { type Job, idOf } from '../../webhooks/queue.ts';
import { domainPattern } from '../api/ids.ts';
import { type LinkedShop, findShopifyShop, linkConnectedShop } from '../store/shops.ts';
import { doDuty, uninstall } from './duties.ts';
import { type Notice, isDestructive, isHint, readNotice } from './topics.ts';
import { createVersionWatch } from '../api/version.ts';

const ignored = 'webhook ignored';

/** Handles Shopify's webhooks. */
export async function openShopifyWebhooks(context: WebhookContext): Promise<Webhooks> {
  const parts = {
    ...context,
    checkVersion: createVersionWatch(context.log),
  };
  return {
    readClaim: (headers) => readClaim(headers, context.secrets),
    async handle(webhook) {
      await handle(parts, webhook);
      // Any other answer makes Shopify retry, and costs the subscription in the end.
      return 'accepted';
    },
    doDuty: (job) => doDuty(context, job),
  };
}

function readClaim(
  headers: IncomingHttpHeaders,
  secrets: readonly string[],
): WebhookClaim | undefined {
  const signature = header(headers, 'x-shopify-hmac-sha256');
  if (signature === '') return undefined;
  const domain = domainOf(headers);
  return {
    account: domainPattern.test(domain) ? domain : '',
    isSigned: (body) => isSigned(signature, secrets, body),
  };
}

interface Parts extends WebhookContext {
  readonly checkVersion: ReturnType<typeof createVersionWatch>;
}

async function handle(parts: Parts, { requestId, headers, body }: ReceivedWebhook): Promise<void> {
  const { sql, queue, queues, clock, log, checkVersion } = parts;
  const topic = header(headers, 'x-shopify-topic');
  const notice = readNotice(topic, body);
  if (notice === 'unknown') return;
  const domain = domainOf(headers);
  if (notice === 'unreadable' && isHint(topic)) {
    log.info({ requestId, topic }, 'webhook names no record; left to the next sync');
  } else if (notice === 'unreadable' || ('domain' in notice && notice.domain !== domain)) {
    const reason =
      notice === 'unreadable'
        ? 'The body does not match its topic.'
        : 'The body names a different shop than the header.';
    log.error({ requestId, topic, reason }, ignored);
    return;
  }
  const shop = await findShop(parts, domain);
  if (!shop) {
    log.warn({ requestId }, 'webhook for an unknown shop ignored');
    return;
  }
  const { shopId } = shop;
  checkVersion(shopId, header(headers, 'x-shopify-api-version'));
  if (notice === 'unreadable') return;
  const event = isDestructive(topic)
    ? eventOfBody(body, notice, shop)
    : idOf(domain, topic, eventOf(headers, requestId), JSON.stringify(notice.task));
  const receivedAt = new Date(clock.now());
  if (notice.queue === undefined) {
    const reason = await uninstall({ sql, log }, { ...notice, shopId, event, receivedAt });
    if (reason) log.error({ requestId, shopId, topic, reason }, ignored);
    return;
  }
  const job: Job = { ...notice.task, shopId, topic, event, receivedAt: receivedAt.toISOString() };
  await queue.send(queues[notice.queue], job, keyOf(notice, job));
}

/**
 * The event id stays the same when a webhook is redelivered. Without it, the webhook's own id is
 * used; without either, the webhook counts as unique.
 */
function eventOf(headers: IncomingHttpHeaders, requestId: string): string {
  const name = header(headers, 'x-shopify-event-id') || header(headers, 'x-shopify-webhook-id');
  return name || requestId;
}

/**
 * Destructive events are identified by the signed body. All requests to delete a shop have the same
 * body, so their id also includes the preceding uninstall.
 */
function eventOfBody(body: Buffer, { task }: Notice, { uninstalledBy }: LinkedShop): string {
  const digest = hash('sha256', body);
  const isOfUninstall = task !== 'uninstall' && task.kind === 'redactShop';
  return isOfUninstall ? idOf(digest, uninstalledBy ?? '') : idOf(digest);
}

/** Jobs with the same key are duplicates while they wait. */
function keyOf(notice: Notice, { shopId, event }: Job): string {
  return notice.queue === 'hints' ? `${shopId} ${notice.task.kind} ${notice.task.id}` : event;
}

function domainOf(headers: IncomingHttpHeaders): string {
  return header(headers, 'x-shopify-shop-domain').toLowerCase();
}

function header(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value.trim() : '';
}

/** The shop that has a domain now: it may have moved from another one. */
async function findShop(
  { sql, findConnected }: WebhookContext,
  domain: string,
): Promise<LinkedShop | undefined> {
  const found = await findShopifyShop(sql, domain);
  if (found) return found;
  // A signed webhook from a domain that the operator or the owner has named proves that the app is installed there.
  const shopId = await findConnected(domain);
  if (shopId === undefined) return undefined;
  await linkConnectedShop(sql, { shopId, domain });
  return findShopifyShop(sql, domain);
}

/**
 * Whether Shopify signed a body: base64 of HMAC-SHA256 over its bytes, keyed with the app's client secret.
 * @param secrets the new one and, while it is being rotated, the old one
 * @see https://shopify.dev/docs/apps/build/webhooks/subscribe/https
 */
function isSigned(signature: string, secrets: readonly string[], body: Buffer): boolean {
  // Compared as text: several base64 texts decode to the same bytes, and Shopify sends only one of them.
  const given = Buffer.from(signature);
  return secrets
    .map((secret) => {
      const expected = Buffer.from(createHmac('sha256', secret).update(body).digest('base64'));
      return expected.length === given.length && timingSafeEqual(expected, given);
    })
    .includes(true);
}
