import { hash } from 'node:crypto';

const beyondPlatforms = 2 ** 52;

/**
 * A number of our own for what a platform gives none: always the same for the same text, from 2^52 to
 * 2^53 − 1, where no number of a platform's is.
 */
export function ownNumber(text: string): number {
  // 13 hexadecimal digits are 52 bits.
  return beyondPlatforms + Number.parseInt(hash('sha256', text).slice(0, 13), 16);
}
