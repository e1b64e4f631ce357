import type { Sql, Transaction } from '../database.ts';

/** How the sync of a shop with a platform is doing. */
export interface SyncState {
  readonly shopId: number;
  readonly dueAt: Date;
  /** How many times it has failed since it last succeeded. */
  readonly failures: number;
  /** Why, in one sentence. */
  readonly problem: string | null;
  /** Since when the platform refuses the credentials. */
  readonly refusedAt: Date | null;
  /** Which credentials those are. */
  readonly refusedVersion: string | null;
}

const columns = `shop_id as "shopId", due_at as "dueAt", failures, problem,
  refused_at as "refusedAt", refused_version as "refusedVersion"`;

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

type Outcome = Omit<SyncState, 'shopId'>;

/** Stores how a sync ended, and when the next one is due. Ignores shops that do not exist. */
export async function upsertSyncState(
  sql: Sql | Transaction,
  shopId: number,
  platform: string,
  { dueAt, failures, problem, refusedAt, refusedVersion }: Outcome,
): Promise<void> {
  await sql`
    insert into platforms.syncs
      (shop_id, platform, due_at, failures, problem, refused_at, refused_version)
    select shop_id, ${platform}, ${dueAt}, ${failures}, ${problem}, ${refusedAt},
      ${refusedVersion}
    from shops where shop_id = ${shopId}
    on conflict (shop_id, platform) do update set
      due_at = excluded.due_at, failures = excluded.failures, problem = excluded.problem,
      refused_at = excluded.refused_at, refused_version = excluded.refused_version`;
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
}

/** For operators. Leaves out shops that are paused for another reason. Reads no data of shops. */
export async function listSyncCounts(sql: Sql): Promise<SyncCount[]> {
  return sql<SyncCount[]>`
    select platform, health, count(*)::int as shops
    from (
      select platform,
        case when refused_at is not null then 'refused' when failures > 0 then 'failing'
          when problem is null then 'ok' end as health
      from platforms.syncs
    ) s
    where health is not null group by platform, health`;
}

/** Deletes everything about a shop's connections to platforms. */
export async function forgetConnections(tx: Transaction, shopId: number): Promise<void> {
  await tx`delete from platforms.connections where shop_id = ${shopId}`;
  await tx`delete from platforms.syncs where shop_id = ${shopId}`;
}
