import type { Sql } from '../database.ts';
import { unnest } from '../arrays.ts';
import { lookup } from '../lookup.ts';
import { keyset } from '../records/listing.ts';

/** Requests by hour; hours are counted since 1970 (UTC). */
export type HourlyRequests = ReadonlyMap<number, number>;

/** Requests with the same operation and the same answer. */
export interface AnsweredRequests {
  /** The name of an operation or an MCP method, or why there is none, such as `message not read`. */
  readonly operation: string;
  /** Of the HTTP response. */
  readonly status: number;
  readonly requests: number;
}

export interface RequestCount extends AnsweredRequests {
  /** Counted since 1970 (UTC). */
  readonly hour: number;
}

/** What a key was used for since the last write. */
export interface KeyUse {
  readonly shopId: number;
  readonly keyId: string;
  /** Null if it was never used successfully. */
  readonly lastUsedAt: Date | null;
  /** To be added to the stored counts. */
  readonly counts: readonly RequestCount[];
}

const keyColumns = { shopId: 'bigint', keyId: 'text' };
/** A key's use is written at most once a minute, so this is about once an hour. */
const deletionsPerWrite = 1 / 60;

/**
 * Adds to keys' request counts, and updates a last use if the stored one is at least a minute older. Does nothing for a
 * key that does not exist. Now and then, by chance, deletes a key's counts of more than 30 days before.
 *
 * Has no time limit: a statement that was given up might still complete, and a retry would then count the
 * requests twice.
 */
export async function addKeyUses(sql: Sql, uses: readonly KeyUse[]): Promise<void> {
  const added = uses.flatMap(({ shopId, keyId, counts }) =>
    counts.map((count) => ({ shopId, keyId, ...count })),
  );
  const addedColumns = {
    ...keyColumns,
    hour: 'bigint',
    operation: 'text',
    status: 'int',
    requests: 'bigint',
  };
  const used = uses.flatMap(({ shopId, keyId, lastUsedAt }) =>
    lastUsedAt === null ? [] : [{ shopId, keyId, at: lastUsedAt.getTime() }],
  );
  const usedColumns = { ...keyColumns, at: 'timestamptz' };
  for (const { shopId, keyId, hour } of added) {
    if (Math.random() < deletionsPerWrite) await deleteOldCounts(sql, shopId, keyId, hour);
  }
  // Pipelined; the server runs them in order. On a cluster, moving a shard locks them in the same order. Rows are in
  // order, too, so that instances that add to the same counts cannot deadlock.
  await sql.begin((tx) =>
    Promise.all([
      tx`
        insert into request_counts (shop_id, key_id, hour, operation, status, requests)
        select k.shop_id, k.key_id, to_timestamp(added.hour * 3600), added.operation, added.status,
          sum(added.requests)
        from ${unnest(tx, 'added', addedColumns, added)}
        cross join ${lookup(tx, 'added.shopId', 'api_keys', 'key_id', 'added.keyId')} k
        group by 1, 2, 3, 4, 5
        order by 1, 2, 3, 4, 5
        on conflict (shop_id, key_id, hour, operation, status)
          do update set requests = request_counts.requests + excluded.requests`,
      tx`
        insert into key_uses (shop_id, key_id, last_used_at)
        select k.shop_id, k.key_id, max(used.at)
        from ${unnest(tx, 'used', usedColumns, used)}
        cross join ${lookup(tx, 'used.shopId', 'api_keys', 'key_id', 'used.keyId')} k
        group by 1, 2
        order by 1, 2
        on conflict (shop_id, key_id) do update set last_used_at = excluded.last_used_at
          where excluded.last_used_at - key_uses.last_used_at >= interval '60 seconds'`,
    ]),
  );
}

/**
 * Deletes a key's counts of more than 30 days before an hour.
 * @param hour counted since 1970 (UTC)
 */
export async function deleteOldCounts(
  sql: Sql,
  shopId: number,
  keyId: string,
  hour: number,
): Promise<void> {
  await sql`
    delete from request_counts
    where shop_id = ${shopId} and key_id = ${keyId}
      and hour < to_timestamp(${hour}::bigint * 3600) - interval '30 days'`;
}

/**
 * The requests of each key of a shop, by key id, starting with an hour.
 * @param fromHour in hours since 1970 (UTC)
 */
export async function listKeyRequests(
  sql: Sql,
  shopId: number,
  fromHour: number,
): Promise<ReadonlyMap<string, HourlyRequests>> {
  const rows = await sql<{ keyId: string; hour: number; requests: number }[]>`
    select key_id as "keyId", (date_part('epoch', hour) / 3600)::int as hour,
      sum(requests)::bigint as requests
    from request_counts
    where shop_id = ${shopId} and hour >= to_timestamp(${fromHour}::bigint * 3600)
    group by key_id, hour`;
  const byKey = new Map<string, Map<number, number>>();
  for (const { keyId, hour, requests } of rows) {
    const ofKey = byKey.get(keyId) ?? new Map<number, number>();
    byKey.set(keyId, ofKey.set(hour, requests));
  }
  return byKey;
}

/**
 * The requests of each key of a shop, by operation and answer, starting with an hour. In no order.
 * @param fromHour in hours since 1970 (UTC)
 */
