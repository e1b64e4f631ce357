import type { Clock } from '../clock.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { deleteDevices } from '../store/owners/devices.ts';
import { endResets } from '../store/owners/links.ts';
import * as store from '../store/owners/sessions.ts';
import { rememberDevice } from './devices.ts';
import { fingerprint, newSecret } from './secrets.ts';

const hour = 3_600_000;
/** From signing in, however busy; and from the last page that was seen. */
export const sessionHours = { most: 30 * 24, idle: 24 } as const;
const touchMilliseconds = 60_000;

export interface Session {
  /** What the cookie holds. */
  readonly secret: string;
  readonly ownerId: string;
  readonly email: string;
}

function bounds(clock: Clock) {
  const now = clock.now();
  return {
    createdAfter: new Date(now - sessionHours.most * hour),
    seenAfter: new Date(now - sessionHours.idle * hour),
  };
}

/** What the cookies of a browser hold in which somebody has just signed in. */
export interface SignInSecrets {
  readonly session: string;
  readonly device: string;
}

/**
 * Begins a session, and remembers the browser.
 * @param device the token that the browser had
 * @returns undefined if the password was changed meanwhile
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

/** Ends every way into an account but its password: sessions, remembered browsers, links that set one. */
export async function endAccess(tx: Transaction, clock: Clock, ownerId: string): Promise<void> {
  await store.deleteSessions(tx, ownerId);
  await deleteDevices(tx, ownerId);
  await endResets(tx, ownerId, new Date(clock.now()));
}

/** The session that a cookie is for, if it has not ended. */
export async function openSession(
  sql: Sql,
  clock: Clock,
  secret: string,
): Promise<Session | undefined> {
  const hash = fingerprint(secret);
  const found = await store.findSession(sql, hash, bounds(clock));
  if (!found) return undefined;
  const now = clock.now();
  if (now - found.seenAt.getTime() >= touchMilliseconds) {
    await store.touchSession(sql, hash, new Date(now));
  }
  return { secret, ownerId: found.ownerId, email: found.email };
}

export function endSession(sql: Sql, { secret }: Session): Promise<void> {
  return store.deleteSession(sql, fingerprint(secret));
}

export function countSessions(sql: Sql, clock: Clock, ownerId: string): Promise<number> {
  return store.countSessions(sql, ownerId, bounds(clock));
}

export function forgetEndedSessions(sql: Sql, clock: Clock, ownerId: string): Promise<void> {
  return store.deleteEndedSessions(sql, ownerId, bounds(clock));
}
