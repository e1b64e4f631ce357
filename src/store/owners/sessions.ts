import { withTimeout, type Sql, type Transaction } from '../database.ts';

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

export async function findSession(
  sql: Sql,
  tokenHash: string,
  { createdAfter, seenAfter }: SessionBounds,
): Promise<OwnerSession | undefined> {
  const [session] = await withTimeout(sql<OwnerSession[]>`
      select s.owner_id as "ownerId", a.email, s.seen_at as "seenAt"
      from owners.sessions s join owners.accounts a using (owner_id)
      where s.token_hash = decode(${tokenHash}, 'base64')
        and s.created_at > ${createdAfter} and s.seen_at > ${seenAfter}`);
  return session;
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
