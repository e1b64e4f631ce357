import { createHmac, hash } from 'node:crypto';

/** Ids from here on are derived from texts; platforms' own are smaller. */
export const firstOwnNumber = 2 ** 52;

/**
 * Derives a stable id from text, for records that have no numeric id on their platform: from 2^52 to 2^53 − 1.
 */
export function ownNumber(text: string): number {
  return numberOf(hash('sha256', text));
}

/**
 * The same under a secret, without which the text cannot be found by trying.
 * @param key in hexadecimal
 */
export function keyedNumber(key: string, text: string): number {
  return numberOf(createHmac('sha256', Buffer.from(key, 'hex')).update(text).digest('hex'));
}

/** 13 hexadecimal digits are 52 bits. */
function numberOf(digest: string): number {
  return firstOwnNumber + Number.parseInt(digest.slice(0, 13), 16);
}
