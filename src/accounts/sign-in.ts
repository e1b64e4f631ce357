import type { Actor } from '../acts.ts';
import type { Transaction } from '../store/database.ts';
import { type Happened, appendEntry, appendForOwner, installation } from '../store/owners/audit.ts';
import { type OwnerAccount, findOwnerByEmail, updatePassword } from '../store/owners/owners.ts';
import { type Waiting, beginSignIn } from './factors/second-step.ts';
import { type Turn, passwordQueue } from './password-queue.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import {
  type Accounts,
  type Browser,
  type SignInSecrets,
  beginSession,
  deleteExpiredSessions,
  endAccess,
} from './sessions.ts';
import {
  type Attempt,
  type Throttled,
  admitDevice,
  admitStranger,
  knowsDevice,
} from './throttle.ts';

export interface Credentials extends Browser {
  readonly email: string;
  readonly password: string;
  /** The client's network address. */
  readonly address: string;
  /** Who enters them, for the audit log. */
  readonly by: Actor;
}

/** Why someone is not signed in. Single sign-on may replace passwords, right or wrong. */
export type Refused = { readonly kind: 'wrong' } | { readonly kind: 'replaced' } | Throttled;

type KnownOwner = OwnerAccount & { readonly passwordHash: string };

type Checked = { readonly kind: 'right'; readonly owner: KnownOwner } | Refused;

/** The form in which addresses are stored and compared. */
export function normaliseEmail(text: string): string {
  return text.trim().normalize('NFKC').toLowerCase();
}

/** Whether a text in that form can be the address of an owner. */
export function isEmail(text: string): boolean {
  return /^[^\s\p{C}@]+@[^\s\p{C}@]+$/u.test(text) && text.length <= 254;
}

/** Of an address without an account, only that there was one. */
function appendFailure(
  tx: Transaction,
  owner: OwnerAccount | undefined,
  { nextWaitSeconds }: Attempt,
  happened: Pick<Happened, 'at' | 'by'>,
): Promise<void> {
  if (!owner) {
    const what = 'unknown_sign_in_failed';
    return appendEntry(tx, installation, { ...happened, what, isLimited: true });
  }
  const what = nextWaitSeconds > 0 ? 'sign_in_locked' : 'sign_in_failed';
  return appendForOwner(tx, owner.ownerId, { ...happened, what, target: `owner ${owner.ownerId}` });
}

/**
 * Checks a password. An unknown address takes as long, and gives the same result, as a wrong password.
 * @throws TooBusy before anything is stored
 */
export async function checkPassword(
  accounts: Accounts,
  { email: entered, password, address, by, device }: Credentials,
): Promise<Checked> {
  const { sql, clock } = accounts;
  const email = normaliseEmail(entered);
  const check = async (attempt: Attempt, turn: Turn): Promise<Checked> => {
    if (await accounts.sso.findReplacing(email)) {
      await attempt.succeed();
      return { kind: 'replaced' };
    }
    const owner = await findOwnerByEmail(sql, email);
    const hash = owner?.passwordHash ?? null;
    if (!(await verifyPassword(turn, hash, password))) {
      const happened = { at: new Date(clock.now()), by };
      accounts.later(() => sql.begin((tx) => appendFailure(tx, owner, attempt, happened)));
      return { kind: 'wrong' };
    }
    await attempt.succeed();
    turn.succeed();
    return { kind: 'right', owner: owner as KnownOwner };
  };

  if (device !== undefined && (await knowsDevice(accounts, { email, device, address }))) {
    using turn = await passwordQueue.turn({ standing: 'known', network: address });
    const attempt = await admitDevice(sql, clock, { email, device });
    if (attempt) return await check(attempt, turn);
  }
  using turn = await passwordQueue.turn({ standing: 'stranger', network: address });
  const attempt = await admitStranger(sql, clock, { email, address });
  return attempt.kind === 'throttled' ? attempt : await check(attempt, turn);
}

type SignedIn = ({ readonly kind: 'right' } & SignInSecrets) | Refused;

/** Owners with a second factor have to give it next. */
export async function signIn(
  accounts: Accounts,
  credentials: Credentials,
): Promise<SignedIn | ({ readonly kind: 'right' } & Waiting)> {
  const { sql, clock } = accounts;
  const checked = await checkPassword(accounts, credentials);
  if (checked.kind !== 'right') return checked;
  const secrets = await sql.begin((tx) =>
    beginSignIn(tx, accounts, checked.owner, credentials, 'signed_in'),
  );
  if (!secrets) return { kind: 'wrong' };
  await deleteExpiredSessions(sql, clock, checked.owner.ownerId);
  return { kind: 'right', ...secrets };
}

/** Replaces a password, ends all sessions and starts a new one. */
export async function changePassword(
  accounts: Accounts,
  credentials: Credentials,
  newPassword: string,
): Promise<SignedIn> {
  const { sql, clock } = accounts;
  const checked = await checkPassword(accounts, credentials);
  if (checked.kind !== 'right') return checked;
  const { ownerId, passwordHash: before } = checked.owner;
  const passwordHash = await hashPassword(newPassword, credentials.address);
  const secrets = await sql.begin(async (tx) => {
    if (!(await updatePassword(tx, ownerId, before, passwordHash))) return undefined;
    await endAccess(tx, clock, ownerId);
    const owner = { ownerId, passwordHash };
    return beginSession(tx, accounts, owner, credentials, 'password_changed');
  });
  return secrets ? { kind: 'right', ...secrets } : { kind: 'wrong' };
}
