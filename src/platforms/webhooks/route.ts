import type { FastifyRequest } from 'fastify';
import { type Answer, json, refuse } from '../../http/answer.ts';
import { type Body, readBody } from '../../http/body.ts';
import type { Route } from '../../http/shell.ts';
import type { Log } from '../../log/log.ts';
import { within } from '../../time-limit.ts';
import type { ReceivedWebhook, SignatureCheck, Webhooks } from '../platform.ts';

/** Those that matter have far less. */
const maxBytes = 256 * 1024;
/** Of one platform and instance: bodies that are not verified yet, all together. */
const maxUnverifiedBytes = 8 * 1024 * 1024;
/** What a part of a body takes in memory besides its bytes: a client may send one byte at a time. */
const bytesPerPart = 512;
/** Webhooks of one instance that wait for the database. The platform sends the others again. */
const maxWaiting = 100;
/** Shopify waits for five seconds, others for longer. */
const timeoutMilliseconds = 4_000;

const accepted: Answer = { status: 200, headers: json, body: '{"success":true}' };
const unauthorized = () => refuse(401, 'Unauthorized.');
const malformed = () => refuse(400, 'The body is not what its topic promises.');
const later = (headers: Readonly<Record<string, string>> = {}) =>
  refuse(503, 'Try again later.', { 'retry-after': '60', ...headers });

/** Receives the webhooks of a platform within bounds, and acts on those that it has signed. */
export function webhookRoute(platform: string, webhooks: Webhooks, log: Log): Route {
  let unverifiedBytes = 0;
  let waiting = 0;

  /** The body, if it is signed. Hashed while it arrives; until then it counts as unverified. */
  async function receive(request: FastifyRequest, check: SignatureCheck): Promise<Body> {
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
      return 'refusal' in body || check.matches() ? body : { refusal: unauthorized() };
    } finally {
      unverifiedBytes -= held;
    }
  }

  /** What takes too long continues, and is known when the platform sends it again. */
  async function take(webhook: ReceivedWebhook) {
    const work = webhooks.take(webhook);
    work.catch(() => {});
    return within(timeoutMilliseconds, work);
  }

  return {
    method: 'POST',
    url: `/webhooks/${platform}`,
    async handle(request) {
      const { id: requestId, headers } = request;
      const check = webhooks.openSignature(headers);
      if (!check) return unauthorized();
      const body = await receive(request, check);
      if ('refusal' in body) return body.refusal;
      if (waiting >= maxWaiting) return later();
      waiting += 1;
      try {
        const result = await take({ requestId, headers, body: body.bytes });
        return result === 'accepted' ? accepted : malformed();
      } catch (err) {
        log.error({ requestId, err }, 'a webhook could not be stored');
        return later();
      } finally {
        waiting -= 1;
      }
    },
  };
}
