import type { Clock } from '../clock.ts';
import {
  type AttemptSubject,
  clearAttempts,
  deleteAttempts,
  insertAttempts,
} from '../store/attempts.ts';
import type { Sql } from '../store/database.ts';
import { endResets } from '../store/owner-links.ts';
import { deleteSessions } from '../store/owner-sessions.ts';
import { type OwnerAccount, findOwnerByEmail, updatePassword } from '../store/owners.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import { fingerprint } from './secrets.ts';
import { beginSession, forgetEndedSessions } from './sessions.ts';

/** Wrong passwords within this time count. */
export const attemptMinutes = 15;
/** Of one account, and of one network address, behind which many people may be. */
export const attemptLimits = { account: 10, address: 50 } as const;

export interface Guess {
  readonly email: string;
  readonly password: string;
  /** Where it comes from. */
  readonly address: string;
}

type KnownOwner = OwnerAccount & { readonly passwordHash: string };

type Checked =
  | { readonly kind: 'right'; readonly owner: KnownOwner }
  | { readonly kind: 'wrong' | 'throttled' };

/** As addresses are stored and compared. */
export function normaliseEmail(text: string): string {
  return text.trim().normalize('NFKC').toLowerCase();
}

/** Whether a password is right. An address that nobody has costs, and answers, what a wrong password does. */
export async function checkPassword(sql: Sql, clock: Clock, guess: Guess): Promise<Checked> {
  const email = normaliseEmail(guess.email);
  const account: AttemptSubject = {
    hash: fingerprint(`account ${email}`),
    limit: attemptLimits.account,
  };
  const address: AttemptSubject = {
    hash: fingerprint(`address ${guess.address}`),
    limit: attemptLimits.address,
  };
  const at = new Date(clock.now());
  const since = new Date(clock.now() - attemptMinutes * 60_000);
  const ids = await insertAttempts(sql, [account, address], at, since);
  if (!ids) return { kind: 'throttled' };

  const owner = await findOwnerByEmail(sql, email);
  if (!(await verifyPassword(owner?.passwordHash ?? null, guess.password)))
    return { kind: 'wrong' };
  await deleteAttempts(sql, ids);
  await clearAttempts(sql, account.hash);
  return { kind: 'right', owner: owner as KnownOwner };
}

type SignedIn =
  | { readonly kind: 'right'; readonly secret: string }
  | { readonly kind: 'wrong' | 'throttled' };

/** @returns on success what the session's cookie is to hold */
export async function signIn(sql: Sql, clock: Clock, guess: Guess): Promise<SignedIn> {
  const checked = await checkPassword(sql, clock, guess);
  if (checked.kind !== 'right') return checked;
  const secret = await beginSession(sql, clock, checked.owner);
  if (secret === undefined) return { kind: 'wrong' };
  await forgetEndedSessions(sql, clock, checked.owner.ownerId);
  return { kind: 'right', secret };
}

/** Replaces a password and ends all sessions; the one that is begun in exchange is the only one. */
export async function changePassword(
  sql: Sql,
  clock: Clock,
  guess: Guess,
  newPassword: string,
): Promise<SignedIn> {
  const checked = await checkPassword(sql, clock, guess);
  if (checked.kind !== 'right') return checked;
  const { ownerId, passwordHash: before } = checked.owner;
  const passwordHash = await hashPassword(newPassword);
  const secret = await sql.begin(async (tx) => {
    if (!(await updatePassword(tx, ownerId, before, passwordHash))) return undefined;
    await deleteSessions(tx, ownerId);
    await endResets(tx, ownerId, new Date(clock.now()));
    return beginSession(tx, clock, { ownerId, passwordHash });
  });
  return secret === undefined ? { kind: 'wrong' } : { kind: 'right', secret };
}
