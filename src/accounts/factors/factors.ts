import type { Actor } from '../../acts.ts';
import type { Sealing } from '../../platforms/credentials/sealing.ts';
import type { Transaction } from '../../store/database.ts';
import { type Happened, appendForOwner } from '../../store/owners/audit.ts';
import {
  type Factor,
  countRecoveryCodes,
  deleteChallengesOf,
  deleteFactors,
  insertFactor,
  listFactors,
  replaceRecoveryCodes,
  useRecoveryCode,
} from '../../store/owners/factors.ts';
import { lockAccount } from '../../store/owners/owners.ts';
import { deleteOtherSessions, updateProof } from '../../store/owners/sign-in.ts';
import { type Accounts, type OwnerSession, endAccess, fingerprint } from '../sessions.ts';
import type { Refused } from '../sign-in.ts';
import { admitStranger, admitDevice, knowsDevice } from '../throttle.ts';
import { hashOfCode, isAppCode, newRecoveryCodes, readCode, useAppCode } from './codes.ts';
import { type PasskeyBrowser, verifyUse } from './passkeys.ts';

export interface FactorParts {
  readonly accounts: Accounts;
  /** Of the secrets of apps. */
  readonly sealing: Sealing;
}

interface Owner {
  readonly ownerId: string;
  readonly email: string;
}

/** What somebody gives as a second factor, and who. */
export interface GivenFactor {
  /** What the browser answered. */
  readonly passkey: string;
  /** Of an app, or a recovery code. */
  readonly code: string;
  /** Undefined where the service's address allows no passkeys. */
  readonly browser: PasskeyBrowser | undefined;
  /** The client's network address. */
  readonly address: string;
  readonly device: string | undefined;
  readonly by: Actor;
}

/** Checks a second factor under the rules of passwords. */
export async function checkFactor(
  parts: FactorParts,
  owner: Owner,
  given: GivenFactor,
): Promise<{ readonly kind: 'right' } | Refused> {
  const { sql, clock, later } = parts.accounts;
  const { ownerId, email } = owner;
  const { address, device, by } = given;
  const known =
    device !== undefined && (await knowsDevice(parts.accounts, { email, device, address }))
      ? await admitDevice(sql, clock, { email, device })
      : undefined;
  // Counted apart: who guesses passwords must not hold up those who know theirs.
  const attempt =
    known ?? (await admitStranger(sql, clock, { email: `second factor of ${email}`, address }));
  if (attempt.kind === 'throttled') return attempt;
  if (await isRight(parts, ownerId, given)) {
    await attempt.succeed();
    return { kind: 'right' };
  }
  const happened = { at: new Date(clock.now()), by, target: `owner ${ownerId}` };
  later(() =>
    sql.begin((tx) => appendForOwner(tx, ownerId, { ...happened, what: 'second_factor_failed' })),
  );
  return { kind: 'wrong' };
}

async function isRight(
  { accounts, sealing }: FactorParts,
  ownerId: string,
  { passkey, code: typed, browser, by }: GivenFactor,
): Promise<boolean> {
  const { sql, clock } = accounts;
  if (passkey !== '') {
    return (
      browser !== undefined && (await verifyUse(accounts, browser, passkey))?.ownerId === ownerId
    );
  }
  const code = readCode(typed);
  if (isAppCode(code)) return useAppCode({ sql, sealing }, ownerId, code, clock.now());
  return sql.begin(async (tx) => {
    const at = new Date(clock.now());
    if (!(await useRecoveryCode(tx, ownerId, hashOfCode(ownerId, code), at))) return false;
    const { left, all } = await countRecoveryCodes(tx, ownerId);
    const target = `${left} of ${all}`;
    const who = by.session === undefined ? { ...by, who: `owner ${ownerId}` } : by;
    await appendForOwner(tx, ownerId, { at, by: who, what: 'recovery_code_used', target });
    return true;
  });
}

/** Notes that the owner has just proved who they are. */
export function noteProof({ sql, clock }: Accounts, { secret }: OwnerSession): Promise<void> {
  return updateProof(sql, fingerprint(secret), new Date(clock.now()));
}

