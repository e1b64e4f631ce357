import type { Role } from '../../vocabulary.ts';
import { type Sql, type Transaction, arrayText, withTimeout } from '../database.ts';

/** Who somebody is, for people. */
export interface Person {
  /** In lower case. */
  readonly email: string;
  /** What they call themselves; null if they did not say. */
  readonly name: string | null;
}

/** Someone who can sign in; an email address, and perhaps a name, is all that is known about them. */
export interface OwnerAccount extends Person {
  readonly ownerId: string;
  /** Null until the first link has been used, and for those who sign in at an issuer only. */
  readonly passwordHash: string | null;
}

export interface Member extends Person {
  readonly ownerId: string;
  readonly role: Role;
  readonly since: Date;
  /** In any of their shops; null if that is longer ago than browsers are remembered. */
  readonly seenAt: Date | null;
}

/** Finds the account with an email address, or creates it, and locks it. @returns its id */
export async function ensureOwner(tx: Transaction, email: string, at: Date): Promise<string> {
  const [row] = await tx<{ ownerId: string }[]>`
    insert into owners.accounts (email, created_at) values (${email}, ${at})
    on conflict (email) do update set email = excluded.email
    returning owner_id as "ownerId"`;
  return row?.ownerId ?? '';
}

/** Locks an account until the transaction ends: always before memberships and links, to avoid deadlocks. */
export async function lockAccount(tx: Transaction, ownerId: string): Promise<void> {
  await tx`select from owners.accounts where owner_id = ${ownerId} for update`;
}

export async function findOwnerByEmail(
  sql: Sql | Transaction,
  email: string,
): Promise<OwnerAccount | undefined> {
  const [owner] = await withTimeout(sql<OwnerAccount[]>`
      select owner_id as "ownerId", email, name, password_hash as "passwordHash"
      from owners.accounts where email = ${email}`);
  return owner;
}

export async function findOwner(sql: Sql, ownerId: string): Promise<OwnerAccount | undefined> {
  const [owner] = await withTimeout(sql<OwnerAccount[]>`
      select owner_id as "ownerId", email, name, password_hash as "passwordHash"
      from owners.accounts where owner_id = ${ownerId}`);
  return owner;
}

/** Replaces a password if it is still `before`. @returns whether it was */
export async function updatePassword(
  tx: Transaction,
  ownerId: string,
  before: string | null,
  passwordHash: string | null,
): Promise<boolean> {
  const result = await tx`
    update owners.accounts set password_hash = ${passwordHash}
    where owner_id = ${ownerId} and password_hash is not distinct from ${before}`;
  return result.count === 1;
}

/** @returns whether it was another one before */
export async function updateName(
  tx: Transaction,
  ownerId: string,
  name: string | null,
): Promise<boolean> {
  const result = await tx`
    update owners.accounts set name = ${name}
    where owner_id = ${ownerId} and name is distinct from ${name}`;
  return result.count === 1;
}

/** Somebody who is a member already keeps their role. */
export async function insertMembership(
  tx: Transaction,
  {
    ownerId,
    shopId,
    role,
  }: Omit<Membership, 'requiresSecondFactor'> & { readonly ownerId: string },
  at: Date,
): Promise<void> {
  await tx`
    insert into owners.memberships (owner_id, shop_id, role, created_at)
    values (${ownerId}, ${shopId}, ${role}, ${at}) on conflict do nothing`;
}

/** The roles of a shop's members by their ids, locked until the transaction ends. */
export async function lockRoles(
  tx: Transaction,
  shopId: number,
): Promise<ReadonlyMap<string, Role>> {
  const rows = await tx<{ ownerId: string; role: Role }[]>`
    select owner_id as "ownerId", role from owners.memberships
    where shop_id = ${shopId} order by owner_id for update`;
  return new Map(rows.map(({ ownerId, role }) => [ownerId, role]));
}

export async function updateRole(
  tx: Transaction,
  {
    ownerId,
    shopId,
    role,
  }: Omit<Membership, 'requiresSecondFactor'> & { readonly ownerId: string },
): Promise<void> {
  await tx`
    update owners.memberships set role = ${role}
    where owner_id = ${ownerId} and shop_id = ${shopId}`;
}

