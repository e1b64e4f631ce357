import type { Clock } from '../clock.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { replaceDeviceToken, upsertDevice } from '../store/owners/devices.ts';
import { fingerprint, newSecret } from './secrets.ts';

/** How long a browser is remembered after signing in. */
export const deviceDays = 90;
/** Wrong passwords after which a browser that is remembered counts as any other. */
export const maxDeviceFailures = 10;

/** What signed in before this is forgotten. */
export function oldestDevice(clock: Clock): Date {
  return new Date(clock.now() - deviceDays * 86_400_000);
}

/**
 * Remembers that an owner has signed in in a browser. The token is always a new one, so that nobody
 * can have put it there before.
 * @param device the token that the browser had
 * @returns what the cookie is to hold
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
