import type { IncomingHttpHeaders } from 'node:http';
import { type Answer, json, refuse } from '../../http/answer.ts';
import type { Route } from '../../http/shell.ts';
import { UnverifiedBodies } from '../../http/unverified-bodies.ts';
import type { Log } from '../../log/log.ts';
import { within } from '../../time-limit.ts';
import type { ReceivedWebhook, WebhookClaim } from './webhooks.ts';

/** Relevant webhooks are far smaller. */
const usualBytes = 256 * 1024;
/** All bodies that are not verified yet, per sender and instance. */
const maxUnverifiedBytes = 8 * 1024 * 1024;
/** Webhooks per instance that wait for the database. The platform redelivers the others. */
const maxWaiting = 100;
/** Shopify gives up after five seconds, others later. */
const timeoutMilliseconds = 4_000;

const accepted: Answer = { status: 200, headers: json, body: '{"success":true}' };
const malformed = () => refuse(400, 'The body does not match its topic.');
const later = (headers: Readonly<Record<string, string>> = {}) =>
  refuse(503, 'Try again later.', { 'retry-after': '60', ...headers });

/** What reads and handles webhooks: of a platform, or of somebody else who signs them. */
interface Receiver {
  readClaim(
    headers: IncomingHttpHeaders,
  ): WebhookClaim | undefined | Promise<WebhookClaim | undefined>;
  /** @returns an answer in place of the usual one */
  handle(webhook: ReceivedWebhook): Promise<'accepted' | 'malformed' | Answer>;
}

/** Receives a sender's webhooks within limits, and handles those with a valid signature. */
export function webhookRoute(
  sender: string,
  webhooks: Receiver,
  log: Log,
  { maxBytes = usualBytes, unsigned = 'Unauthorized.' } = {},
): Route {
  const unauthorized = () => refuse(401, unsigned);
  const bodies = new UnverifiedBodies({
    contentType: 'application/json',
    maxBytes,
    totalBytes: maxUnverifiedBytes,
    // The domains of shops are public.
    hasSecretNames: false,
    refuse: later,
  });
  let waiting = 0;

  /** After the timeout, work continues; a redelivery is then recognised as a duplicate. */
  async function handleInTime(webhook: ReceivedWebhook) {
    const work = webhooks.handle(webhook);
    work.catch(() => {});
    return within(timeoutMilliseconds, work);
  }

  return {
    method: 'POST',
    url: `/webhooks/${sender}`,
    async handle(request) {
      const { id: requestId, headers } = request;
      const claim = await webhooks.readClaim(headers);
      if (!claim) return unauthorized();
      // An unknown shop is not refused before: its signed webhooks are answered 200, or the platform would stop sending.
      const body = await bodies.read(request, claim.account, claim.isSigned);
      if (!body) return unauthorized();
      if ('refusal' in body) return body.refusal;
      if (waiting >= maxWaiting) return later();
      waiting += 1;
      try {
        const result = await handleInTime({ requestId, headers, body: body.bytes });
        if (typeof result === 'object') return result;
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
