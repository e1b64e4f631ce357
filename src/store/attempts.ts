import type { Sql } from './database.ts';

/** What attempts are counted by: SHA-256 in base64, and how many count as too many. */
export interface AttemptSubject {
  readonly hash: string;
  readonly limit: number;
}

/**
 * Notes one attempt for each subject, unless that makes one of them too many; then none is noted. Each
 * is stored before it is counted, so of any that come at once no more are let through than the limit.
 * @param since attempts before this are forgotten
 * @returns the ids of what was noted, or undefined where it is too many
 */
export async function insertAttempts(
  sql: Sql,
  subjects: readonly AttemptSubject[],
  at: Date,
  since: Date,
): Promise<string[] | undefined> {
  await sql`delete from owners.attempts where at <= ${since}`;
  const ids: string[] = [];
  let isTooMany = false;
  for (const { hash, limit } of subjects) {
    const [attempt] = await sql<{ id: string }[]>`
      insert into owners.attempts (subject, at) values (decode(${hash}, 'base64'), ${at})
      returning attempt_id as id`;
    if (attempt) ids.push(attempt.id);
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from owners.attempts
      where subject = decode(${hash}, 'base64') and at > ${since}`;
    isTooMany ||= (row?.count ?? 0) > limit;
  }
  if (!isTooMany) return ids;
  await deleteAttempts(sql, ids);
  return undefined;
}

export async function deleteAttempts(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`delete from owners.attempts where attempt_id = any (${`{${ids.join(',')}}`}::uuid[])`;
}

/** Forgets all attempts of a subject. */
export async function clearAttempts(sql: Sql, hash: string): Promise<void> {
  await sql`delete from owners.attempts where subject = decode(${hash}, 'base64')`;
}