/**
 * Removes someone's access to a shop, including links that would restore it. Deletes accounts without a shop.
 * @returns whether there was any access to remove
 */
export async function deleteMembership(
  tx: Transaction,
  ownerId: string,
  shopId: number,
): Promise<boolean> {
  const links = await tx`
    delete from owners.links where owner_id = ${ownerId} and shop_id = ${shopId}`;
  const memberships = await tx`
    delete from owners.memberships where owner_id = ${ownerId} and shop_id = ${shopId}`;
  await deleteAccountsWithoutShop(tx, [ownerId]);
  return links.count + memberships.count > 0;
}

/** Leaves accounts that are locked: who has locked one may be giving it a shop, and may wait for this transaction. */
async function deleteAccountsWithoutShop(
  tx: Transaction,
  ownerIds: readonly string[],
): Promise<void> {
  const locked = await tx<{ ownerId: string }[]>`
    select owner_id as "ownerId" from owners.accounts
    where owner_id = any (${arrayText(ownerIds)}::uuid[]) order by owner_id for update skip locked`;
  // In a statement of its own, which sees what was given before they were locked.
  await tx`
    delete from owners.accounts a
    where a.owner_id = any (${arrayText(locked.map(({ ownerId }) => ownerId))}::uuid[])
      and not exists (select from owners.memberships m where m.owner_id = a.owner_id)
      and not exists (
        select from owners.links l where l.owner_id = a.owner_id and l.shop_id is not null)`;
}

export interface Membership {
  readonly shopId: number;
  readonly role: Role;
  /** Whether the shop's owners demand a second factor of all its members. */
  readonly requiresSecondFactor: boolean;
}

/** The shops that an owner is a member of, by their ids. */
export async function listMemberships(
  sql: Sql | Transaction,
  ownerId: string,
): Promise<Membership[]> {
  return withTimeout(sql<Membership[]>`
      select shop_id as "shopId", role,
        coalesce(requires_second_factor, false) as "requiresSecondFactor"
      from owners.memberships left join owners.shop_policies using (shop_id)
      where owner_id = ${ownerId} order by shop_id`);
}

/** The members of a shop, owners first. */
export async function listMembers(sql: Sql, shopId: number): Promise<Member[]> {
  return withTimeout(sql<Member[]>`
    select a.owner_id as "ownerId", a.email, a.name, m.role, m.created_at as since,
      greatest(
        (select max(s.seen_at) from owners.sessions s where s.owner_id = a.owner_id),
        (select max(d.signed_in_at) from owners.devices d where d.owner_id = a.owner_id)
      ) as "seenAt"
    from owners.memberships m join owners.accounts a using (owner_id)
    where m.shop_id = ${shopId} order by m.role = 'owner' desc, a.email`);
}

/** An invitation that was not accepted; it may have expired. */
export interface Invitation extends Pick<NewLink, 'ownerId' | 'role' | 'expiresAt'> {
  readonly email: string;
  /** The beginning of the link's hash. */
  readonly linkId: string;
}

/** The invitations to a shop of those who are no members, the newest of each. */
export async function listInvitations(sql: Sql, shopId: number): Promise<Invitation[]> {
  return withTimeout(sql<Invitation[]>`
    select distinct on (a.email) a.owner_id as "ownerId", a.email, l.role,
      l.expires_at as "expiresAt", encode(substr(l.token_hash, 1, 6), 'hex') as "linkId"
    from owners.links l join owners.accounts a using (owner_id)
    where l.shop_id = ${shopId} and l.used_at is null and not exists (
      select from owners.memberships m where m.owner_id = a.owner_id and m.shop_id = l.shop_id)
    order by a.email, l.created_at desc`);
}

