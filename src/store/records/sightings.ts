import type { SubscriptionStatus } from '../../vocabulary.ts';
import { type Sql, type Transaction, arrayText } from '../database.ts';
import { lookup } from '../lookup.ts';
import { unnest } from '../arrays.ts';

/** What may become of a subscription that a complete export does not have. */
export const goneWords = ['cancelled', 'deleted'] as const;
export type Gone = (typeof goneWords)[number];

/** An export of a shop's subscriptions. */
export interface KnownExport {
  /** Epoch milliseconds. */
  readonly at: number;
  /** If it had all of them: what became of the others. */
  readonly gone?: Gone;
  /** The first date of its records, if it was made of several exports. */
  readonly since?: number;
}

/** More exports of a shop are not numbered: each sighting has its time, which takes more space. */
export const maxKnownExports = 5_000;

/** The exports of a shop's subscriptions, in order of their numbers. */
export async function listKnownExports(
  tx: Transaction,
  shopId: number,
): Promise<readonly KnownExport[]> {
  const [found] = await tx<{ exports: string | null }[]>`
    select exports from snapshot_dates where shop_id = ${shopId} and kind = 'subscription'`;
  return JSON.parse(found?.exports ?? '[]');
}

export async function updateKnownExports(
  tx: Transaction,
  shopId: number,
  exports: readonly KnownExport[],
): Promise<void> {
  await tx`
    insert into snapshot_dates as d (shop_id, kind, exported_at, exports)
    select shop.shop_id, 'subscription', 'epoch', ${JSON.stringify(exports)} from metric_shops shop
    where shop.shop_id = ${shopId}
    on conflict (shop_id, kind) do update set exports = excluded.exports`;
}

/** A stored subscription, with what exports showed of it. */
export interface SeenSubscription {
  readonly id: number;
  readonly status: SubscriptionStatus;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** The latest time of which it is known what the record was; null if none is. */
  readonly knownAt: number | null;
  /** JSON; null if only its history is known. */
  readonly sightings: string | null;
}

/** Those of the subscriptions that are stored. */
export async function listSeen(
  tx: Transaction,
  shopId: number,
  ids: readonly number[],
): Promise<ReadonlyMap<number, SeenSubscription>> {
  if (ids.length === 0) return new Map();
  const rows = await tx<SeenSubscription[]>`
    select i.id, s.status, (extract(epoch from s.created_at) * 1000)::bigint as "createdAt",
      (extract(epoch from greatest(s.updated_at, d.exported_at)) * 1000)::bigint as "knownAt",
      d.sightings
    from unnest(${arrayText(ids)}::text::bigint[]) i (id)
    cross join ${lookup(tx, shopId, 'subscriptions', 'subscription_id', 'i.id')} s
    left join lateral (
      select exported_at, sightings from export_dates
      where shop_id = ${shopId} and kind = 'subscription' and id = i.id limit 1
    ) d on true`;
  return new Map(rows.map((row) => [row.id, row]));
}

export interface StoredSightings {
  readonly id: number;
  /** Epoch milliseconds. */
  readonly exportedAt: number;
  readonly sightings: string;
}

export async function upsertSightings(
  tx: Transaction,
  shopId: number,
  rows: readonly StoredSightings[],
): Promise<void> {
  if (rows.length === 0) return;
  const columns = { id: 'bigint', exportedAt: 'timestamptz', sightings: 'text' };
  await tx`
    insert into export_dates as d (shop_id, kind, id, exported_at, sightings)
    select shop.shop_id, 'subscription', new.* from metric_shops shop
    cross join ${unnest(tx, 'new', columns, rows)}
    where shop.shop_id = ${shopId}
    on conflict (shop_id, kind, id) do update set
      exported_at = greatest(d.exported_at, excluded.exported_at), sightings = excluded.sightings`;
}

/** Forgets what exports showed of subscriptions, whose stored history counts from then on. */
export async function forgetSightings(
  tx: Transaction,
  shopId: number,
  ids: readonly number[],
): Promise<void> {
  await tx`
    update export_dates set sightings = null
    where shop_id = ${shopId} and kind = 'subscription' and sightings is not null
      and id = any (${arrayText(ids)}::text::bigint[])`;
}

/** How many subscriptions of a shop have a status since an unknown time. */
export async function countUndated(sql: Sql | Transaction, shopId: number): Promise<number> {
  const [found] = await sql<{ count: number }[]>`
    select count(*)::int as count from subscriptions
    where shop_id = ${shopId} and status_since is null`;
  return found?.count ?? 0;
}

/** The same of several shops, without those that have none. */
export async function countUndatedOf(
  sql: Sql,
  shopIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await sql<{ shopId: number; count: number }[]>`
    select shop_id as "shopId", count(*)::int as count from subscriptions
    where shop_id = any (${arrayText(shopIds)}::bigint[]) and status_since is null group by shop_id`;
  return new Map(rows.map(({ shopId, count }) => [shopId, count]));
}
