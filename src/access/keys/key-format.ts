import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const prefix = 'rtn_';
const randomLength = 37;
const pattern = /^rtn_[A-Za-z0-9_-]{43}$/;

/**
 * Generates an API key: the prefix, 37 random base64url characters (222 bits), and 6 characters that encode
 * the CRC-32 of all preceding ones.
 */
export function generateKey(): string {
  const random = randomBytes(28).toString('base64url').slice(0, randomLength);
  return withChecksum(prefix + random);
}

/** Whether a text is well formed. Detects invented and mistyped keys without a look-up. */
export function isWellFormedKey(text: string): boolean {
  return pattern.test(text) && withChecksum(text.slice(0, prefix.length + randomLength)) === text;
}

/** The SHA-256 of a key in base64. Of the key itself only this and the last four characters are stored. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'base64');
}

function withChecksum(body: string): string {
  const checksum = Buffer.allocUnsafe(4);
  checksum.writeUInt32BE(crc32(body));
  return body + checksum.toString('base64url');
}
