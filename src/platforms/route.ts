import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import { type Answer, json, refuse } from '../http/answer.ts';
import { type Body, readBody } from '../http/body.ts';
import type { Route } from '../http/shell.ts';
import type { Log } from '../log.ts';
import type { Sql } from '../store/database.ts';
import type { LinkedShop } from './shopify/store/shops.ts';
import { type Facts, type WebhookQueue, idOf } from './queue.ts';
import type { ShopDirectory } from './shop-directory.ts';
import { createSignatureCheck } from './shopify/webhooks/signature.ts';
import { type Notice, destructiveTopics, readNotice } from './shopify/webhooks/topics.ts';
import { uninstall } from './shopify/webhooks/uninstall.ts';

interface RouteParts {
  /** Any of them may have signed. */
  readonly secrets: readonly string[];
  /** The jobs' own connections. */
  readonly sql: Sql;
  readonly shops: ShopDirectory;
  readonly queue: WebhookQueue;
  readonly clock: Clock;
  readonly log: Log;
}

/** Those that are followed have far less. */
const maxBytes = 256 * 1024;
/** Of one instance: bodies that are not verified yet, all together. */
const maxUnverifiedBytes = 8 * 1024 * 1024;
/** What a part of a body takes in memory besides its bytes: a client may send one byte at a time. */
const bytesPerPart = 512;
/** Webhooks of one instance that wait for the database. Shopify sends the others again. */
const mostAtOnce = 100;
/** Shopify waits for five seconds. */
const timeoutMilliseconds = 4_000;

const taken: Answer = { status: 200, headers: json, body: '{"success":true}' };
const ignored = 'a webhook of Shopify was ignored';
const unauthorized = () => refuse(401, 'Unauthorized.');
const later = (headers: Readonly<Record<string, string>> = {}) =>
  refuse(503, 'Try again later.', { 'retry-after': '60', ...headers });

/** Where Shopify tells what has happened in the shops. */
export function webhookRoute(parts: RouteParts): Route {
  const { secrets, log } = parts;
  let unverifiedBytes = 0;
  let waiting = 0;

  /** The body, if Shopify has signed it. Hashed while it arrives; until then it counts as unverified. */
  async function receive(request: FastifyRequest, signature: string): Promise<Body> {
    const check = createSignatureCheck(secrets);
    let held = 0;
    try {
      const body = await readBody(request, {
        contentType: 'application/json',
        maxBytes,
        receive(part) {
          const cost = part.length + bytesPerPart;
          // The rest is not worth receiving, and without it the connection is of no use.
          if (unverifiedBytes + cost > maxUnverifiedBytes) return later({ connection: 'close' });
          unverifiedBytes += cost;
          held += cost;
          check.update(part);
          return undefined;
        },
      });
      return 'refusal' in body || check.matches(signature) ? body : { refusal: unauthorized() };
    } finally {
      unverifiedBytes -= held;
    }
  }

  return {
    method: 'POST',
    url: '/webhooks/shopify',
    async handle(request) {
      const signature = header(request, 'x-shopify-hmac-sha256');
      if (signature === '') return unauthorized();
      const body = await receive(request, signature);
      if ('refusal' in body) return body.refusal;
      if (waiting >= mostAtOnce) return later();
      waiting += 1;
      try {
        return await inTime(take(parts, request, body.bytes));
      } catch (err) {
        log.error({ requestId: request.id, err }, 'a webhook could not be stored');
        return later();
      } finally {
        waiting -= 1;
      }
    },
  };
}

async function take(parts: RouteParts, request: FastifyRequest, body: Buffer): Promise<Answer> {
  const { sql, shops, queue, clock, log } = parts;
  const topic = header(request, 'x-shopify-topic');
  const notice = readNotice(topic, body);
  // Sent again it would be the same: nothing is won by refusing it.
  if (notice === 'unknown') return taken;
  const destroys = destructiveTopics.has(topic);
  const domain = header(request, 'x-shopify-shop-domain').toLowerCase();
  if (notice === 'unreadable' || ('domain' in notice && notice.domain !== domain)) {
    const reason =
      notice === 'unreadable'
        ? 'The body is not what its topic promises.'
        : 'The body names another shop than the header.';
    log.error({ requestId: request.id, topic, reason }, ignored);
    return destroys ? taken : refuse(400, 'The body is not what its topic promises.');
  }
  const shop = await shops.find(domain, { isFresh: destroys });
  // Refused, Shopify would send it again eight times, and then stop sending to this address.
  if (!shop) {
    log.warn({ requestId: request.id }, 'a webhook came for a shop that is not in the credentials');
    return taken;
  }
  const { shopId } = shop;
  const event = destroys
    ? eventOfBody(body, notice, shop)
    : idOf(domain, topic, eventOf(request), JSON.stringify(notice.task));
  const receivedAt = new Date(clock.now());
  if (notice.queue === undefined) {
    const reason = await uninstall({ sql, log }, { ...notice, shopId, event, receivedAt });
    if (reason) log.error({ requestId: request.id, shopId, topic, reason }, ignored);
    return taken;
  }
  await enqueue(queue, notice, { shopId, topic, event, receivedAt: receivedAt.toISOString() });
  return taken;
}

/**
 * The event is the same when a webhook is sent again; where it is not named, the webhook itself is. One
 * without either is like no other.
 */
function eventOf(request: FastifyRequest): string {
  const name = header(request, 'x-shopify-event-id') || header(request, 'x-shopify-webhook-id');
  return name || request.id;
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

function enqueue(
  queue: WebhookQueue,
  notice: Exclude<Notice, { queue: undefined }>,
  facts: Facts,
): Promise<void> {
  if (notice.queue === 'duties') {
    return queue.send('duties', { ...notice.task, ...facts }, facts.event);
  }
  const { kind, id } = notice.task;
  return queue.send('hints', { ...notice.task, ...facts }, `${facts.shopId} ${kind} ${id}`);
}

function header(request: FastifyRequest, name: string): string {
  const value = request.headers[name];
  return typeof value === 'string' ? value.trim() : '';
}

/** @throws when the work takes too long; it goes on, and is known when Shopify sends it again */
async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  const over = new AbortController();
  try {
    return await Promise.race([
      work,
      sleep(timeoutMilliseconds, undefined, { signal: over.signal, ref: false }).then(() => {
        throw new Error(`The database did not store it within ${timeoutMilliseconds} ms.`);
      }),
    ]);
  } finally {
    over.abort();
    work.catch(() => {});
  }
}
