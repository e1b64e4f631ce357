import type { Sql, Transaction } from '../database.ts';

/** A shop that is connected to a platform, as stored. */
export interface StoredConnection {
  readonly shopId: number;
  /** The shop's name at the platform. */
  readonly account: string;
  /** Encrypted. */
  readonly credentials: string;
  readonly connectedAt: Date;
}

/** In the order of the shops. */
export async function listConnections(sql: Sql, platform: string): Promise<StoredConnection[]> {
  return sql<StoredConnection[]>`
    select shop_id as "shopId", account, credentials, connected_at as "connectedAt"
    from platforms.connections where platform = ${platform} order by shop_id`;
}

export async function findConnection(
  sql: Sql,
  shopId: number,
  platform: string,
): Promise<StoredConnection | undefined> {
  const [found] = await sql<StoredConnection[]>`
    select shop_id as "shopId", account, credentials, connected_at as "connectedAt"
    from platforms.connections where shop_id = ${shopId} and platform = ${platform}`;
  return found;
}

/**
 * Connects a shop, or replaces its connection. A renewal in progress has no effect any more.
 * @returns the shop that already has this account, if it is another one: then nothing is stored
 */
export async function upsertConnection(
  tx: Transaction,
  platform: string,
  { shopId, account, credentials, connectedAt }: StoredConnection,
): Promise<number | undefined> {
  const [other] = await tx<{ shopId: number }[]>`
    select shop_id as "shopId" from platforms.connections
    where platform = ${platform} and account = ${account} and shop_id <> ${shopId}`;
  if (other) return other.shopId;
  await tx`
    insert into platforms.connections (shop_id, platform, account, credentials, connected_at)
    values (${shopId}, ${platform}, ${account}, ${credentials}, ${connectedAt})
    on conflict (shop_id, platform) do update set
      account = excluded.account, credentials = excluded.credentials,
      connected_at = excluded.connected_at, renewing_by = null, renewing_until = null`;
  return undefined;
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
