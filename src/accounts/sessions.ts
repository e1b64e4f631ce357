import type { Clock } from '../clock.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { deleteDevices } from '../store/owners/devices.ts';
import { invalidateResetLinks } from '../store/owners/links.ts';
import * as store from '../store/owners/sessions.ts';
import { rememberDevice } from './devices.ts';
import { fingerprint, newSecret } from './secrets.ts';

const hour = 3_600_000;
/** `max` counts from signing in, `idle` from the last request. */
export const sessionHours = { max: 30 * 24, idle: 24 } as const;
const touchMilliseconds = 60_000;

export interface OwnerSession {
  /** The value of the cookie. */
  readonly secret: string;
  readonly ownerId: string;
  readonly email: string;
}

function bounds(clock: Clock) {
  const now = clock.now();
  return {
    createdAfter: new Date(now - sessionHours.max * hour),
    seenAfter: new Date(now - sessionHours.idle * hour),
  };
}

/** The cookies' values after signing in. */
export interface SignInSecrets {
  readonly session: string;
  readonly device: string;
}

/**
 * Starts a session and remembers the browser.
 * @param device the browser's previous token
 * @returns undefined if the password was changed in the meantime
 */
export async function beginSession(
  sql: Sql | Transaction,
  clock: Clock,
  owner: { readonly ownerId: string; readonly passwordHash: string },
  device: string | undefined,
): Promise<SignInSecrets | undefined> {
  const session = newSecret();
  const at = new Date(clock.now());
  if (!(await store.insertSession(sql, fingerprint(session), owner, at))) return undefined;
  return { session, device: await rememberDevice(sql, clock, owner.ownerId, device) };
}

/** Revokes all access except the password: sessions, remembered browsers, and password-reset links. */
export async function endAccess(tx: Transaction, clock: Clock, ownerId: string): Promise<void> {
  await store.deleteSessions(tx, ownerId);
  await deleteDevices(tx, ownerId);
  await invalidateResetLinks(tx, ownerId, new Date(clock.now()));
}

/** The session of a cookie, if it has not expired. */
export async function openSession(
  sql: Sql,
  clock: Clock,
  secret: string,
): Promise<OwnerSession | undefined> {
  const hash = fingerprint(secret);
  const found = await store.findSession(sql, hash, bounds(clock));
  if (!found) return undefined;
  const now = clock.now();
  if (now - found.seenAt.getTime() >= touchMilliseconds) {
    await store.touchSession(sql, hash, new Date(now));
  }
  return { secret, ownerId: found.ownerId, email: found.email };
}

export function endSession(sql: Sql, { secret }: OwnerSession): Promise<void> {
  return store.deleteSession(sql, fingerprint(secret));
}

export function countSessions(sql: Sql, clock: Clock, ownerId: string): Promise<number> {
  return store.countSessions(sql, ownerId, bounds(clock));
}

export function deleteExpiredSessions(sql: Sql, clock: Clock, ownerId: string): Promise<void> {
  return store.deleteExpiredSessions(sql, ownerId, bounds(clock));
}
