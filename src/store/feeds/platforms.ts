import type { Sql, Transaction } from '../database.ts';

/** A shop that is connected to a platform, as stored. */
export interface StoredConnection {
  readonly shopId: number;
  /** The shop's name at the platform. */
  readonly account: string;
  /** Encrypted. */
  readonly credentials: string;
  readonly connectedAt: Date;
  /** What was found, as JSON, while its owner has not started the sync; null from then on. */
  readonly draft: string | null;
}

const connectionColumns =
  'shop_id as "shopId", account, credentials, connected_at as "connectedAt", draft';

/** In the order of the shops. */
export async function listConnections(sql: Sql, platform: string): Promise<StoredConnection[]> {
  return sql<StoredConnection[]>`
    select ${sql.unsafe(connectionColumns)}
    from platforms.connections where platform = ${platform} order by shop_id`;
}

export async function findConnection(
  sql: Sql,
  shopId: number,
  platform: string,
): Promise<StoredConnection | undefined> {
  const [found] = await sql<StoredConnection[]>`
    select ${sql.unsafe(connectionColumns)}
    from platforms.connections where shop_id = ${shopId} and platform = ${platform}`;
  return found;
}

/** The shop that shares this account with no other, unless it is a draft. */
export async function findConnectedShop(
  sql: Sql,
  account: string,
  platform: string,
): Promise<number | undefined> {
  const [found] = await sql<{ shopId: number }[]>`
    select shop_id as "shopId" from platforms.connections
    where account = ${account} and platform = ${platform} and not is_shared and draft is null`;
  return found?.shopId;
}

interface NewConnection extends Omit<StoredConnection, 'draft'> {
  readonly draft?: string | null;
  /** Whether other shops may have the same account. */
  readonly isShared?: boolean;
}

/**
 * Connects a shop, or replaces its connection. A renewal in progress has no effect any more.
 * @returns the shop that already has this account, if it is another one: then nothing is stored
 */
export async function upsertConnection(
  tx: Transaction,
  platform: string,
  { shopId, account, isShared = false, credentials, connectedAt, draft = null }: NewConnection,
): Promise<number | undefined> {
  const [other] = await tx<{ shopId: number }[]>`
    select shop_id as "shopId" from platforms.connections
    where platform = ${platform} and account = ${account} and shop_id <> ${shopId}
      and not is_shared`;
  if (other) return other.shopId;
  await tx`
    insert into platforms.connections
      (shop_id, platform, account, is_shared, credentials, connected_at, draft)
    values (${shopId}, ${platform}, ${account}, ${isShared}, ${credentials}, ${connectedAt}, ${draft})
    on conflict (shop_id, platform) do update set
      account = excluded.account, is_shared = excluded.is_shared, credentials = excluded.credentials,
      connected_at = excluded.connected_at, draft = excluded.draft, renewing_by = null, renewing_until = null`;
  return undefined;
}

/** Lets a shop be synced whose owner has seen what would be stored. @returns false if there was no draft */
export async function startConnection(
  tx: Transaction,
  shopId: number,
  platform: string,
): Promise<boolean> {
  const result = await tx`
    update platforms.connections set draft = null
    where shop_id = ${shopId} and platform = ${platform} and draft is not null`;
  return result.count === 1;
}

/** @returns the shop's name at the platform; undefined if it was not connected */
export async function deleteConnection(
  sql: Sql | Transaction,
  shopId: number,
  platform: string,
): Promise<string | undefined> {
  const [deleted] = await sql<{ account: string }[]>`
    delete from platforms.connections where shop_id = ${shopId} and platform = ${platform}
    returning account`;
  return deleted?.account;
}

interface Renewal {
  readonly shopId: number;
  readonly platform: string;
  /** The process that renews. */
  readonly by: string;
}

/**
 * Lets one process renew the credentials of a connection. Counts by the database's clock, so that no other may
 * until then.
 * @returns false if another one does
 */
export async function claimRenewal(
  sql: Sql,
  { shopId, platform, by }: Renewal,
  seconds: number,
): Promise<boolean> {
  const result = await sql`
    update platforms.connections
    set renewing_by = ${by}, renewing_until = clock_timestamp() + make_interval(secs => ${seconds})
    where shop_id = ${shopId} and platform = ${platform}
      and (renewing_until is null or renewing_until < clock_timestamp())`;
  return result.count === 1;
}

/**
 * Ends a renewal, and stores what it brought.
 * @param credentials undefined if it brought nothing
 * @returns false if the claim was lost: the connection was replaced or deleted, or the time was up
 */
export async function endRenewal(
  sql: Sql,
  { shopId, platform, by }: Renewal,
  credentials?: string,
): Promise<boolean> {
  const result = await sql`
    update platforms.connections
    set credentials = coalesce(${credentials ?? null}, credentials),
      renewing_by = null, renewing_until = null
    where shop_id = ${shopId} and platform = ${platform} and renewing_by = ${by}`;
  return result.count === 1;
}

/** Replaces credentials by the same ones, encrypted with another key. */
export async function replaceSealed(
  sql: Sql,
  { shopId, platform }: Omit<Renewal, 'by'>,
  sealed: { readonly old: string; readonly new: string },
): Promise<void> {
  await sql`
    update platforms.connections set credentials = ${sealed.new}
    where shop_id = ${shopId} and platform = ${platform} and credentials = ${sealed.old}`;
}

