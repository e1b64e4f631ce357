import type { Act, Actor } from '../../acts.ts';
import type { Transaction } from '../../store/database.ts';
import { appendEntry, appendForOwner } from '../../store/owners/audit.ts';
import {
  type WaitingOwner,
  insertChallenge,
  listFactors,
  takeChallenge,
} from '../../store/owners/factors.ts';
import { insertMembership, lockAccount, useLink } from '../../store/owners/owners.ts';
import { acceptInvitations, updateSessionProvider } from '../../store/owners/sso.ts';
import {
  type Accounts,
  type Browser,
  type SignInSecrets,
  beginSession,
  deleteExpiredSessions,
  fingerprint,
  newSecret,
  ownerActor,
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
 * @param linkHash of the invitation that is accepted with it
 * @returns undefined if the password was changed in the meantime, or the invitation has ended
 */
export async function beginSignIn(
  tx: Transaction,
  accounts: Accounts,
  owner: Owner,
  from: From,
  what: Act,
  linkHash?: string,
): Promise<SignInSecrets | Waiting | undefined> {
  const { ownerId } = owner;
  // Or a first factor that is being added would not end the session.
  await lockAccount(tx, ownerId);
  const now = accounts.clock.now();
  const at = new Date(now);
  if ((await listFactors(tx, ownerId)).length === 0) {
    if (linkHash === undefined) return beginSession(tx, accounts, owner, from, what);
    const shopId = await acceptInvitation(tx, { ownerId, linkHash }, at);
    return shopId === undefined ? undefined : beginSession(tx, accounts, owner, from, what, shopId);
  }
  const waiting = newSecret();
  const tokenHash = hashOfWaiting(waiting);
  await insertChallenge(tx, { tokenHash, ownerId, linkHash, expiresAt: stepEnd(now) }, at);
  const by = { who: `owner ${ownerId}`, network: from.by.network };
  if (what !== 'signed_in') await appendForOwner(tx, ownerId, { at, by, what });
  return { waiting };
}

/** @returns the shop that the owner is now a member of; undefined if the invitation has ended */
async function acceptInvitation(
  tx: Transaction,
  { ownerId, linkHash }: { readonly ownerId: string; readonly linkHash: string },
  at: Date,
): Promise<number | undefined> {
  const { shopId = null, role = 'analyst' } = (await useLink(tx, linkHash, at)) ?? {};
  if (shopId === null) return undefined;
  await insertMembership(tx, { ownerId, shopId, role }, at);
  return shopId;
}

/** Accepts all invitations of somebody whose address an issuer has proved. */
export async function acceptAll(
  tx: Transaction,
  ownerId: string,
  by: Actor,
  at: Date,
): Promise<void> {
  for (const shopId of await acceptInvitations(tx, ownerId, at)) {
    await appendEntry(tx, shopId, { at, by, what: 'owner_added' });
  }
}

export function hashOfWaiting(secret: string): string {
  return fingerprint(`second step ${secret}`);
}

/**
 * Starts the session once the second factor is right, and accepts the invitation that led here; all, if an issuer did.
 * @returns undefined if the browser may no longer
 */
export async function completeSignIn(
  accounts: Accounts,
  waiting: string,
  owner: WaitingOwner,
  from: From,
): Promise<SignInSecrets | undefined> {
  const { sql, clock } = accounts;
  const at = new Date(clock.now());
  const { ownerId } = owner;
  const secrets = await sql.begin(async (tx) => {
    await lockAccount(tx, ownerId);
    const taken = await takeChallenge(tx, hashOfWaiting(waiting), at);
    const begun = taken && (await beginSession(tx, accounts, owner, from, 'signed_in'));
    if (begun && taken.linkHash !== null) {
      const shopId = await acceptInvitation(tx, { ownerId, linkHash: taken.linkHash }, at);
      const by = ownerActor(ownerId, begun.session, from.by.network);
      if (shopId !== undefined) await appendEntry(tx, shopId, { at, by, what: 'owner_added' });
    }
    if (begun && taken.provider !== null) {
      const { provider } = taken;
      await updateSessionProvider(tx, fingerprint(begun.session), { provider, provedAt: at });
      await acceptAll(tx, ownerId, ownerActor(ownerId, begun.session, from.by.network), at);
    }
    return begun;
  });
  await deleteExpiredSessions(sql, clock, ownerId);
  return secrets;
}
