import type { Clock } from '../clock.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { type LookupAllowance, SecretLookups } from '../store/keys/secret-lookups.ts';
import { listDevicesByHash, replaceDeviceToken, upsertDevice } from '../store/owners/sign-in.ts';
import { fingerprint, newSecret } from './secrets.ts';

/** How long a browser is remembered after signing in. */
export const deviceDays = 90;
/** After this many wrong passwords, a remembered browser loses its special treatment. */
export const maxDeviceFailures = 10;

/** Browsers that last signed in before this are forgotten. */
export function oldestDevice(clock: Clock): Date {
  return new Date(clock.now() - deviceDays * 86_400_000);
}

/** The e-mail addresses of the owners who have signed in with a browser, by the hash of its token. */
export type DeviceLookups = SecretLookups<readonly string[]>;

export function createDeviceLookups(
  sql: Sql,
  clock: Clock,
  allowance: LookupAllowance,
): DeviceLookups {
  return new SecretLookups(
    (hashes) => listDevicesByHash(sql, hashes, oldestDevice(clock)),
    allowance,
  );
}

/**
 * Remembers that an owner has signed in with a browser. Always issues a new token, so that no one can have
 * planted it.
 * @param device the browser's previous token
 * @returns the value of the cookie
 */
export async function rememberDevice(
  sql: Sql | Transaction,
  { clock, devices }: { readonly clock: Clock; readonly devices: DeviceLookups },
  ownerId: string,
  device: string | undefined,
): Promise<string> {
  const secret = newSecret();
  const tokenHash = fingerprint(secret);
  if (device !== undefined) await replaceDeviceToken(sql, fingerprint(device), tokenHash);
  await upsertDevice(sql, tokenHash, ownerId, new Date(clock.now()));
  devices.remember(tokenHash);
  return secret;
}