/** How the sync of a shop with a platform is doing. */
export interface SyncState {
  readonly shopId: number;
  readonly dueAt: Date;
  /** How many times it has failed since it last succeeded. */
  readonly failures: number;
  /** Why, in one sentence. */
  readonly problem: string | null;
  /** The same in words for owners; null if only operators understand it. */
  readonly reason: string | null;
  /** Since when the platform refuses the credentials. */
  readonly refusedAt: Date | null;
  /** Which credentials those are. */
  readonly refusedVersion: string | null;
  /** Whether the first sync may replace what came from elsewhere. */
  readonly takesOver: boolean;
  /** The records of the last sync that refused any; of one that read everything, even if it refused none. */
  readonly refused: number;
  readonly refusedRecordsAt: Date | null;
  /** Why, without values: JSON, the most frequent reasons with their numbers. */
  readonly refusals: string;
}

const columns = `shop_id as "shopId", due_at as "dueAt", failures, problem, reason,
  refused_at as "refusedAt", refused_version as "refusedVersion", takes_over as "takesOver",
  refused, refused_records_at as "refusedRecordsAt", refusals`;

export async function listSyncStates(sql: Sql, platform: string): Promise<SyncState[]> {
  return sql<SyncState[]>`
    select ${sql.unsafe(columns)} from platforms.syncs where platform = ${platform}`;
}

export async function findSyncState(
  sql: Sql,
  shopId: number,
  platform: string,
): Promise<SyncState | undefined> {
  const [found] = await sql<SyncState[]>`
    select ${sql.unsafe(columns)} from platforms.syncs
    where shop_id = ${shopId} and platform = ${platform}`;
  return found;
}

type Always = 'dueAt' | 'failures' | 'problem' | 'refusedAt' | 'refusedVersion';
type Outcome = Pick<SyncState, Always> & Partial<Omit<SyncState, 'shopId' | Always>>;

/**
 * Stores how a sync ended, and when the next one is due. Ignores shops that do not exist. What is left out of what was
 * refused, and of whether it takes over, stays.
 */
export async function upsertSyncState(
  sql: Sql | Transaction,
  shopId: number,
  platform: string,
  { dueAt, failures, problem, reason = null, refusedAt, refusedVersion, ...kept }: Outcome,
): Promise<void> {
  const { takesOver = null, refused = null, refusedRecordsAt = null, refusals = null } = kept;
  await sql`
    insert into platforms.syncs as known
      (shop_id, platform, due_at, failures, problem, reason, refused_at, refused_version,
        takes_over, refused, refused_records_at, refusals)
    select shop_id, ${platform}, ${dueAt}, ${failures}, ${problem}, ${reason}, ${refusedAt},
      ${refusedVersion}, coalesce(${takesOver}, false), coalesce(${refused}, 0),
      ${refusedRecordsAt}, coalesce(${refusals}, '[]')
    from shops where shop_id = ${shopId}
    on conflict (shop_id, platform) do update set
      due_at = excluded.due_at, failures = excluded.failures, problem = excluded.problem,
      reason = excluded.reason, refused_at = excluded.refused_at,
      refused_version = excluded.refused_version,
      takes_over = coalesce(${takesOver}, known.takes_over),
      refused = coalesce(${refused}, known.refused),
      refused_records_at = coalesce(${refusedRecordsAt}, known.refused_records_at),
      refusals = coalesce(${refusals}, known.refusals)`;
}

/** Has a sync that failed tried again now, unless its credentials are refused. */
export async function hastenSync(
  sql: Sql,
  shopId: number,
  platform: string,
  at: Date,
): Promise<void> {
  await sql`
    update platforms.syncs set due_at = least(due_at, ${at}) where shop_id = ${shopId}
      and platform = ${platform} and problem is not null and refused_at is null`;
}

/** Forgets how syncs went; shops that are still connected are due at once. */
export async function deleteSyncStates(
  sql: Sql | Transaction,
  shopIds: readonly number[],
  platform: string,
): Promise<void> {
  for (const shopId of shopIds) {
    await sql`delete from platforms.syncs where shop_id = ${shopId} and platform = ${platform}`;
  }
}

/** ok: the last sync succeeded; failing: it did not; refused: the platform does not accept the credentials. */
export const syncHealths = ['ok', 'failing', 'refused'] as const;
type SyncHealth = (typeof syncHealths)[number];

interface SyncCount {
  readonly platform: string;
  readonly health: SyncHealth;
  readonly shops: number;
  /** The records that their last syncs refused. */
  readonly refused: number;
}

/** For operators. Leaves out shops that are paused for another reason. Reads no data of shops. */
export async function listSyncCounts(sql: Sql): Promise<SyncCount[]> {
  return sql<SyncCount[]>`
    select platform, health, count(*)::int as shops, sum(refused)::int as refused
    from (
      select platform, refused,
        case when refused_at is not null then 'refused' when failures > 0 then 'failing'
          when problem is null then 'ok' end as health
      from platforms.syncs
    ) s
    where health is not null group by platform, health`;
}
