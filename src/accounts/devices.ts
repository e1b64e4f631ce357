import type { Clock } from '../clock.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { replaceDeviceToken, upsertDevice } from '../store/owners/devices.ts';
import { fingerprint, newSecret } from './secrets.ts';

/** How long a browser is remembered after signing in. */
export const deviceDays = 90;
/** After this many wrong passwords, a remembered browser loses its special treatment. */
export const maxDeviceFailures = 10;

/** Browsers that last signed in before this are forgotten. */
export function oldestDevice(clock: Clock): Date {
  return new Date(clock.now() - deviceDays * 86_400_000);
}

/**
 * Remembers that an owner has signed in with a browser. Always issues a new token, so that no one can have
 * planted it.
 * @param device the browser's previous token
 * @returns the value of the cookie
 */
export async function rememberDevice(
  sql: Sql | Transaction,
  clock: Clock,
  ownerId: string,
  device: string | undefined,
): Promise<string> {
  const secret = newSecret();
  const tokenHash = fingerprint(secret);
  if (device !== undefined) await replaceDeviceToken(sql, fingerprint(device), tokenHash);
  await upsertDevice(sql, tokenHash, ownerId, new Date(clock.now()));
  return secret;
}
