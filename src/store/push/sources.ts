import type { Sql, Transaction } from '../database.ts';
import { keptMilliseconds } from './batches.ts';

/** Where a shop's own programs push records to. */
export interface PushSource {
  readonly shopId: number;
  readonly sourceId: string;
  readonly name: string;
  /** How it signs its requests. */
  readonly scheme: string;
  readonly createdBy: string;
  readonly createdAt: Date;
  /** As `Sealing` makes it; null once it is revoked. */
  readonly secret: string | null;
  /** The secret before the last rotation. */
  readonly previousSecret: string | null;
  readonly previousUntil: Date | null;
  readonly revokedAt: Date | null;
}

export interface PushSourceListing extends PushSource {
  readonly lastBatchAt: Date | null;
  /** How many records of the batches that arrived in the last 30 days are refused. */
  readonly refusedRecords: number;
  /** When the last such batch arrived, and why its first one was refused; null if there is none. */
  readonly lastRefusedAt: Date | null;
  readonly lastRefusedReason: string | null;
}

const columns = `s.shop_id as "shopId", s.source_id as "sourceId", s.name, s.scheme,
  s.created_by as "createdBy", s.created_at as "createdAt", s.secret,
  s.previous_secret as "previousSecret", s.previous_until as "previousUntil",
  s.revoked_at as "revokedAt"`;

/** Finds a source by its id alone, which is all that a request names. */
export async function findPushSource(sql: Sql, sourceId: string): Promise<PushSource | undefined> {
  const [found] = await sql<PushSource[]>`
    select ${sql.unsafe(columns)} from ingest.sources s where s.source_id = ${sourceId}`;
  return found;
}

/** The sources of a shop, revoked ones too, oldest first. @param now epoch milliseconds */
export async function listPushSources(
  sql: Sql,
  shopId: number,
  now: number,
): Promise<PushSourceListing[]> {
  const since = new Date(now - keptMilliseconds);
  return sql<PushSourceListing[]>`
    select ${sql.unsafe(columns)},
      last.received_at as "lastBatchAt", refused.records as "refusedRecords",
      last_refused.received_at as "lastRefusedAt", last_refused.reason as "lastRefusedReason"
    from ingest.sources s
    left join lateral (
      select greatest(
        (select max(b.received_at) from ingest.batches b
          where b.shop_id = ${shopId} and b.source_id = s.source_id and b.finished_at is null),
        -- A later one cannot have finished before the last finished one was received.
        (select max(b.received_at) from ingest.batches b
          where b.shop_id = ${shopId} and b.source_id = s.source_id and b.finished_at >= (
            select l.received_at from ingest.batches l
            where l.shop_id = ${shopId} and l.source_id = s.source_id and l.finished_at is not null
            order by l.finished_at desc limit 1))
      ) as received_at
    ) last on true
    left join lateral (
      select coalesce(sum(b.refused_count), 0)::int as records from ingest.batches b
      where b.shop_id = ${shopId} and b.source_id = s.source_id and b.refused_count > 0
        and b.received_at >= ${since}
    ) refused on true
    left join lateral (
      select b.received_at, b.refused::json -> 0 ->> 'reason' as reason from ingest.batches b
      where b.shop_id = ${shopId} and b.source_id = s.source_id and b.refused_count > 0
        and b.received_at >= ${since}
      order by b.received_at desc limit 1
    ) last_refused on true
    where s.shop_id = ${shopId} order by s.created_at, s.source_id`;
}

/** Those of all shops that are not revoked. */
export async function listLivePushSources(sql: Sql): Promise<PushSource[]> {
  return sql<PushSource[]>`
    select ${sql.unsafe(columns)} from ingest.sources s
    where s.revoked_at is null order by s.shop_id, s.source_id`;
}

type NewPushSource = Pick<
  PushSource,
  'shopId' | 'sourceId' | 'name' | 'scheme' | 'createdBy' | 'createdAt'
> & { readonly secret: string };

/** @returns false if the id is taken */
export async function insertPushSource(
  tx: Transaction,
  { shopId, sourceId, name, scheme, createdBy, createdAt, secret }: NewPushSource,
): Promise<boolean> {
  const result = await tx`
    insert into ingest.sources (shop_id, source_id, name, scheme, created_by, created_at, secret)
    values (${shopId}, ${sourceId}, ${name}, ${scheme}, ${createdBy}, ${createdAt},
      ${secret})
    on conflict do nothing`;
  return result.count === 1;
}

/**
 * Replaces the secret of a source. The one before it is accepted until then; an even older one no longer.
 * @param before until when an older one was accepted, or is; undefined if that may be any time
 * @returns the name of the source; undefined if the shop has no such source, or it is revoked or was rotated meanwhile
 */
export async function updatePushSecret(
  tx: Transaction,
  { shopId, sourceId }: Pick<PushSource, 'shopId' | 'sourceId'>,
  secret: string,
  { until, before }: { readonly until: Date; readonly before: Date | null | undefined },
): Promise<string | undefined> {
  const isSame =
    before === undefined ? tx`true` : tx`previous_until is not distinct from ${before}`;
  const [source] = await tx<{ name: string }[]>`
    update ingest.sources
    set previous_secret = secret, previous_until = ${until}, secret = ${secret}
    where shop_id = ${shopId} and source_id = ${sourceId} and revoked_at is null and ${isSame}
    returning name`;
  return source?.name;
}

/**
 * Revokes a source, and deletes its secrets.
 * @returns undefined if the shop has no such source
 */
export async function updateRevokedPushSource(
  tx: Transaction,
  { shopId, sourceId }: Pick<PushSource, 'shopId' | 'sourceId'>,
  at: Date,
): Promise<{ readonly name: string; readonly wasLive: boolean } | undefined> {
  const [before] = await tx<{ name: string; wasLive: boolean }[]>`
    select name, revoked_at is null as "wasLive" from ingest.sources
    where shop_id = ${shopId} and source_id = ${sourceId} for update`;
  if (!before) return undefined;
  await tx`
    update ingest.sources
    set revoked_at = coalesce(revoked_at, ${at}), secret = null, previous_secret = null,
      previous_until = null
    where shop_id = ${shopId} and source_id = ${sourceId}`;
  return before;
}

/** Replaces secrets by the same ones, encrypted anew, unless they were replaced meanwhile. */
export async function replaceSealedSecrets(
  sql: Sql,
  { shopId, sourceId, secret }: Pick<PushSource, 'shopId' | 'sourceId' | 'secret'>,
  sealed: Pick<PushSource, 'secret' | 'previousSecret'>,
): Promise<void> {
  await sql`
    update ingest.sources
    set secret = ${sealed.secret}, previous_secret = ${sealed.previousSecret}
    where shop_id = ${shopId} and source_id = ${sourceId} and secret = ${secret}`;
}
