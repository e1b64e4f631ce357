import { createHmac, timingSafeEqual } from 'node:crypto';

/** The CSRF token of a page's forms, derived from a cookie. */
export function formToken(cookie: string): string {
  return createHmac('sha256', cookie).update('form').digest('base64url');
}

export function isFormToken(cookie: string, token: string): boolean {
  const expected = Buffer.from(formToken(cookie));
  const actual = Buffer.from(token);
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}
