import type { RecordType } from '../../records/records.ts';
import type { Sql, Transaction } from '../database.ts';
import { arrayText } from '../database.ts';

/** How far one of a shop's streams of rows has been read. */
export interface StreamState {
  readonly stream: string;
  /** The source that it is from. */
  readonly account: string;
  /** The types of records that it makes, without those that another platform keeps up. */
  readonly types: readonly RecordType[];
  /** Where reading goes on; null if that is not known, or there is no such place. */
  readonly cursor: string | null;
  /** Null until it has been read to its end once. */
  readonly readAt: Date | null;
  /** When all of its rows were read last; null makes that due. */
  readonly wholeAt: Date | null;
  /** How many rows were read last, or so far. */
  readonly rows: number;
  /** Of all its rows, if what was made of them is stored; null if some were refused. */
  readonly digest: string | null;
  /** When all of its rows were mapped last, and not only compared. */
  readonly mappedAt: Date | null;
}

export async function listStreams(
  sql: Sql,
  shopId: number,
  platform: string,
): Promise<readonly StreamState[]> {
  return sql<StreamState[]>`
    select stream, account, to_json(types) as types, cursor, read_at as "readAt", whole_at as "wholeAt", rows,
      rows_digest as digest, mapped_at as "mappedAt"
    from platforms.streams where shop_id = ${shopId} and platform = ${platform} order by stream`;
}

/** How far a stream of one of several shops has been read. */
export interface ShopStream extends Pick<StreamState, 'stream' | 'types' | 'rows' | 'readAt'> {
  readonly shopId: number;
  readonly platform: string;
}

export async function listStreamsOf(sql: Sql, shopIds: readonly number[]): Promise<ShopStream[]> {
  return sql<ShopStream[]>`
    select shop_id as "shopId", platform, stream, to_json(types) as types, rows, read_at as "readAt"
    from platforms.streams where shop_id = any (${arrayText(shopIds)}::bigint[])
    order by shop_id, platform, stream`;
}

export async function upsertStreams(
  sql: Sql,
  shopId: number,
  platform: string,
  streams: readonly StreamState[],
): Promise<void> {
  for (const each of streams) {
    const { stream, account, types, cursor, readAt, wholeAt, rows, digest, mappedAt } = each;
    await sql`
      insert into platforms.streams
        (shop_id, platform, stream, account, types, cursor, read_at, whole_at, rows, rows_digest, mapped_at)
      select shop_id, ${platform}, ${stream}, ${account}, ${arrayText(types)}::text::text[],
        ${cursor}, ${readAt}, ${wholeAt}, ${rows}, ${digest}, ${mappedAt}
      from shops where shop_id = ${shopId}
      on conflict (shop_id, platform, stream) do update set
        account = excluded.account, types = excluded.types, cursor = excluded.cursor,
        read_at = excluded.read_at, whole_at = excluded.whole_at, rows = excluded.rows,
        rows_digest = excluded.rows_digest, mapped_at = excluded.mapped_at`;
  }
}

/** Notes that a shop was connected, perhaps by another address of its source: all is read again. */
export async function noteAccount(
  tx: Transaction,
  shopId: number,
  platform: string,
  account: string,
): Promise<void> {
  await tx`
    update platforms.streams
    set account = ${account}, cursor = null, whole_at = null, rows_digest = null
    where shop_id = ${shopId} and platform = ${platform}`;
}

/** Has all rows of a shop mapped again: something that was made of them may be gone. */
export async function forgetDigests(sql: Sql, shopId: number): Promise<void> {
  await sql`update platforms.streams set rows_digest = null where shop_id = ${shopId}`;
}

/** Forgets the streams that a shop no longer has. */
export async function keepStreams(
  sql: Sql,
  shopId: number,
  platform: string,
  names: readonly string[],
): Promise<void> {
  await sql`
    delete from platforms.streams where shop_id = ${shopId} and platform = ${platform}
      and stream <> all (${arrayText(names)}::text::text[])`;
}

export async function deleteStreams(
  tx: Transaction,
  shopId: number,
  platform: string,
): Promise<void> {
  await tx`delete from platforms.streams where shop_id = ${shopId} and platform = ${platform}`;
}

/** What a stream of a connected shop has brought. */
interface Brought extends Pick<StreamState, 'account' | 'types'> {
  readonly platform: string;
}

/** Of all platforms. */
export async function listBrought(sql: Sql, shopId: number): Promise<Brought[]> {
  return sql<Brought[]>`
    select s.platform, s.account, to_json(s.types) as types from platforms.streams s
    join platforms.connections c
      on c.shop_id = s.shop_id and c.platform = s.platform and c.account = s.account
    where s.shop_id = ${shopId} and c.shop_id = ${shopId} and s.read_at is not null`;
}

/** The types that the streams of a connected shop have brought; undefined for a shop without any. */
export async function findBelonging(sql: Sql, shopId: number, platform: string) {
  const rows = (await listBrought(sql, shopId)).filter((each) => each.platform === platform);
  const [first] = rows;
  const types = [...new Set(rows.flatMap((row) => row.types))];
  return first && { account: first.account, types };
}

/** For one type of records that streams of a platform bring. */
export interface StreamLag {
  readonly platform: string;
  readonly type: string;
  /** Of those that were read to their end at least once. */
  readonly oldestReadAt: Date | null;
  /** How many never were. */
  readonly unread: number;
}

/** For operators. Reads no data of shops. */
export async function listStreamLags(sql: Sql): Promise<StreamLag[]> {
  return sql<StreamLag[]>`
    select platform, type, min(read_at) as "oldestReadAt",
      (count(*) filter (where read_at is null))::int as unread
    from platforms.streams cross join lateral unnest(types) as type group by platform, type`;
}