const maxFactors = 10;

type Added =
  | { readonly kind: 'added'; readonly codes: readonly string[] | undefined }
  | { readonly kind: 'known' | 'too many' };

/** What the audit log calls a factor, without the name that its owner gave it. */
export const kindOf = ({ credentialId }: Pick<Factor, 'credentialId'>) =>
  credentialId === null ? 'an authenticator app' : 'a passkey';

/**
 * Adds a factor, which was just used. With the first one, all other sessions end, as they began with a password only.
 * @returns with the first one, recovery codes
 */
export function addFactor(
  { sql, clock }: Accounts,
  { secret, ownerId }: OwnerSession,
  factor: Omit<Factor, 'ownerId' | 'createdAt' | 'usedAt'>,
  by: Actor,
): Promise<Added> {
  const at = new Date(clock.now());
  return sql.begin(async (tx): Promise<Added> => {
    await lockAccount(tx, ownerId);
    const { length } = await listFactors(tx, ownerId);
    if (length >= maxFactors) return { kind: 'too many' };
    if (!(await insertFactor(tx, { ...factor, ownerId, createdAt: at }))) return { kind: 'known' };
    const current = fingerprint(secret);
    await updateProof(tx, current, at);
    if (length === 0) await deleteOtherSessions(tx, ownerId, current);
    const codes = length === 0 ? await makeCodes(tx, ownerId, { at, by }) : undefined;
    await appendForOwner(tx, ownerId, { at, by, what: 'factor_added', target: kindOf(factor) });
    return { kind: 'added', codes };
  });
}

async function makeCodes(tx: Transaction, ownerId: string, happened: Pick<Happened, 'at' | 'by'>) {
  const codes = newRecoveryCodes();
  const hashes = codes.map((code) => hashOfCode(ownerId, code));
  await replaceRecoveryCodes(tx, ownerId, hashes, happened.at);
  await appendForOwner(tx, ownerId, { ...happened, what: 'recovery_codes_made' });
  return codes;
}

/**
 * Replaces the recovery codes.
 * @param before when the present ones were made, so that a form that is sent twice replaces them once
 */
export function replaceCodes(
  { sql, clock }: Accounts,
  { ownerId }: OwnerSession,
  before: number,
  by: Actor,
): Promise<readonly string[] | undefined> {
  return sql.begin(async (tx) => {
    await lockAccount(tx, ownerId);
    const { madeAt } = await countRecoveryCodes(tx, ownerId);
    return madeAt?.getTime() === before
      ? makeCodes(tx, ownerId, { at: new Date(clock.now()), by })
      : undefined;
  });
}

/** @returns undefined if the owner has no such factor */
export function removeFactor(
  { sql, clock }: Accounts,
  { ownerId }: OwnerSession,
  factorId: string,
  by: Actor,
): Promise<Pick<Factor, 'credentialId'> | undefined> {
  const at = new Date(clock.now());
  return sql.begin(async (tx) => {
    await lockAccount(tx, ownerId);
    const [removed] = await deleteFactors(tx, ownerId, factorId);
    if (!removed) return undefined;
    if ((await listFactors(tx, ownerId)).length === 0) {
      await replaceRecoveryCodes(tx, ownerId, [], at);
      await deleteChallengesOf(tx, ownerId);
    }
    await appendForOwner(tx, ownerId, { at, by, what: 'factor_removed', target: kindOf(removed) });
    return removed;
  });
}

/** Removes all factors of an owner who has lost them, and ends all sessions. @returns how many factors */
export function resetFactors(
  { sql, clock }: Pick<Accounts, 'sql' | 'clock'>,
  ownerId: string,
  by: Actor,
): Promise<number> {
  const at = new Date(clock.now());
  return sql.begin(async (tx) => {
    await lockAccount(tx, ownerId);
    const { length } = await deleteFactors(tx, ownerId);
    await replaceRecoveryCodes(tx, ownerId, [], at);
    await endAccess(tx, clock, ownerId);
    const target = `owner ${ownerId}`;
    if (length > 0) await appendForOwner(tx, ownerId, { at, by, what: 'factors_reset', target });
    return length;
  });
}
