import { hash, randomBytes } from 'node:crypto';

/** 256 random bits in base64url: what a link or a cookie holds. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** All that the database learns of a secret: its SHA-256 in base64. */
export function fingerprint(secret: string): string {
  return hash('sha256', secret, 'base64');
}
