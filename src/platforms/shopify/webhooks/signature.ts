import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { SignatureCheck } from '../../platform.ts';

/**
 * Checks, as a body arrives, whether Shopify signed it: base64 of HMAC-SHA256 over its bytes, keyed
 * with the app's client secret.
 * @param secrets the new one and, while it is being rotated, the old one
 * @returns undefined if the request carries no signature
 * @see https://shopify.dev/docs/apps/build/webhooks/subscribe/https
 */
export function startSignatureCheck(
  headers: IncomingHttpHeaders,
  secrets: readonly string[],
): SignatureCheck | undefined {
  const signature = headers['x-shopify-hmac-sha256'];
  if (typeof signature !== 'string' || signature.trim() === '') return undefined;
  const hmacs = secrets.map((secret) => createHmac('sha256', secret));
  return {
    update(part) {
      for (const hmac of hmacs) hmac.update(part);
    },
    matches() {
      // Compared as text: several base64 texts decode to the same bytes, and Shopify sends only one
      // of them.
      const given = Buffer.from(signature.trim());
      return hmacs
        .map((hmac) => {
          const expected = Buffer.from(hmac.digest('base64'));
          return expected.length === given.length && timingSafeEqual(expected, given);
        })
        .includes(true);
    },
  };
}
