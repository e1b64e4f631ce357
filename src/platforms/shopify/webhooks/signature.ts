import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Whether Shopify signed a body: base64 of HMAC-SHA256 over its bytes, keyed with the app's client secret.
 * @param secrets the new one and, while it is being rotated, the old one
 * @see https://shopify.dev/docs/apps/build/webhooks/subscribe/https
 */
export function isSigned(signature: string, secrets: readonly string[], body: Buffer): boolean {
  // Compared as text: several base64 texts decode to the same bytes, and Shopify sends only one of them.
  const given = Buffer.from(signature);
  return secrets
    .map((secret) => {
      const expected = Buffer.from(createHmac('sha256', secret).update(body).digest('base64'));
      return expected.length === given.length && timingSafeEqual(expected, given);
    })
    .includes(true);
}
