import { withTimeout, type Sql, type Transaction } from '../database.ts';

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

export async function insertLink(sql: Sql, link: NewLink): Promise<void> {
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
