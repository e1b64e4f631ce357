import type { Clock } from '../clock.ts';
import type { Actor } from '../acts.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { appendEntry, appendForOwner } from '../store/owners/audit.ts';
import {
  type OwnerLink,
  findLink,
  insertLink,
  useLink,
  ensureOwner,
  findOwnerByEmail,
  insertMembership,
  updatePassword,
} from '../store/owners/owners.ts';
import { TooBusy } from './password-queue.ts';
import { hashPassword } from './passwords.ts';
import {
  type Accounts,
  type SignInSecrets,
  fingerprint,
  newSecret,
  beginSession,
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

/** Invites someone to a shop. To accept, existing owners need their password. */
export async function inviteOwner(
  sql: Sql,
  clock: Clock,
  { shopId, email }: { readonly shopId: number; readonly email: string },
  by: Actor = commandLine,
): Promise<NewOwnerLink> {
  return sql.begin(async (tx) => {
    const at = new Date(clock.now());
    const { ownerId } = await ensureOwner(tx, normaliseEmail(email), at);
    const link = await createLink(tx, clock, ownerId, shopId);
    await appendEntry(tx, shopId, { at, by, what: 'owner_invited', target: `owner ${ownerId}` });
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
    const link = await createLink(tx, clock, ownerId, null);
    const happened = { at: new Date(clock.now()), by, target: `owner ${ownerId}` };
    await appendForOwner(tx, ownerId, { ...happened, what: 'reset_link_made' });
    return link;
  });
}

async function createLink(
  sql: Transaction,
  clock: Clock,
  ownerId: string,
  shopId: number | null,
): Promise<NewOwnerLink> {
  const secret = newSecret();
  const createdAt = new Date(clock.now());
  const hours = linkHours[shopId === null ? 'reset' : 'invitation'];
  const expiresAt = new Date(clock.now() + hours * 3_600_000);
  await insertLink(sql, { tokenHash: fingerprint(secret), ownerId, shopId, createdAt, expiresAt });
  return { path: `/app/links/${secret}`, hours, expiresAt };
}

/** Whether the link's recipient must enter an existing password. */
export function asksForPassword(link: OwnerLink): boolean {
  return link.shopId !== null && link.passwordHash !== null;
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

type Followed = ({ readonly kind: 'done' } & SignInSecrets) | Refused | { readonly kind: 'ended' };

/**
 * Uses a link. An invitation of an existing owner needs their password and adds the shop. Otherwise the
 * password is set and all sessions are replaced by a new one.
 */
export async function followLink(
  accounts: Accounts,
  { secret: linkSecret, link }: { readonly secret: string; readonly link: OwnerLink },
  { password, ...from }: Omit<Credentials, 'email'>,
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
      if (!isKnown) {
        // Update the password first, so that the account is always locked before its links.
        if (!(await updatePassword(tx, ownerId, link.passwordHash, passwordHash))) return undefined;
      }
      if (!(await useLink(tx, fingerprint(linkSecret), at))) throw new LinkUsed();
      if (!isKnown) await endAccess(tx, clock, ownerId);
      if (shopId !== null) await insertMembership(tx, ownerId, shopId, at);
      const owner = { ownerId, passwordHash };
      return shopId === null
        ? beginSession(tx, accounts, owner, from, 'password_set')
        : beginSession(tx, accounts, owner, from, 'owner_added', shopId);
    })
    .catch(ignoreUsed);
  return secrets ? { kind: 'done', ...secrets } : { kind: 'ended' };
}

/** Rolls back the transaction. */
class LinkUsed extends Error {}

function ignoreUsed(error: unknown): undefined {
  if (!(error instanceof LinkUsed)) throw error;
}
