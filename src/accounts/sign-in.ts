import type { Clock } from '../clock.ts';
import type { Sql } from '../store/database.ts';
import { type OwnerAccount, findOwnerByEmail, updatePassword } from '../store/owners/owners.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import { type SignInSecrets, beginSession, endAccess, forgetEndedSessions } from './sessions.ts';
import { type Throttled, admitAttempt } from './throttle.ts';

export interface Guess {
  readonly email: string;
  readonly password: string;
  /** The network address that it comes from. */
  readonly address: string;
  /** The token of the browser, if it has one. */
  readonly device: string | undefined;
}

/** Why somebody is not signed in. */
export type Refused = { readonly kind: 'wrong' } | Throttled;

type KnownOwner = OwnerAccount & { readonly passwordHash: string };

type Checked = { readonly kind: 'right'; readonly owner: KnownOwner } | Refused;

/** As addresses are stored and compared. */
export function normaliseEmail(text: string): string {
  return text.trim().normalize('NFKC').toLowerCase();
}

/** Whether a password is right. An address that nobody has costs, and answers, what a wrong password does. */
export async function checkPassword(sql: Sql, clock: Clock, guess: Guess): Promise<Checked> {
  const email = normaliseEmail(guess.email);
  const attempt = await admitAttempt(sql, clock, { ...guess, email });
  if (attempt.kind === 'throttled') return attempt;

  const owner = await findOwnerByEmail(sql, email);
  let isRight: boolean;
  try {
    isRight = await verifyPassword(owner?.passwordHash ?? null, guess.password);
  } catch (error) {
    await attempt.withdraw();
    throw error;
  }
  if (!isRight) return { kind: 'wrong' };
  await attempt.succeed();
  return { kind: 'right', owner: owner as KnownOwner };
}

type SignedIn = ({ readonly kind: 'right' } & SignInSecrets) | Refused;

export async function signIn(sql: Sql, clock: Clock, guess: Guess): Promise<SignedIn> {
  const checked = await checkPassword(sql, clock, guess);
  if (checked.kind !== 'right') return checked;
  const secrets = await beginSession(sql, clock, checked.owner, guess.device);
  if (!secrets) return { kind: 'wrong' };
  await forgetEndedSessions(sql, clock, checked.owner.ownerId);
  return { kind: 'right', ...secrets };
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
  const secrets = await sql.begin(async (tx) => {
    if (!(await updatePassword(tx, ownerId, before, passwordHash))) return undefined;
    await endAccess(tx, clock, ownerId);
    return beginSession(tx, clock, { ownerId, passwordHash }, guess.device);
  });
  return secrets ? { kind: 'right', ...secrets } : { kind: 'wrong' };
}
