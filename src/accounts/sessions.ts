import { maxNameLength } from '../vocabulary.ts';
import { hash, randomBytes } from 'node:crypto';
import * as store from '../store/owners/sign-in.ts';
import type { Act, Actor } from '../acts.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log/log.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { LookupAllowance, LookupRefused, SecretLookups } from '../store/keys/secret-lookups.ts';
import {
  deleteDevices,
  listDevicesByHash,
  replaceDeviceToken,
  upsertDevice,
} from '../store/owners/sign-in.ts';
import { appendForOwner } from '../store/owners/audit.ts';
import { deleteChallengesOf } from '../store/owners/factors.ts';
import { type Person, invalidateResetLinks, updateName } from '../store/owners/owners.ts';
import { Providers, type SsoSettings } from './sso/providers.ts';

const hour = 3_600_000;
/** `max` counts from signing in, `idle` from the last request. */
export const sessionHours = { max: 30 * 24, idle: 24 } as const;
const touchMilliseconds = 60_000;

export interface OwnerSession extends Person {
  /** The value of the cookie. */
  readonly secret: string;
  readonly ownerId: string;
  /** When the owner last proved who they are; null if an earlier version began the session. */
  readonly provedAt: Date | null;
  readonly hasFactor: boolean;
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
  readonly sso: Providers;
  /** Of each client for cookies and links that do not exist. docs/decisions/0017-limits-and-bodies.md */
  readonly allowance: LookupAllowance;
  /** How many entries each cache has, by the name it has in the metrics. */
  readonly caches: Readonly<Record<string, () => number>>;
  /** Does something after the answer, which must not tell by its time whether there is anything to do. */
  later(work: () => Promise<void>): void;
  /** Resolves once all of that is done. */
  settle(): Promise<void>;
}

