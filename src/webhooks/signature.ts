import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Whether a body is Shopify's own: base64 of HMAC-SHA256 over its bytes by the app's client secret.
 * @param secrets the new one and, while it is being rotated, the old one
 * @see https://shopify.dev/docs/apps/build/webhooks/subscribe/https
 */
export function isSigned(body: Buffer, signature: string, secrets: readonly string[]): boolean {
  // By its text: base64 has more than one text for the same bytes, and Shopify sends one of them.
  const given = Buffer.from(signature);
  return secrets
    .map((secret) => {
      const wanted = Buffer.from(createHmac('sha256', secret).update(body).digest('base64'));
      return wanted.length === given.length && timingSafeEqual(wanted, given);
    })
    .includes(true);
}
