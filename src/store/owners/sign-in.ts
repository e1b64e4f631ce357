import { type Sql, type Transaction, arrayText, withTimeout } from '../database.ts';
import type { Person } from './owners.ts';

export interface OwnerSession extends Person {
  readonly ownerId: string;
  readonly seenAt: Date;
  /** When the owner last proved who they are; null if an earlier version began the session. */
  readonly provedAt: Date | null;
  readonly hasFactor: boolean;
}

/** Where a session is, for its owner; null if that is unknown. */
export interface SessionPlace {
  /** In words. */
  readonly browser: string | null;
  readonly network: string | null;
}

export interface SessionListing extends SessionPlace {
  /** The beginning of the hash of its secret, as in the audit log. */
  readonly id: string;
  readonly createdAt: Date;
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
  { ownerId, passwordHash }: { readonly ownerId: string; readonly passwordHash: string | null },
  at: Date,
  { browser, network }: SessionPlace,
): Promise<boolean> {
  const result = await sql`
    insert into owners.sessions
      (token_hash, owner_id, created_at, seen_at, proved_at, browser, network)
    select decode(${tokenHash}, 'base64'), owner_id, ${at}, ${at}, ${at}, ${browser}, ${network}
    from owners.accounts
    where owner_id = ${ownerId} and password_hash is not distinct from ${passwordHash} for share`;
  return result.count === 1;
}

