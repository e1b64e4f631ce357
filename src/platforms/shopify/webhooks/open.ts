import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { ReceivedWebhook, WebhookContext, Webhooks } from '../../platform.ts';
import type { Job } from '../../webhooks/job.ts';
import { idOf } from '../../webhooks/queue.ts';
import type { LinkedShop } from '../store/shops.ts';
import { doDuty } from './duties.ts';
import { ShopDirectory } from './shop-directory.ts';
import { openSignature } from './signature.ts';
import { type Notice, destructiveTopics, readNotice } from './topics.ts';
import { uninstall } from './uninstall.ts';

const ignored = 'a webhook of Shopify was ignored';

/** Where Shopify tells what has happened in the shops. */
export async function openShopifyWebhooks(context: WebhookContext): Promise<Webhooks> {
  const { credentials, secrets, sql } = context;
  const shops = await ShopDirectory.open(
    sql,
    credentials.map(({ shop, domain }) => ({ shopId: shop, domain: String(domain) })),
  );
  return {
    openSignature: (headers) => openSignature(headers, secrets),
    take: (webhook) => take(context, shops, webhook),
    doDuty: (job) => doDuty(context, job),
  };
}

async function take(
  { sql, queue, queues, clock, log }: WebhookContext,
  shops: ShopDirectory,
  { requestId, headers, body }: ReceivedWebhook,
): Promise<'accepted' | 'malformed'> {
  const topic = header(headers, 'x-shopify-topic');
  const notice = readNotice(topic, body);
  // Sent again it would be the same: nothing is won by refusing it.
  if (notice === 'unknown') return 'accepted';
  const destroys = destructiveTopics.has(topic);
  const domain = header(headers, 'x-shopify-shop-domain').toLowerCase();
  if (notice === 'unreadable' || ('domain' in notice && notice.domain !== domain)) {
    const reason =
      notice === 'unreadable'
        ? 'The body is not what its topic promises.'
        : 'The body names another shop than the header.';
    log.error({ requestId, topic, reason }, ignored);
    return destroys ? 'accepted' : 'malformed';
  }
  const shop = await shops.find(domain, { isFresh: destroys });
  // Refused, Shopify would send it again eight times, and then stop sending to this address.
  if (!shop) {
    log.warn({ requestId }, 'a webhook came for a shop that is not in the credentials');
    return 'accepted';
  }
  const { shopId } = shop;
  const event = destroys
    ? eventOfBody(body, notice, shop)
    : idOf(domain, topic, eventOf(headers, requestId), JSON.stringify(notice.task));
  const receivedAt = new Date(clock.now());
  if (notice.queue === undefined) {
    const reason = await uninstall({ sql, log }, { ...notice, shopId, event, receivedAt });
    if (reason) log.error({ requestId, shopId, topic, reason }, ignored);
    return 'accepted';
  }
  const job: Job = { ...notice.task, shopId, topic, event, receivedAt: receivedAt.toISOString() };
  await queue.send(queues[notice.queue], job, keyOf(notice, job));
  return 'accepted';
}

/**
 * The event is the same when a webhook is sent again; where it is not named, the webhook itself is. One
 * without either is like no other.
 */
function eventOf(headers: IncomingHttpHeaders, requestId: string): string {
  const name = header(headers, 'x-shopify-event-id') || header(headers, 'x-shopify-webhook-id');
  return name || requestId;
}

/**
 * For what destroys, the same signed body is the same event. All requests to delete a shop have the same
 * body, so each belongs to the uninstall that came before it as well.
 */
function eventOfBody(body: Buffer, { task }: Notice, { uninstalledBy }: LinkedShop): string {
  const digest = hash('sha256', body);
  const isOfUninstall = task !== 'uninstall' && task.kind === 'redactShop';
  return isOfUninstall ? idOf(digest, uninstalledBy ?? '') : idOf(digest);
}

/** What is the same for jobs that are one and the same while they wait. */
function keyOf(notice: Notice, { shopId, event }: Job): string {
  return notice.queue === 'hints' ? `${shopId} ${notice.task.kind} ${notice.task.id}` : event;
}

function header(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value.trim() : '';
}
