import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 random bits in base64url: what a link or a cookie holds. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** All that the database learns of a secret: its SHA-256 in base64. */
export function fingerprint(secret: string): string {
  return hash('sha256', secret, 'base64');
}

/** What the forms of a page carry, so that no other site can send them: it follows from the cookie. */
export function formToken(cookie: string): string {
  return createHmac('sha256', cookie).update('form').digest('base64url');
}

export function isFormToken(cookie: string, token: string): boolean {
  const right = Buffer.from(formToken(cookie));
  const given = Buffer.from(token);
  return right.length === given.length && timingSafeEqual(right, given);
}
