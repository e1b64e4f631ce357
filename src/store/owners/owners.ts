import type { Role } from '../../vocabulary.ts';
import { type Sql, type Transaction, withTimeout } from '../database.ts';

/** Someone who can sign in; only the email address is known about them. */
export interface OwnerAccount {
  readonly ownerId: string;
  /** In lower case. */
  readonly email: string;
  /** Null until the first link has been used. */
  readonly passwordHash: string | null;
}

export interface OwnerListing {
  readonly email: string;
  readonly since: Date;
}

/** Finds the account with an email address, or creates it. */
export async function ensureOwner(
  sql: Sql | Transaction,
  email: string,
  at: Date,
): Promise<OwnerAccount> {
  await sql`
    insert into owners.accounts (email, created_at) values (${email}, ${at})
    on conflict (email) do nothing`;
  return (await findOwnerByEmail(sql, email)) as OwnerAccount;
}

export async function findOwnerByEmail(
  sql: Sql | Transaction,
  email: string,
): Promise<OwnerAccount | undefined> {
  const [owner] = await withTimeout(sql<OwnerAccount[]>`
      select owner_id as "ownerId", email, password_hash as "passwordHash"
      from owners.accounts where email = ${email}`);
  return owner;
}

export async function findOwner(sql: Sql, ownerId: string): Promise<OwnerAccount | undefined> {
  const [owner] = await withTimeout(sql<OwnerAccount[]>`
      select owner_id as "ownerId", email, password_hash as "passwordHash"
      from owners.accounts where owner_id = ${ownerId}`);
  return owner;
}

/** Replaces a password if it is still `before`. @returns whether it was */
export async function updatePassword(
  tx: Transaction,
  ownerId: string,
  before: string | null,
  passwordHash: string,
): Promise<boolean> {
  const result = await tx`
    update owners.accounts set password_hash = ${passwordHash}
    where owner_id = ${ownerId} and password_hash is not distinct from ${before}`;
  return result.count === 1;
}

export async function insertMembership(
  tx: Transaction,
  ownerId: string,
  shopId: number,
  at: Date,
): Promise<void> {
  await tx`
    insert into owners.memberships (owner_id, shop_id, created_at)
    values (${ownerId}, ${shopId}, ${at}) on conflict do nothing`;
}

/**
 * Removes an owner's access to a shop, including links that would restore it. Deletes owners without a shop.
 * @param then runs in the same transaction, if there was
 * @returns whether there was any access to remove
 */
export async function deleteMembership(
  sql: Sql,
  email: string,
  shopId: number,
  then: (tx: Transaction, ownerId: string) => Promise<void> = async () => {},
): Promise<boolean> {
  return sql.begin(async (tx) => {
    const [owner] = await tx<{ id: string }[]>`
      select owner_id as id from owners.accounts where email = ${email} for update`;
    if (!owner) return false;
    const links = await tx`
      delete from owners.links where owner_id = ${owner.id} and shop_id = ${shopId}`;
    const memberships = await tx`
      delete from owners.memberships where owner_id = ${owner.id} and shop_id = ${shopId}`;
    await tx`
      delete from owners.accounts a
      where a.owner_id = ${owner.id}
        and not exists (select from owners.memberships m where m.owner_id = a.owner_id)
        and not exists (
          select from owners.links l where l.owner_id = a.owner_id and l.shop_id is not null)`;
    const hadAccess = links.count + memberships.count > 0;
    if (hadAccess) await then(tx, owner.id);
    return hadAccess;
  });
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

export async function listOwners(sql: Sql, shopId: number): Promise<OwnerListing[]> {
  return sql<OwnerListing[]>`
    select a.email, m.created_at as since
    from owners.memberships m join owners.accounts a using (owner_id)
    where m.shop_id = ${shopId} order by a.email`;
}

/** The addresses of a shop's owners by their ids. */
export async function listOwnerEmails(
  sql: Sql,
  shopId: number,
): Promise<ReadonlyMap<string, string>> {
  const rows = await withTimeout(sql<{ ownerId: string; email: string }[]>`
    select owner_id as "ownerId", a.email
    from owners.memberships m join owners.accounts a using (owner_id)
    where m.shop_id = ${shopId}`);
  return new Map(rows.map(({ ownerId, email }) => [ownerId, email]));
}

/** A one-time link that is still valid. */
export interface OwnerLink {
  readonly ownerId: string;
  readonly email: string;
  readonly passwordHash: string | null;
  /** The shop that it grants access to; null if it only resets the password. */
  readonly shopId: number | null;
}

interface NewLink {
  /** SHA-256 in base64. */
  readonly tokenHash: string;
  readonly ownerId: string;
  readonly shopId: number | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export async function insertLink(sql: Sql | Transaction, link: NewLink): Promise<void> {
  await sql`
    insert into owners.links (token_hash, owner_id, shop_id, created_at, expires_at)
    values (decode(${link.tokenHash}, 'base64'), ${link.ownerId}, ${link.shopId}, ${link.createdAt},
      ${link.expiresAt})`;
}

/** @param tokenHash SHA-256 in base64 */
export async function findLink(
  sql: Sql,
  tokenHash: string,
  at: Date,
): Promise<OwnerLink | undefined> {
  const [link] = await withTimeout(sql<OwnerLink[]>`
      select l.owner_id as "ownerId", a.email, a.password_hash as "passwordHash",
        l.shop_id as "shopId"
      from owners.links l join owners.accounts a using (owner_id)
      where l.token_hash = decode(${tokenHash}, 'base64') and l.used_at is null
        and l.expires_at > ${at}`);
  return link;
}

/** @returns false if it was already used, for example by a concurrent request */
export async function useLink(tx: Transaction, tokenHash: string, at: Date): Promise<boolean> {
  const result = await tx`
    update owners.links set used_at = ${at}
    where token_hash = decode(${tokenHash}, 'base64') and used_at is null and expires_at > ${at}`;
  return result.count === 1;
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
