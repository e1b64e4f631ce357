import type { Clock } from '../clock.ts';
import type { Sql, Transaction } from '../store/database.ts';
import * as store from '../store/owner-sessions.ts';
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

/** @returns what the cookie is to hold; undefined where the password was changed meanwhile */
export async function beginSession(
  sql: Sql | Transaction,
  clock: Clock,
  owner: { readonly ownerId: string; readonly passwordHash: string },
): Promise<string | undefined> {
  const secret = newSecret();
  const at = new Date(clock.now());
  return (await store.insertSession(sql, fingerprint(secret), owner, at)) ? secret : undefined;
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
