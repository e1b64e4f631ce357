import { createHmac, timingSafeEqual } from 'node:crypto';

export interface SignatureCheck {
  /** Takes the next part of the body. */
  update(part: Buffer): void;
  /** Whether all parts together carry this signature. Can be asked once. */
  matches(signature: string): boolean;
}

/**
 * Checks, while a body arrives, whether Shopify signed it: base64 of HMAC-SHA256 over its bytes, keyed with
 * the app's client secret.
 * @param secrets the new one and, while it is being rotated, the old one
 * @see https://shopify.dev/docs/apps/build/webhooks/subscribe/https
 */
export function createSignatureCheck(secrets: readonly string[]): SignatureCheck {
  const hmacs = secrets.map((secret) => createHmac('sha256', secret));
  return {
    update(part) {
      for (const hmac of hmacs) hmac.update(part);
    },
    matches(signature) {
      // Compared as text: base64 has more than one text for the same bytes, and Shopify sends one of them.
      const given = Buffer.from(signature);
      return hmacs
        .map((hmac) => {
          const expected = Buffer.from(hmac.digest('base64'));
          return expected.length === given.length && timingSafeEqual(expected, given);
        })
        .includes(true);
    },
  };
}
