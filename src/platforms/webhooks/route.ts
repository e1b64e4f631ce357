import type { FastifyRequest } from 'fastify';
import { type Answer, json, refuse } from '../../http/answer.ts';
import { type Body, readBody } from '../../http/body.ts';
import type { Route } from '../../http/shell.ts';
import type { Log } from '../../log/log.ts';
import { within } from '../../time-limit.ts';
import type { ReceivedWebhook, SignatureCheck, Webhooks } from '../platform.ts';

/** Relevant webhooks are far smaller. */
const maxBytes = 256 * 1024;
/** All bodies that are not verified yet, per platform and instance. */
const maxUnverifiedBytes = 8 * 1024 * 1024;
/** Memory overhead of each part of a body: a client may send one byte at a time. */
const bytesPerPart = 512;
/** Webhooks per instance that wait for the database. The platform redelivers the others. */
const maxWaiting = 100;
/** Shopify gives up after five seconds, others later. */
const timeoutMilliseconds = 4_000;

const accepted: Answer = { status: 200, headers: json, body: '{"success":true}' };
const unauthorized = () => refuse(401, 'Unauthorized.');
const malformed = () => refuse(400, 'The body does not match its topic.');
const later = (headers: Readonly<Record<string, string>> = {}) =>
  refuse(503, 'Try again later.', { 'retry-after': '60', ...headers });

/** Receives a platform's webhooks within limits, and handles those with a valid signature. */
export function webhookRoute(platform: string, webhooks: Webhooks, log: Log): Route {
  let unverifiedBytes = 0;
  let waiting = 0;

  /** The body, if its signature is valid. Hashed as it arrives; unverified until its end. */
  async function receive(request: FastifyRequest, check: SignatureCheck): Promise<Body> {
    let held = 0;
    try {
      const body = await readBody(request, {
        contentType: 'application/json',
        maxBytes,
        receive(part) {
          const cost = part.length + bytesPerPart;
          // The rest is not read, so the connection cannot be reused.
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

  /** After the timeout, work continues; a redelivery is then recognised as a duplicate. */
  async function handleInTime(webhook: ReceivedWebhook) {
    const work = webhooks.handle(webhook);
    work.catch(() => {});
    return within(timeoutMilliseconds, work);
  }

  return {
    method: 'POST',
    url: `/webhooks/${platform}`,
    async handle(request) {
      const { id: requestId, headers } = request;
      const check = webhooks.startSignatureCheck(headers);
      if (!check) return unauthorized();
      const body = await receive(request, check);
      if ('refusal' in body) return body.refusal;
      if (waiting >= maxWaiting) return later();
      waiting += 1;
      try {
        const result = await handleInTime({ requestId, headers, body: body.bytes });
        return result === 'accepted' ? accepted : malformed();
      } catch (err) {
        log.error({ requestId, err }, 'webhook not stored');
        return later();
      } finally {
        waiting -= 1;
      }
    },
  };
}
