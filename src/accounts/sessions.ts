import type { Clock } from '../clock.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { LookupAllowance } from '../store/keys/lookup-allowance.ts';
import { LookupRefused, SecretLookups } from '../store/keys/secret-lookups.ts';
import { deleteDevices } from '../store/owners/devices.ts';
import { invalidateResetLinks } from '../store/owners/links.ts';
import * as store from '../store/owners/sessions.ts';
import { type DeviceLookups, createDeviceLookups, rememberDevice } from './devices.ts';
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

/** What is needed to know owners by what their browsers send. */
export interface Accounts {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly sessions: SecretLookups<store.OwnerSession>;
  readonly devices: DeviceLookups;
  /** Of each client for cookies and links that do not exist. docs/decisions/0017-limits.md */
  readonly allowance: LookupAllowance;
  /** How many entries each cache has, by the name it has in the metrics. */
  readonly caches: Readonly<Record<string, () => number>>;
}

export function createAccounts(sql: Sql, clock: Clock): Accounts {
  const allowance = new LookupAllowance(clock);
  const sessions = new SecretLookups(
    (hashes) => store.listSessionsByHash(sql, hashes, bounds(clock)),
    allowance,
  );
  const devices = createDeviceLookups(sql, clock, allowance);
  return {
    sql,
    clock,
    sessions,
    devices,
    allowance,
    caches: {
      found_sessions: () => sessions.remembered,
      found_browsers: () => devices.remembered,
      unknown_cookie_clients: () => allowance.size,
    },
  };
}

/** What is stored by a secret; undefined for one that is unknown, or not looked up for its client. */
export async function findBySecret<Found>(
  lookups: SecretLookups<Found>,
  secret: string,
  client: string,
): Promise<Found | undefined> {
  try {
    return await lookups.find(fingerprint(secret), client);
  } catch (error) {
    if (error instanceof LookupRefused) return undefined;
    throw error;
  }
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
  accounts: Accounts,
  owner: { readonly ownerId: string; readonly passwordHash: string },
  device: string | undefined,
): Promise<SignInSecrets | undefined> {
  const session = newSecret();
  const hash = fingerprint(session);
  const at = new Date(accounts.clock.now());
  if (!(await store.insertSession(sql, hash, owner, at))) return undefined;
  accounts.sessions.remember(hash);
  return { session, device: await rememberDevice(sql, accounts, owner.ownerId, device) };
}

/** Revokes all access except the password: sessions, remembered browsers, and password-reset links. */
export async function endAccess(tx: Transaction, clock: Clock, ownerId: string): Promise<void> {
  await store.deleteSessions(tx, ownerId);
  await deleteDevices(tx, ownerId);
  await invalidateResetLinks(tx, ownerId, new Date(clock.now()));
}

/** The session of a cookie, if it has not expired. @param client the visitor's network */
export async function openSession(
  { sql, clock, sessions }: Accounts,
  secret: string,
  client: string,
): Promise<OwnerSession | undefined> {
  const found = await findBySecret(sessions, secret, client);
  if (!found) return undefined;
  const now = clock.now();
  if (now - found.seenAt.getTime() >= touchMilliseconds) {
    await store.touchSession(sql, fingerprint(secret), new Date(now));
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
