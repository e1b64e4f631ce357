import { createHmac, timingSafeEqual } from 'node:crypto';

/** What the forms of a page carry, so that no other site can send them: it follows from the cookie. */
export function formToken(cookie: string): string {
  return createHmac('sha256', cookie).update('form').digest('base64url');
}

export function isFormToken(cookie: string, token: string): boolean {
  const right = Buffer.from(formToken(cookie));
  const given = Buffer.from(token);
  return right.length === given.length && timingSafeEqual(right, given);
}