/** Omits unknown and expired sessions. In no order. @param hashes SHA-256 in base64 */
export async function listSessionsByHash(
  sql: Sql,
  hashes: readonly string[],
  { createdAfter, seenAfter }: SessionBounds,
): Promise<{ readonly hash: string; readonly record: OwnerSession }[]> {
  const rows = await withTimeout(sql<(OwnerSession & { readonly hash: string })[]>`
      select requested.hash, s.owner_id as "ownerId", a.email, a.name, s.seen_at as "seenAt",
        s.proved_at as "provedAt",
        exists (select from owners.factors where owner_id = s.owner_id) as "hasFactor"
      from unnest(${arrayText(hashes)}::text[]) requested (hash),
        lateral (select * from owners.sessions
          where token_hash = decode(requested.hash, 'base64') offset 0) s,
        lateral (select email, name from owners.accounts where owner_id = s.owner_id offset 0) a
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

export async function deleteSession(sql: Sql | Transaction, tokenHash: string): Promise<void> {
  await sql`delete from owners.sessions where token_hash = decode(${tokenHash}, 'base64')`;
}

export async function updateProof(
  sql: Sql | Transaction,
  tokenHash: string,
  at: Date,
): Promise<void> {
  await sql`
    update owners.sessions set proved_at = ${at} where token_hash = decode(${tokenHash}, 'base64')`;
}

/** Ends an owner's sessions but for one, or only that with an id. @returns whether there were any */
export async function deleteOtherSessions(
  tx: Transaction,
  ownerId: string,
  tokenHash: string,
  id?: string,
): Promise<boolean> {
  const result = await tx`
    delete from owners.sessions
    where owner_id = ${ownerId} and token_hash <> decode(${tokenHash}, 'base64')
      and encode(substr(token_hash, 1, 6), 'hex')
        = coalesce(${id ?? null}, encode(substr(token_hash, 1, 6), 'hex'))`;
  return result.count > 0;
}

/** Ends all sessions of an owner. */
export async function deleteSessions(tx: Transaction, ownerId: string): Promise<void> {
  await tx`delete from owners.sessions where owner_id = ${ownerId}`;
}

/** An owner's sessions that have not expired, the one last used first. */
export async function listSessions(
  sql: Sql,
  ownerId: string,
  { createdAfter, seenAfter }: SessionBounds,
): Promise<SessionListing[]> {
  return withTimeout(sql<SessionListing[]>`
    select encode(substr(token_hash, 1, 6), 'hex') as id, created_at as "createdAt",
      seen_at as "seenAt", browser, network
    from owners.sessions
    where owner_id = ${ownerId} and created_at > ${createdAfter} and seen_at > ${seenAfter}
    order by seen_at desc, token_hash`);
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

interface Device {
  /** SHA-256 in base64. */
  readonly tokenHash: string;
  readonly email: string;
}

/** The e-mail addresses that know each device. Omits unknown devices. In no order. @param hashes SHA-256 in base64 */
export function listDevicesByHash(
  sql: Sql,
  hashes: readonly string[],
  signedInAfter: Date,
): Promise<{ readonly hash: string; readonly record: readonly string[] }[]> {
  return withTimeout(sql<{ hash: string; record: readonly string[] }[]>`
      select requested.hash, json_agg(a.email) as record
      from unnest(${arrayText(hashes)}::text[]) requested (hash),
        lateral (select * from owners.devices
          where token_hash = decode(requested.hash, 'base64') offset 0) d,
        lateral (select email from owners.accounts where owner_id = d.owner_id offset 0) a
      where d.signed_in_at > ${signedInAfter}
      group by requested.hash`);
}

/**
 * Counts one more failure of a device on an account, up to a maximum.
 * @returns false if the device is unknown to the account, or has failed too often
 */
export async function addDeviceFailure(
  sql: Sql,
  { tokenHash, email }: Device,
  { signedInAfter, maxFailures }: { readonly signedInAfter: Date; readonly maxFailures: number },
): Promise<boolean> {
  const result = await sql`
    update owners.devices d set failures = d.failures + 1
    from owners.accounts a
    where d.token_hash = decode(${tokenHash}, 'base64') and a.owner_id = d.owner_id
      and a.email = ${email} and d.signed_in_at > ${signedInAfter} and d.failures < ${maxFailures}`;
  return result.count === 1;
}

export async function removeDeviceFailure(sql: Sql, { tokenHash, email }: Device): Promise<void> {
  await sql`
    update owners.devices d set failures = greatest(d.failures - 1, 0)
    from owners.accounts a
    where d.token_hash = decode(${tokenHash}, 'base64') and a.owner_id = d.owner_id
      and a.email = ${email}`;
}

/** Replaces a device's token, for all accounts that know it. */
export async function replaceDeviceToken(
  sql: Sql | Transaction,
  oldHash: string,
  newHash: string,
): Promise<void> {
  await sql`
    update owners.devices set token_hash = decode(${newHash}, 'base64')
    where token_hash = decode(${oldHash}, 'base64')`;
}

export async function upsertDevice(
  sql: Sql | Transaction,
  tokenHash: string,
  ownerId: string,
  at: Date,
): Promise<void> {
  await sql`
    insert into owners.devices (token_hash, owner_id, signed_in_at)
    values (decode(${tokenHash}, 'base64'), ${ownerId}, ${at})
    on conflict (token_hash, owner_id)
    do update set signed_in_at = excluded.signed_in_at, failures = 0`;
}

/** Deletes all devices of an owner. */
export async function deleteDevices(tx: Transaction, ownerId: string): Promise<void> {
  await tx`delete from owners.devices where owner_id = ${ownerId}`;
}

export async function deleteDevicesBefore(sql: Sql, at: Date): Promise<void> {
  await sql`delete from owners.devices where signed_in_at <= ${at}`;
}

/** Identifies a sign-in attempt, by SHA-256 in base64. */
export interface AttemptSource {
  readonly account: string;
  readonly address: string;
}

interface Failures {
  readonly count: number;
  readonly lastAt: Date | null;
}

/** A pair is the combination of an account and an address. */
type Subject = 'pair' | 'account' | 'address';

/** Failed attempts by subject. */
export type FailureCounts = Readonly<Record<Subject, Failures>>;

type CountRow = Record<`${Subject}Count`, number> & Record<`${Subject}At`, Date | null>;

/**
 * Serialises attempts on the same account or from the same address until the transaction ends. The account
 * is always locked first, to avoid deadlocks.
 */
export async function lockAttempts(
  tx: Transaction,
  { account, address }: AttemptSource,
): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended('owners.attempts account ' || ${account}, 0))`;
  await tx`select pg_advisory_xact_lock(hashtextextended('owners.attempts address ' || ${address}, 0))`;
}

export async function countAttempts(
  tx: Transaction,
  { account, address }: AttemptSource,
  after: Date,
): Promise<FailureCounts> {
  const [row] = await tx<CountRow[]>`
    with failures as materialized (
      select at, account is not distinct from decode(${account}, 'base64') as by_account,
        address is not distinct from decode(${address}, 'base64') as by_address
      from owners.attempts
      where (account = decode(${account}, 'base64') or address = decode(${address}, 'base64'))
        and at > ${after}
    )
    select count(*) filter (where by_account and by_address)::int as "pairCount",
      max(at) filter (where by_account and by_address) as "pairAt",
      count(*) filter (where by_account)::int as "accountCount",
      max(at) filter (where by_account) as "accountAt",
      count(*) filter (where by_address)::int as "addressCount",
      max(at) filter (where by_address) as "addressAt"
    from failures`;
  const failures = (name: Subject): Failures => ({
    count: row?.[`${name}Count`] ?? 0,
    lastAt: row?.[`${name}At`] ?? null,
  });
  return { pair: failures('pair'), account: failures('account'), address: failures('address') };
}

export async function insertAttempt(
  tx: Transaction,
  { account, address }: AttemptSource,
  at: Date,
): Promise<void> {
  await tx`
    insert into owners.attempts (account, address, at)
    values (decode(${account}, 'base64'), decode(${address}, 'base64'), ${at})`;
}

/** Deletes the attempts on an account from one address. */
export async function clearAttempts(sql: Sql, { account, address }: AttemptSource): Promise<void> {
  await sql`
    delete from owners.attempts
    where account = decode(${account}, 'base64') and address = decode(${address}, 'base64')`;
}

export async function deleteAttemptsBefore(sql: Sql, at: Date): Promise<void> {
  await sql`delete from owners.attempts where at <= ${at}`;
}
