import type { Clock } from '../clock.ts';
import type { Sql } from '../store/database.ts';
import { type OwnerAccount, findOwnerByEmail, updatePassword } from '../store/owners/owners.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import { type SignInSecrets, beginSession, endAccess, deleteExpiredSessions } from './sessions.ts';
import { type Throttled, admitAttempt } from './throttle.ts';

export interface Credentials {
  readonly email: string;
  readonly password: string;
  /** The client's network address. */
  readonly address: string;
  /** The browser's token, if it has one. */
  readonly device: string | undefined;
}

/** Why someone is not signed in. */
export type Refused = { readonly kind: 'wrong' } | Throttled;

type KnownOwner = OwnerAccount & { readonly passwordHash: string };

type Checked = { readonly kind: 'right'; readonly owner: KnownOwner } | Refused;

/** The form in which addresses are stored and compared. */
export function normaliseEmail(text: string): string {
  return text.trim().normalize('NFKC').toLowerCase();
}

/** Checks a password. An unknown address takes as long, and gives the same result, as a wrong password. */
export async function checkPassword(
  sql: Sql,
  clock: Clock,
  credentials: Credentials,
): Promise<Checked> {
  const email = normaliseEmail(credentials.email);
  const attempt = await admitAttempt(sql, clock, { ...credentials, email });
  if (attempt.kind === 'throttled') return attempt;

  const owner = await findOwnerByEmail(sql, email);
  let isRight: boolean;
  try {
    isRight = await verifyPassword(owner?.passwordHash ?? null, credentials.password);
  } catch (error) {
    await attempt.withdraw();
    throw error;
  }
  if (!isRight) return { kind: 'wrong' };
  await attempt.succeed();
  return { kind: 'right', owner: owner as KnownOwner };
}

type SignedIn = ({ readonly kind: 'right' } & SignInSecrets) | Refused;

export async function signIn(sql: Sql, clock: Clock, credentials: Credentials): Promise<SignedIn> {
  const checked = await checkPassword(sql, clock, credentials);
  if (checked.kind !== 'right') return checked;
  const secrets = await beginSession(sql, clock, checked.owner, credentials.device);
  if (!secrets) return { kind: 'wrong' };
  await deleteExpiredSessions(sql, clock, checked.owner.ownerId);
  return { kind: 'right', ...secrets };
}

/** Replaces a password, ends all sessions and starts a new one. */
export async function changePassword(
  sql: Sql,
  clock: Clock,
  credentials: Credentials,
  newPassword: string,
): Promise<SignedIn> {
  const checked = await checkPassword(sql, clock, credentials);
  if (checked.kind !== 'right') return checked;
  const { ownerId, passwordHash: before } = checked.owner;
  const passwordHash = await hashPassword(newPassword);
  const secrets = await sql.begin(async (tx) => {
    if (!(await updatePassword(tx, ownerId, before, passwordHash))) return undefined;
    await endAccess(tx, clock, ownerId);
    return beginSession(tx, clock, { ownerId, passwordHash }, credentials.device);
  });
  return secrets ? { kind: 'right', ...secrets } : { kind: 'wrong' };
}