/** Deletes someone's unused invitations to a shop. */
export async function deleteInvitations(
  tx: Transaction,
  ownerId: string,
  shopId: number,
): Promise<readonly Pick<Invitation, 'linkId' | 'expiresAt'>[]> {
  return tx<Pick<Invitation, 'linkId' | 'expiresAt'>[]>`
    delete from owners.links
    where owner_id = ${ownerId} and shop_id = ${shopId} and used_at is null
    returning encode(substr(token_hash, 1, 6), 'hex') as "linkId", expires_at as "expiresAt"`;
}

/** A one-time link that is still valid. */
export interface OwnerLink {
  readonly ownerId: string;
  readonly email: string;
  readonly passwordHash: string | null;
  /** Whether the owner has a shop already. */
  readonly isMember: boolean;
  /** The shop that it grants access to; null if it only resets the password. */
  readonly shopId: number | null;
  /** In that shop. */
  readonly role: Role;
}

interface NewLink {
  /** SHA-256 in base64. */
  readonly tokenHash: string;
  readonly ownerId: string;
  readonly shopId: number | null;
  readonly role: Role;
  readonly createdAt: Date;
  /** The owner who invites; null for the operator, and for links that reset a password. */
  readonly invitedBy: string | null;
  readonly expiresAt: Date;
}

export async function insertLink(sql: Sql | Transaction, link: NewLink): Promise<void> {
  await sql`
    insert into owners.links
      (token_hash, owner_id, shop_id, role, invited_by, created_at, expires_at)
    values (decode(${link.tokenHash}, 'base64'), ${link.ownerId}, ${link.shopId}, ${link.role},
      ${link.invitedBy}, ${link.createdAt}, ${link.expiresAt})`;
}

/**
 * Withdraws the invitations that a member has sent for a shop, and that were not accepted. Accounts that were only
 * invited go with them.
 */
export async function deleteInvitationsBy(
  tx: Transaction,
  { ownerId, shopId }: { readonly ownerId: string; readonly shopId: number },
): Promise<void> {
  const withdrawn = await tx<{ invitedId: string }[]>`
    delete from owners.links
    where shop_id = ${shopId} and invited_by = ${ownerId} and used_at is null
    returning owner_id as "invitedId"`;
  await deleteAccountsWithoutShop(
    tx,
    withdrawn.map(({ invitedId }) => invitedId),
  );
}

/** @param tokenHash SHA-256 in base64 */
export async function findLink(
  sql: Sql,
  tokenHash: string,
  at: Date,
): Promise<OwnerLink | undefined> {
  const [link] = await withTimeout(sql<OwnerLink[]>`
      select l.owner_id as "ownerId", a.email, a.password_hash as "passwordHash",
        l.shop_id as "shopId", l.role,
        exists (select from owners.memberships m where m.owner_id = l.owner_id) as "isMember"
      from owners.links l join owners.accounts a using (owner_id)
      where l.token_hash = decode(${tokenHash}, 'base64') and l.used_at is null
        and l.expires_at > ${at}`);
  return link;
}

/** @returns undefined if it was already used, for example by a concurrent request */
export async function useLink(
  tx: Transaction,
  tokenHash: string,
  at: Date,
): Promise<Pick<OwnerLink, 'shopId' | 'role'> | undefined> {
  const [used] = await tx<Pick<OwnerLink, 'shopId' | 'role'>[]>`
    update owners.links set used_at = ${at}
    where token_hash = decode(${tokenHash}, 'base64') and used_at is null and expires_at > ${at}
    returning shop_id as "shopId", role`;
  return used;
}

/** Invalidates the unused links that reset an owner's password. */
export async function invalidateResetLinks(
  tx: Transaction,
  ownerId: string,
  at: Date,
): Promise<void> {
  await tx`
    update owners.links set used_at = ${at}
    where owner_id = ${ownerId} and shop_id is null and used_at is null`;
}

/** Stores the address of the service that was started last. */
export async function upsertServiceAddress(sql: Sql, url: string): Promise<void> {
  await sql`
    insert into owners.service_address (url) values (${url})
    on conflict (is_only) do update set url = excluded.url`;
}

/** The address of the service that was started last, without a trailing slash. */
export async function findServiceAddress(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ url: string }[]>`select url from owners.service_address`;
  return row?.url;
}
