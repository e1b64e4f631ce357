import { records } from '../../records/records.ts';
import { type Sql, type Transaction, arrayText } from '../database.ts';
import { lookup } from '../lookup.ts';
import { isoTime } from '../../iso-time.ts';
import { endedStatuses } from '../../vocabulary.ts';

interface Table {
  readonly table: string;
  readonly idColumn: string;
}

const { plan, subscription, payment, refund, cancellation } = records;
const customer: Table = { table: 'customers', idColumn: 'customer_id' };
/** What has an id of its own: records, and customers. */
const tables = { plan, subscription, customer, payment, refund, cancellation };

export type RecordKind = keyof typeof tables;
export const recordKinds = Object.keys(tables) as readonly RecordKind[];

function tableOf(kind: RecordKind): Table {
  return tables[kind];
}

/** Those of the ids that no stored record has. */
export async function findMissing(
  sql: Sql | Transaction,
  shopId: number,
  kind: RecordKind,
  ids: readonly number[],
): Promise<ReadonlySet<number | null>> {
  if (ids.length === 0) return new Set();
  const { table, idColumn } = tableOf(kind);
  const rows = await sql<{ id: number }[]>`
    select requested.id from unnest(${arrayText(ids)}::text::bigint[]) requested (id)
    left join ${lookup(sql, shopId, table, idColumn, 'requested.id')} s on true
    where s.shop_id is null`;
  return new Set(rows.map(({ id }) => id));
}

interface RecordPage {
  readonly after: number;
  readonly limit: number;
}

interface ListedRecord {
  readonly id: number;
  /** The latest time of which it is known what the record was, in epoch milliseconds; null if none is. */
  readonly knownAt: number | null;
  /** Of a subscription. */
  readonly hasEnded: boolean;
}

/** One page of the stored records of a kind, by ascending id. */
export function listRecords(
  sql: Sql | Transaction,
  shopId: number,
  kind: RecordKind,
  { after, limit }: RecordPage,
): Promise<ListedRecord[]> {
  const { table, idColumn } = tableOf(kind);
  const column = sql.id(idColumn);
  const hasEnded = sql.unsafe(
    kind === 'subscription' ? `status = any ('{${endedStatuses.join(',')}}')` : 'false',
  );
  return sql<ListedRecord[]>`
    select s.id, s.has_ended as "hasEnded", (extract(epoch from greatest(s.updated_at, d.exported_at)) * 1000)::bigint as "knownAt"
    from (
      select ${column} as id, updated_at, ${hasEnded} as has_ended from ${sql.id(table)}
      where shop_id = ${shopId} and ${column} > ${after}
      order by ${column} limit ${limit}
    ) s
    left join lateral (
      select exported_at from export_dates
      where shop_id = ${shopId} and kind = ${kind} and id = s.id limit 1
    ) d on true
    order by s.id`;
}

/** Those of the kinds of which a shop has any record. */
export async function listPresentKinds<Kind extends RecordKind>(
  sql: Sql,
  shopId: number,
  kinds: Iterable<Kind>,
): Promise<readonly Kind[]> {
  const found = [...new Set(kinds)].map(async (kind) => {
    const [any] = await listRecords(sql, shopId, kind, { after: 0, limit: 1 });
    return any ? [kind] : [];
  });
  return (await Promise.all(found)).flat();
}

/** A stored record that was in an export. */
export interface ExportedRecord {
  readonly id: number;
  /** When the latest export was made that had it, in epoch milliseconds. */
  readonly exportedAt: number;
  /** Of a subscription, JSON; null if only its history is known. */
  readonly sightings: string | null;
}

/** Those of the records that were in an export, by id. */
export async function listExported(
  tx: Transaction,
  shopId: number,
  kind: RecordKind,
  ids: readonly number[],
): Promise<ReadonlyMap<number, ExportedRecord>> {
  const rows = await tx<ExportedRecord[]>`
    select requested.id, (extract(epoch from d.exported_at) * 1000)::bigint as "exportedAt", d.sightings
    from unnest(${arrayText(ids)}::text::bigint[]) requested (id)
    cross join lateral (
      select exported_at, sightings from export_dates
      where shop_id = ${shopId} and kind = ${kind} and id = requested.id limit 1
    ) d`;
  return new Map(rows.map((row) => [row.id, row]));
}

export interface ExportDate {
  readonly kind: RecordKind;
  readonly id: number;
  /** Epoch milliseconds. */
  readonly exportedAt: number;
}

/** Stores the dates of exports that records are in, unless a later one is stored. */
export async function upsertExportDates(
  tx: Transaction,
  shopId: number,
  dates: readonly ExportDate[],
): Promise<void> {
  const kinds = arrayText(dates.map(({ kind }) => kind));
  const ids = arrayText(dates.map(({ id }) => id));
  const times = arrayText(dates.map(({ exportedAt }) => isoTime(exportedAt)));
  await tx`
    insert into export_dates as d (shop_id, kind, id, exported_at)
    select shop.shop_id, new.kind, new.id, new.exported_at from metric_shops shop
    cross join unnest(${kinds}::text::text[], ${ids}::text::bigint[], ${times}::text::timestamptz[])
      new (kind, id, exported_at)
    where shop.shop_id = ${shopId}
    on conflict (shop_id, kind, id) do update set exported_at = excluded.exported_at
      where excluded.exported_at > d.exported_at`;
}

/** When the latest complete export of a kind was made, in epoch milliseconds; undefined if that is not known. */
export async function findSnapshotDate(
  tx: Transaction,
  shopId: number,
  kind: RecordKind,
): Promise<number | undefined> {
  const [found] = await tx<{ exportedAt: number }[]>`
    select (extract(epoch from exported_at) * 1000)::bigint as "exportedAt"
    from snapshot_dates where shop_id = ${shopId} and kind = ${kind}`;
  return found?.exportedAt;
}

/** Stores when a complete export of some kinds was made, unless a later one is stored. */
export async function upsertSnapshotDates(
  tx: Transaction,
  shopId: number,
  kinds: readonly RecordKind[],
  exportedAt: number,
): Promise<void> {
  await tx`
    insert into snapshot_dates as d (shop_id, kind, exported_at)
    select shop.shop_id, new.kind, ${isoTime(exportedAt)}::timestamptz from metric_shops shop
    cross join unnest(${arrayText(kinds)}::text::text[]) new (kind)
    where shop.shop_id = ${shopId}
    on conflict (shop_id, kind) do update set exported_at = excluded.exported_at
      where excluded.exported_at > d.exported_at`;
}
