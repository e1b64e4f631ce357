import { hash } from 'node:crypto';

const beyondPlatforms = 2 ** 52;

/**
 * Derives a stable id from text, for records that have no numeric id on their platform. Ids are from 2^52
 * to 2^53 − 1, above any platform's own.
 */
export function ownNumber(text: string): number {
  // 13 hexadecimal digits are 52 bits.
  return beyondPlatforms + Number.parseInt(hash('sha256', text).slice(0, 13), 16);
}
