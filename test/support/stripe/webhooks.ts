import { createHmac } from 'node:crypto';
import type { StripeEvent } from './world.ts';

/** The request with which Stripe sends an event; `at` is in seconds since 1970. */
export function webhookOf(
  event: StripeEvent,
  secret: string,
  at: number,
): { readonly headers: Readonly<Record<string, string>>; readonly body: string } {
  const body = JSON.stringify(event, null, 2);
  const signature = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex');
  return {
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'stripe-signature': `t=${at},v1=${signature},v0=${'0'.repeat(64)}`,
    },
    body,
  };
}
