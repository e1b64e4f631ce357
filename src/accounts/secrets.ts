import { hash, randomBytes } from 'node:crypto';

/** 256 random bits in base64url, for links and cookies. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** The SHA-256 of a secret in base64; only this is stored. */
export function fingerprint(secret: string): string {
  return hash('sha256', secret, 'base64');
}
