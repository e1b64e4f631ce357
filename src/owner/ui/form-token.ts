import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const bytes = 32;

function expected(cookie: string): Buffer {
  return createHmac('sha256', cookie).update('form').digest();
}

function mask(secret: Buffer, by: Buffer): Buffer {
  return Buffer.from(secret.map((byte, index) => byte ^ (by[index] ?? 0)));
}

/**
 * The CSRF token of a page's forms, derived from a cookie. Different on each page, so that the sizes of
 * compressed pages reveal nothing about it.
 */
export function formToken(cookie: string): string {
  const random = randomBytes(bytes);
  return Buffer.concat([random, mask(expected(cookie), random)]).toString('base64url');
}

export function isFormToken(cookie: string, token: string): boolean {
  const given = Buffer.from(token, 'base64url');
  if (given.length !== 2 * bytes) return false;
  const actual = mask(given.subarray(bytes), given.subarray(0, bytes));
  return timingSafeEqual(expected(cookie), actual);
}
