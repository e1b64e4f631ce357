import { hash } from 'node:crypto';

/** Ids from here on are derived from texts; platforms' own are smaller. */
export const firstOwnNumber = 2 ** 52;

/**
 * Derives a stable id from text, for records that have no numeric id on their platform: from 2^52 to 2^53 − 1.
 */
export function ownNumber(text: string): number {
  // 13 hexadecimal digits are 52 bits.
  return firstOwnNumber + Number.parseInt(hash('sha256', text).slice(0, 13), 16);
}
