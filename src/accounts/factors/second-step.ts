import type { Act, Actor } from '../../acts.ts';
import type { Transaction } from '../../store/database.ts';
import { appendEntry, appendForOwner } from '../../store/owners/audit.ts';
import {
  type WaitingOwner,
  insertChallenge,
  listFactors,
  takeChallenge,
} from '../../store/owners/factors.ts';
import { lockAccount } from '../../store/owners/owners.ts';
import { updateSessionProvider } from '../../store/owners/sso.ts';
import {
  type Accounts,
  type Browser,
  type SignInSecrets,
  beginSession,
  deleteExpiredSessions,
  fingerprint,
  newSecret,
} from '../sessions.ts';

/** How long a browser has for the second step, and for a passkey. */
export const stepMinutes = 5;

export function stepEnd(now: number): Date {
  return new Date(now + stepMinutes * 60_000);
}

/** The password, or an issuer's answer, was right; the browser that has this secret is asked for a second factor. */
export interface Waiting {
  readonly waiting: string;
}

type From = Browser & { readonly by: Actor };
type Owner = { readonly ownerId: string; readonly passwordHash: string | null };

/**
 * Starts a session, or for owners with a second factor waits for that.
 * @returns undefined if the password was changed in the meantime
 */
export async function beginSignIn(
  tx: Transaction,
  accounts: Accounts,
  owner: Owner,
  from: From,
  what: Act,
  shopId?: number,
): Promise<SignInSecrets | Waiting | undefined> {
  const { ownerId } = owner;
  // Or a first factor that is being added would not end the session.
  await lockAccount(tx, ownerId);
  if ((await listFactors(tx, ownerId)).length === 0) {
    return beginSession(tx, accounts, owner, from, what, shopId);
  }
  const waiting = newSecret();
  const now = accounts.clock.now();
  const tokenHash = hashOfWaiting(waiting);
  await insertChallenge(tx, { tokenHash, ownerId, expiresAt: stepEnd(now) }, new Date(now));
  const by = { who: `owner ${ownerId}`, network: from.by.network };
  const happened = { at: new Date(now), by, what };
  if (shopId !== undefined) await appendEntry(tx, shopId, happened);
  else if (what !== 'signed_in') await appendForOwner(tx, ownerId, happened);
  return { waiting };
}

export function hashOfWaiting(secret: string): string {
  return fingerprint(`second step ${secret}`);
}

/** Starts the session once the second factor is right. @returns undefined if the browser may no longer */
export async function completeSignIn(
  accounts: Accounts,
  waiting: string,
  owner: WaitingOwner,
  from: From,
): Promise<SignInSecrets | undefined> {
  const { sql, clock } = accounts;
  const at = new Date(clock.now());
  const secrets = await sql.begin(async (tx) => {
    const taken = await takeChallenge(tx, hashOfWaiting(waiting), at);
    const begun = taken && (await beginSession(tx, accounts, owner, from, 'signed_in'));
    if (begun && taken.provider !== null) {
      const { provider } = taken;
      await updateSessionProvider(tx, fingerprint(begun.session), { provider, provedAt: at });
    }
    return begun;
  });
  await deleteExpiredSessions(sql, clock, owner.ownerId);
  return secrets;
}