export function createAccounts(
  sql: Sql,
  clock: Clock,
  log: Pick<Log, 'warn'>,
  settings: SsoSettings = {},
): Accounts {
  const pending = new Set<Promise<void>>();
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
    sso: new Providers(sql, clock, settings),
    allowance,
    caches: {
      found_sessions: () => sessions.remembered,
      found_browsers: () => devices.remembered,
      unknown_cookie_clients: () => allowance.size,
    },
    later(work) {
      const working = work()
        .catch((error: unknown) => log.warn({ err: error }, 'audit entry not written'))
        .finally(() => pending.delete(working));
      pending.add(working);
    },
    async settle() {
      await Promise.all(pending);
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

/** What is known of a browser. */
export interface Browser {
  /** Its token, if it has one. */
  readonly device: string | undefined;
  /** What it is, in words. */
  readonly browser?: string | undefined;
}

/**
 * Starts a session and remembers the browser.
 * @param what led to it, in the chains of all of the owner's shops
 * @param joined the shop that the owner joins with it
 * @returns undefined if the password was changed in the meantime
 */
export async function beginSession(
  tx: Transaction,
  accounts: Accounts,
  owner: { readonly ownerId: string; readonly passwordHash: string | null },
  { device, browser, by }: Browser & { readonly by: Actor },
  what: Act,
  joined?: number,
): Promise<SignInSecrets | undefined> {
  const { ownerId } = owner;
  const session = newSecret();
  const sessionHash = fingerprint(session);
  const at = new Date(accounts.clock.now());
  const place = { browser: browser ?? null, network: by.network ?? null };
  if (!(await store.insertSession(tx, sessionHash, owner, at, place))) return undefined;
  accounts.sessions.remember(sessionHash);
  const secrets = { session, device: await rememberDevice(tx, accounts, ownerId, device) };
  const happened = { at, by: ownerActor(ownerId, session, by.network), what };
  await appendForOwner(tx, ownerId, happened, joined);
  return secrets;
}

/** Revokes all access except the password: sessions, remembered browsers, and password-reset links. */
export async function endAccess(tx: Transaction, clock: Clock, ownerId: string): Promise<void> {
  await store.deleteSessions(tx, ownerId);
  await deleteDevices(tx, ownerId);
  await deleteChallengesOf(tx, ownerId);
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
  const { ownerId, email, name, provedAt, hasFactor } = found;
  return { secret, ownerId, email, name, provedAt, hasFactor };
}

/** Signs out. */
export function endSession(
  { sql, clock }: Accounts,
  { secret, ownerId }: OwnerSession,
  by: Actor,
): Promise<void> {
  return sql.begin(async (tx) => {
    await store.deleteSession(tx, fingerprint(secret));
    await appendForOwner(tx, ownerId, { at: new Date(clock.now()), by, what: 'signed_out' });
  });
}

/** Ends all sessions of an owner. */
export function endSessions(
  { sql, clock }: Accounts,
  { ownerId }: Pick<OwnerSession, 'ownerId'>,
  by: Actor,
): Promise<void> {
  return sql.begin(async (tx) => {
    await store.deleteSessions(tx, ownerId);
    await appendForOwner(tx, ownerId, { at: new Date(clock.now()), by, what: 'sessions_ended' });
  });
}

/** Ends an owner's other sessions. @param id of the only one to end; undefined for all */
export function endOtherSessions(
  { sql, clock }: Accounts,
  { ownerId, secret }: OwnerSession,
  by: Actor,
  id?: string,
): Promise<void> {
  return sql.begin(async (tx) => {
    if (!(await store.deleteOtherSessions(tx, ownerId, fingerprint(secret), id))) return;
    const what = id === undefined ? 'other_sessions_ended' : 'session_ended';
    const happened = { at: new Date(clock.now()), by, what, target: id ?? null } as const;
    await appendForOwner(tx, ownerId, happened);
  });
}

/** An owner's sessions, with whether each is the one that asks. */
export async function listSessions(
  { sql, clock }: Accounts,
  { ownerId, secret }: OwnerSession,
): Promise<(store.SessionListing & { readonly isThis: boolean })[]> {
  const sessions = await store.listSessions(sql, ownerId, bounds(clock));
  return sessions.map((each) => ({ ...each, isThis: each.id === sessionIdOf(secret) }));
}

/** @returns null for a name that is left out, undefined for one that cannot be shown as one line */
export function readPersonName(text: string): string | null | undefined {
  const name = text.trim().normalize('NFC');
  if (name === '') return null;
  return /\p{C}/u.test(name) || [...name].length > maxNameLength ? undefined : name;
}

/** @param name null to take it back */
export function changeName(
  { sql, clock }: Accounts,
  { ownerId }: OwnerSession,
  by: Actor,
  name: string | null,
): Promise<void> {
  return sql.begin(async (tx) => {
    if (!(await updateName(tx, ownerId, name))) return;
    await appendForOwner(tx, ownerId, { at: new Date(clock.now()), by, what: 'name_changed' });
  });
}

export function deleteExpiredSessions(sql: Sql, clock: Clock, ownerId: string): Promise<void> {
  return store.deleteExpiredSessions(sql, ownerId, bounds(clock));
}

/** How long a browser is remembered after signing in. */
export const deviceDays = 90;
/** After this many wrong passwords, a remembered browser loses its special treatment. */
export const maxDeviceFailures = 10;

/** Browsers that last signed in before this are forgotten. */
export function oldestDevice(clock: Clock): Date {
  return new Date(clock.now() - deviceDays * 86_400_000);
}

/** The e-mail addresses of the owners who have signed in with a browser, by the hash of its token. */
type DeviceLookups = SecretLookups<readonly string[]>;

function createDeviceLookups(sql: Sql, clock: Clock, allowance: LookupAllowance): DeviceLookups {
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
async function rememberDevice(
  sql: Transaction,
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

/** 256 random bits in base64url, for links and cookies. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** An owner, in the session that a secret opens. */
export function ownerActor(ownerId: string, secret: string, network: Actor['network']): Actor {
  return { who: `owner ${ownerId}`, session: sessionIdOf(secret), network };
}

/** The beginning of the session's hash, which is of no use without the rest. */
function sessionIdOf(secret: string): string {
  return Buffer.from(fingerprint(secret), 'base64').subarray(0, 6).toString('hex');
}

/** The SHA-256 of a secret in base64; only this is stored. */
export function fingerprint(secret: string): string {
  return hash('sha256', secret, 'base64');
}
