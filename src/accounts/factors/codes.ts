import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import type { Sql } from '../../store/database.ts';
import {
  type Factor,
  listApps,
  listFactors,
  raiseCounter,
  replaceFactorKey,
} from '../../store/owners/factors.ts';
import { Sealing } from '../../platforms/credentials/sealing.ts';
import { fingerprint } from '../sessions.ts';

/** Six digits of SHA-1 every 30 seconds: what all authenticator apps know. */
const form = { issuer: 'Retention', algorithm: 'SHA1', digits: 6, period: 30 } as const;

const secretBytes = 20;

/** A new secret for an app, in Base32. */
export function newAppSecret(): string {
  return new Secret({ size: secretBytes }).base32;
}

/** Whether a text can be such a secret. */
export function isAppSecret(text: string): boolean {
  return /^[A-Z2-7]{32}$/.test(text);
}

/** What a QR code tells an app. */
export function appAddress(email: string, secret: string): string {
  return new TOTP({ ...form, label: email, secret }).toString();
}

/**
 * The time step of which a code is, the current one or one beside it.
 * @param now epoch milliseconds
 * @returns undefined if it is of none of them
 */
export function stepOf(secret: string, code: string, now: number): number | undefined {
  // The library throws for other characters.
  if (!/^[0-9]+$/.test(code)) return undefined;
  const delta = new TOTP({ ...form, secret }).validate({ token: code, timestamp: now, window: 1 });
  return delta === null ? undefined : TOTP.counter({ ...form, timestamp: now }) + delta;
}

/** How secrets of apps are stored: encrypted, or as they are without CREDENTIALS_KEY. */
export function appSealing(keys: readonly Buffer[]): Sealing {
  return new Sealing(keys, { allowsPlain: true });
}

export function contextOfApp({ ownerId }: Pick<Factor, 'ownerId'>): string {
  return `the authenticator app of owner ${ownerId}`;
}

/** Encrypts secrets that are plain, or were encrypted with an older key. */
export async function resealApps(sql: Sql, sealing: Sealing): Promise<void> {
  for (const app of await listApps(sql)) {
    const key = sealing.reseal(app.key, contextOfApp(app));
    if (key !== app.key) await replaceFactorKey(sql, app, key);
  }
}

/** A code as people may type it, with spaces or hyphens. */
export function readCode(text: string): string {
  return text.replaceAll(/[\s-]/g, '').toUpperCase();
}

/** Uses a code of one of the owner's apps. @returns whether there is one that it is right for, and new */
export async function useAppCode(
  { sql, sealing }: { readonly sql: Sql; readonly sealing: Sealing },
  ownerId: string,
  code: string,
  now: number,
): Promise<boolean> {
  for (const factor of await listFactors(sql, ownerId)) {
    if (factor.credentialId !== null) continue;
    const step = stepOf(sealing.open(factor.key, contextOfApp(factor)), code, now);
    if (step !== undefined && (await raiseCounter(sql, factor, step, new Date(now)))) return true;
  }
  return false;
}

const recoveryCodes = 10;

/** 80 random bits each, so that a fast hash keeps them. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodes }, () => {
    const text = new Secret({ buffer: new Uint8Array(randomBytes(10)).buffer }).base32;
    return (text.match(/.{4}/g) as string[]).join('-');
  });
}

export function hashOfCode(ownerId: string, code: string): string {
  return fingerprint(`recovery code of ${ownerId} ${readCode(code)}`);
}

/** Whether a text has the form of an app's code; others may be recovery codes. */
export const isAppCode = (code: string) => /^\d{6}$/.test(code);
