import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const prefix = 'rtn_';
const randomLength = 37;
const pattern = /^rtn_[A-Za-z0-9_-]{43}$/;

/**
 * A new API key: the prefix, 37 random base64url characters (222 bits), and 6 that hold the CRC-32
 * of all before them.
 */
export function generateKey(): string {
  const random = randomBytes(28).toString('base64url').slice(0, randomLength);
  return withChecksum(prefix + random);
}

/** Whether a text is well formed; an invented or mistyped key fails here, without a look-up. */
export function isWellFormedKey(text: string): boolean {
  return pattern.test(text) && withChecksum(text.slice(0, prefix.length + randomLength)) === text;
}

/** The SHA-256 of a key in base64: all that is ever stored of it, besides its last four characters. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'base64');
}

function withChecksum(body: string): string {
  const checksum = Buffer.allocUnsafe(4);
  checksum.writeUInt32BE(crc32(body));
  return body + checksum.toString('base64url');
}