export function listAnsweredRequests(
  sql: Sql,
  shopId: number,
  fromHour: number,
): Promise<(AnsweredRequests & { readonly keyId: string })[]> {
  return sql<(AnsweredRequests & { readonly keyId: string })[]>`
    select key_id as "keyId", operation, status, sum(requests)::bigint as requests
    from request_counts
    where shop_id = ${shopId} and hour >= to_timestamp(${fromHour}::bigint * 3600)
    group by key_id, operation, status`;
}

/** How many requests of each shop are kept. */
export const keptRequests = 1_000;

/** What is kept of a request with a key: nothing that it asked for or was answered. */
export interface LoggedRequest {
  readonly at: Date;
  /** A UUID. */
  readonly requestId: string;
  readonly keyId: string;
  readonly transport: 'rest' | 'mcp' | 'page';
  /** The name of an operation or an MCP method, or why there is none, such as `message not read`. */
  readonly operation: string;
  /** Of the HTTP response. */
  readonly status: number;
  readonly microseconds: number;
  /** How many requests directly before it are missing from the log. */
  readonly dropped: number;
}

/** By time, or by how long the answer took. */
const orders = {
  newest: ['newest', ['at', 'request_id']],
  oldest: ['oldest', ['at', 'request_id']],
  slowest: ['newest', ['microseconds', 'at', 'request_id']],
  fastest: ['oldest', ['microseconds', 'at', 'request_id']],
} as const;

export type LogOrder = keyof typeof orders;

/** Requests of a shop that are not in its log yet. */
export interface ShopRequests {
  readonly shopId: number;
  readonly requests: readonly LoggedRequest[];
}

/**
 * Adds to shops' logs. For each, once for about as many requests as are kept, and by chance, so that instances need not
 * agree, deletes what is older than those.
 */
export async function addLoggedRequests(sql: Sql, logs: readonly ShopRequests[]): Promise<void> {
  const columns = {
    shopId: 'bigint',
    at: 'timestamptz',
    requestId: 'uuid',
    keyId: 'text',
    transport: 'text',
    operation: 'text',
    status: 'int',
    microseconds: 'bigint',
    dropped: 'bigint',
  };
  const rows = logs.flatMap(({ shopId, requests }) =>
    requests.map((each) => ({ ...each, shopId, at: each.at.getTime() })),
  );
  await sql`
    insert into request_batches
      (shop_id, last_at, batch_id, requests, at, request_id, key_id, transport, operation, status,
        microseconds, dropped)
    select s.shop_id, max(r.at), gen_random_uuid(), count(*), array_agg(r.at),
      array_agg(r."requestId"), array_agg(r."keyId"), array_agg(r.transport),
      array_agg(r.operation), array_agg(r.status), array_agg(r.microseconds), array_agg(r.dropped)
    from ${unnest(sql, 'r', columns, rows)}
    cross join lateral (
      select shop_id from shops where shop_id between r."shopId" and r."shopId"
      order by shop_id limit 1
    ) s
    group by s.shop_id`;
  for (const { shopId, requests } of logs) {
    if (Math.random() * keptRequests < requests.length) await deleteOldBatches(sql, shopId);
  }
}

/** Keeps twice as many as are shown, because a batch whose confirmation was lost is written again. */
export async function deleteOldBatches(sql: Sql, shopId: number): Promise<void> {
  await sql`
    delete from request_batches
    where shop_id = ${shopId} and (last_at, batch_id) <= (
      select last_at, batch_id from (
        select last_at, batch_id, requests,
          sum(requests) over (order by last_at desc, batch_id desc) as together
        from request_batches where shop_id = ${shopId}
      ) latest
      where together - requests >= ${2 * keptRequests}
      order by last_at desc, batch_id desc limit 1)`;
}

interface LogFilter {
  readonly status: number | undefined;
  readonly keyId: string | undefined;
  /** The newest first, if it is left out. */
  readonly order?: LogOrder;
  /** The last request of the page before. */
  readonly after: Pick<LoggedRequest, 'at' | 'requestId' | 'microseconds'> | undefined;
  readonly limit: number;
}

/** A shop's requests. Reads all that are kept, whatever the order. */
export function listLoggedRequests(
  sql: Sql,
  shopId: number,
  { status, keyId, order = 'newest', after, limit }: LogFilter,
): Promise<LoggedRequest[]> {
  const [direction, columns] = orders[order];
  const last = after && {
    at: after.at.toISOString(),
    request_id: after.requestId,
    microseconds: after.microseconds,
  };
  const { beyond, by } = keyset(sql, direction, columns, last);
  return sql<LoggedRequest[]>`
    select at, request_id as "requestId", key_id as "keyId", transport, operation, status,
      microseconds, dropped
    from (
      select distinct on (r.at, r.request_id) r.* from (
        select * from request_batches where shop_id = ${shopId}
        order by last_at desc, batch_id desc offset 0
      ) b
      cross join lateral unnest(b.at, b.request_id, b.key_id, b.transport, b.operation, b.status,
        b.microseconds, b.dropped)
        r (at, request_id, key_id, transport, operation, status, microseconds, dropped)
      order by r.at desc, r.request_id desc limit ${keptRequests}
    ) latest
    where ${beyond}
      and (${status ?? null}::int is null or status = ${status ?? null}::int)
      and (${keyId ?? null}::text is null or key_id = ${keyId ?? null}::text)
    order by ${by()} limit ${limit}`;
}
