import type { Clock } from '../clock.ts';
import { type Actor, ownerIdIn, withRole } from '../acts.ts';
import type { Sql, Transaction } from '../store/database.ts';
import type { Role } from '../vocabulary.ts';
import { TeamRefusal, lockTeam } from './team.ts';
import { appendEntry, appendForOwner } from '../store/owners/audit.ts';
import {
  type OwnerLink,
  deleteInvitations,
  findLink,
  insertLink,
  useLink,
  ensureOwner,
  findOwnerByEmail,
  listMemberships,
  lockAccount,
  updateName,
  updatePassword,
} from '../store/owners/owners.ts';
import { type Waiting, beginSignIn } from './factors/second-step.ts';
import { TooBusy } from './password-queue.ts';
import { hashPassword } from './passwords.ts';
import {
  type Accounts,
  type SignInSecrets,
  fingerprint,
  newSecret,
  endAccess,
} from './sessions.ts';
import { type Credentials, type Refused, checkPassword, normaliseEmail } from './sign-in.ts';

/** How long invitations and password-reset links are valid. */
const linkHours = { invitation: 72, reset: 1 } as const;

/** A one-time link's path. */
export interface NewOwnerLink {
  readonly path: string;
  readonly hours: number;
  readonly expiresAt: Date;
}

interface NewInvitation {
  readonly shopId: number;
  readonly email: string;
  readonly role?: Role;
  /** The only invitation that this one may replace while it is valid; any if undefined. */
  readonly replaces?: string;
}

/**
 * Invites someone to a shop, in place of earlier invitations. To accept, existing owners need their password.
 * @throws TeamRefusal
 */
export async function inviteOwner(
  sql: Sql,
  clock: Clock,
  { shopId, email, role = 'owner', replaces }: NewInvitation,
  by: Actor = commandLine,
): Promise<NewOwnerLink> {
  return sql.begin(async (tx) => {
    const at = new Date(clock.now());
    const ownerId = await ensureOwner(tx, normaliseEmail(email), at);
    const team = await lockTeam(tx, shopId, by, role);
    if (replaces !== undefined && team.has(ownerId)) throw new TeamRefusal('member');
    const pending = await deleteInvitations(tx, ownerId, shopId);
    if (
      replaces !== undefined &&
      pending.some((each) => each.linkId !== replaces && each.expiresAt > at)
    ) {
      throw new TeamRefusal('invited');
    }
    const link = await createLink(tx, clock, ownerId, {
      shopId,
      role,
      invitedBy: ownerIdIn(by.who),
    });
    const target = withRole(ownerId, role);
    await appendEntry(tx, shopId, { at, by, what: 'owner_invited', target });
    return link;
  });
}

const commandLine: Actor = { who: 'command line' };

/** Creates a link that resets a forgotten password. @returns undefined for an unknown address */
export async function resetPassword(
  sql: Sql,
  clock: Clock,
  email: string,
  by: Actor = commandLine,
): Promise<NewOwnerLink | undefined> {
  const owner = await findOwnerByEmail(sql, normaliseEmail(email));
  if (!owner) return undefined;
  const { ownerId } = owner;
  return sql.begin(async (tx) => {
    const link = await createLink(tx, clock, ownerId, { shopId: null, role: 'owner' });
    const happened = { at: new Date(clock.now()), by, target: `owner ${ownerId}` };
    await appendForOwner(tx, ownerId, { ...happened, what: 'reset_link_made' });
    return link;
  });
}

export async function createLink(
  sql: Transaction,
  clock: Clock,
  ownerId: string,
  {
    shopId,
    role,
    invitedBy,
  }: Pick<OwnerLink, 'shopId' | 'role'> & {
    readonly invitedBy?: string | undefined;
  },
): Promise<NewOwnerLink> {
  const secret = newSecret();
  const createdAt = new Date(clock.now());
  const hours = linkHours[shopId === null ? 'reset' : 'invitation'];
  const expiresAt = new Date(clock.now() + hours * 3_600_000);
  const tokenHash = fingerprint(secret);
  const link = { tokenHash, ownerId, shopId, role, createdAt, expiresAt };
  await insertLink(sql, { ...link, invitedBy: invitedBy ?? null });
  return { path: `/app/links/${secret}`, hours, expiresAt };
}

/** Whether the link's recipient must enter an existing password. */
export function asksForPassword(link: OwnerLink): boolean {
  return link.shopId !== null && link.passwordHash !== null;
}

/** Whether its recipient, who has shops but no password, must sign in otherwise to accept: who invites sees the link, too. */
export function asksForSignIn(link: OwnerLink): boolean {
  return link.shopId !== null && link.passwordHash === null && link.isMember;
}

/**
 * Asks the database for what a link's secret belongs to.
 * @throws TooBusy if the client has sent too many that belong to nothing
 */
export async function findByLink<Found>(
  { allowance }: Accounts,
  client: string,
  find: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  if (allowance.isUsedUp(client)) throw new TooBusy();
  const found = await find();
  if (!found) allowance.charge(client);
  return found;
}

export function openLink(
  accounts: Accounts,
  secret: string,
  client: string,
): Promise<OwnerLink | undefined> {
  const { sql, clock } = accounts;
  return findByLink(accounts, client, () =>
    findLink(sql, fingerprint(secret), new Date(clock.now())),
  );
}

type Followed =
  | ({ readonly kind: 'done' } & (SignInSecrets | Waiting))
  | Refused
  | { readonly kind: 'ended' };

/**
 * Uses a link. An invitation of an existing owner needs their password, or a sign-in, and adds the shop. Otherwise the
 * password is set and all sessions are replaced by a new one. Owners with a second factor have to give it next, and
 * are members only then.
 */
export async function followLink(
  accounts: Accounts,
  { secret: linkSecret, link }: { readonly secret: string; readonly link: OwnerLink },
  {
    password,
    name,
    ...from
  }: Omit<Credentials, 'email'> & { readonly name?: string | null | undefined },
): Promise<Followed> {
  const { sql, clock } = accounts;
  const { ownerId, email, shopId } = link;
  const isKnown = asksForPassword(link);
  let passwordHash: string;
  if (isKnown) {
    const checked = await checkPassword(accounts, { email, password, ...from });
    if (checked.kind !== 'right') return checked;
    passwordHash = checked.owner.passwordHash;
  } else {
    passwordHash = await hashPassword(password, from.address);
  }

  const at = new Date(clock.now());
  const secrets = await sql
    .begin(async (tx) => {
      await lockAccount(tx, ownerId);
      if (!isKnown) {
        const isMember = shopId !== null && (await listMemberships(tx, ownerId)).length > 0;
        if (isMember || !(await updatePassword(tx, ownerId, link.passwordHash, passwordHash))) {
          return undefined;
        }
        if (name !== undefined) await updateName(tx, ownerId, name);
      }
      const linkHash = fingerprint(linkSecret);
      if (shopId === null && !(await useLink(tx, linkHash, at))) throw new LinkEnded();
      if (!isKnown) await endAccess(tx, clock, ownerId);
      const owner = { ownerId, passwordHash };
      const begun =
        shopId === null
          ? await beginSignIn(tx, accounts, owner, from, 'password_set')
          : await beginSignIn(tx, accounts, owner, from, 'signed_in', linkHash);
      if (!begun) throw new LinkEnded();
      return begun;
    })
    .catch(ignoreEnded);
  return secrets ? { kind: 'done', ...secrets } : { kind: 'ended' };
}

/** Rolls back the transaction. */
class LinkEnded extends Error {}

function ignoreEnded(error: unknown): undefined {
  if (!(error instanceof LinkEnded)) throw error;
}
