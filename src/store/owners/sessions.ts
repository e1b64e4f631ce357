import { arrayText, withTimeout, type Sql, type Transaction } from '../database.ts';

export interface OwnerSession {
  readonly ownerId: string;
  readonly email: string;
  readonly seenAt: Date;
}

interface SessionBounds {
  /** Sessions created before this have expired. */
  readonly createdAfter: Date;
  /** So have sessions last seen before this. */
  readonly seenAfter: Date;
}

/**
 * Creates a session if the password is still the one that was checked. A concurrent change of the password
 * waits for this statement, or this for the change.
 * @param tokenHash SHA-256 in base64
 */
export async function insertSession(
  sql: Sql | Transaction,
  tokenHash: string,
  { ownerId, passwordHash }: { readonly ownerId: string; readonly passwordHash: string },
  at: Date,
): Promise<boolean> {
  const result = await sql`
    insert into owners.sessions (token_hash, owner_id, created_at, seen_at)
    select decode(${tokenHash}, 'base64'), owner_id, ${at}, ${at} from owners.accounts
    where owner_id = ${ownerId} and password_hash = ${passwordHash} for share`;
  return result.count === 1;
}

/** Omits unknown and expired sessions. In no order. @param hashes SHA-256 in base64 */
export async function listSessionsByHash(
  sql: Sql,
  hashes: readonly string[],
  { createdAfter, seenAfter }: SessionBounds,
): Promise<{ readonly hash: string; readonly record: OwnerSession }[]> {
  const rows = await withTimeout(sql<(OwnerSession & { readonly hash: string })[]>`
      select requested.hash, s.owner_id as "ownerId", a.email, s.seen_at as "seenAt"
      from unnest(${arrayText(hashes)}::text[]) requested (hash),
        lateral (select * from owners.sessions
          where token_hash = decode(requested.hash, 'base64') offset 0) s,
        lateral (select email from owners.accounts where owner_id = s.owner_id offset 0) a
      where s.created_at > ${createdAfter} and s.seen_at > ${seenAfter}`);
  return rows.map(({ hash, ...record }) => ({ hash, record }));
}

/** Without waiting for standbys: a page that is only read must not depend on them. */
export async function touchSession(sql: Sql, tokenHash: string, at: Date): Promise<void> {
  await withTimeout(sql`
      with setting as (select set_config('synchronous_commit', 'local', true))
      update owners.sessions set seen_at = greatest(seen_at, ${at})
      from setting where token_hash = decode(${tokenHash}, 'base64')`);
}

export async function deleteSession(sql: Sql, tokenHash: string): Promise<void> {
  await sql`delete from owners.sessions where token_hash = decode(${tokenHash}, 'base64')`;
}

/** Ends all sessions of an owner. */
export async function deleteSessions(sql: Sql | Transaction, ownerId: string): Promise<void> {
  await sql`delete from owners.sessions where owner_id = ${ownerId}`;
}

/** The number of an owner's sessions that have not expired. */
export async function countSessions(
  sql: Sql,
  ownerId: string,
  { createdAfter, seenAfter }: SessionBounds,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from owners.sessions
    where owner_id = ${ownerId} and created_at > ${createdAfter} and seen_at > ${seenAfter}`;
  return row?.count ?? 0;
}

/** Deletes an owner's expired sessions. */
export async function deleteExpiredSessions(
  sql: Sql,
  ownerId: string,
  { createdAfter, seenAfter }: SessionBounds,
): Promise<void> {
  await sql`
    delete from owners.sessions
    where owner_id = ${ownerId} and (created_at <= ${createdAfter} or seen_at <= ${seenAfter})`;
}
