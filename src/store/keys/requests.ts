import { randomUUID } from 'node:crypto';
import type { Sql, Transaction } from '../database.ts';
import { unnest } from '../arrays.ts';
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

export interface KeyUse {
  readonly shopId: number;
  readonly keyId: string;
  /** Null if it was never used successfully. */
  readonly lastUsedAt: Date | null;
  /** To be added to the stored counts. */
  readonly counts: readonly RequestCount[];
}

/** Of which uses old counts are deleted: by chance, about once an hour for a key in constant use. */
const clearedShare = 1 / 60;

/**
 * Adds to the request counts of different keys, now and then deletes those more than 30 days older, and updates each last
 * use if the stored one is at least a minute older. Leaves out keys that do not exist.
 *
 * Has no time limit: a statement that was given up might still complete, and a retry would then count the
 * requests twice.
 */
export async function addKeyUses(sql: Sql | Transaction, uses: readonly KeyUse[]): Promise<void> {
  // In order, so that instances that write the same rows cannot deadlock.
  const ordered = uses.toSorted(
    (one, other) => one.shopId - other.shopId || (one.keyId < other.keyId ? -1 : 1),
  );
  const key = { shopId: 'bigint', keyId: 'text' };
  const usedColumns = { ...key, at: 'timestamptz' };
  const columns = { ...key, hour: 'bigint', operation: 'text', status: 'int', requests: 'bigint' };
  const added = ordered.flatMap(({ shopId, keyId, counts }) =>
    counts
      .toSorted(
        (one, other) =>
          one.hour - other.hour ||
          one.status - other.status ||
          (one.operation < other.operation ? -1 : 1),
      )
      .map((count) => ({ shopId, keyId, ...count })),
  );
  const used = ordered.flatMap(({ shopId, keyId, lastUsedAt }) =>
    lastUsedAt === null ? [] : [{ shopId, keyId, at: lastUsedAt.getTime() }],
  );
  const cleared = ordered.filter(() => Math.random() < clearedShare);
  // Pipelined; the server runs them in order. On a cluster, moving a shard locks them in the same order.
  await Promise.all([
    ...cleared.map(({ shopId, keyId, counts }) =>
      deleteOldCounts(sql, shopId, keyId, Math.max(0, ...counts.map(({ hour }) => hour))),
    ),
    sql`
      insert into request_counts (shop_id, key_id, hour, operation, status, requests)
      select "shopId", "keyId", to_timestamp(hour * 3600), operation, status, requests
      from ${unnest(sql, 'added', columns, added)}, ${keyOf(sql)}
      on conflict (shop_id, key_id, hour, operation, status)
        do update set requests = request_counts.requests + excluded.requests`,
    sql`
      insert into key_uses (shop_id, key_id, last_used_at)
      select "shopId", "keyId", at
      from ${unnest(sql, 'used', usedColumns, used)}, ${keyOf(sql)}
      on conflict (shop_id, key_id) do update set last_used_at = excluded.last_used_at
        where excluded.last_used_at - key_uses.last_used_at >= interval '60 seconds'`,
  ]);
}

/** Deletes counts of a key that are more than 30 days older than an hour, counted since 1970 (UTC). */
export async function deleteOldCounts(
  sql: Sql | Transaction,
  shopId: number,
  keyId: string,
  lastHour: number,
): Promise<void> {
  await sql`
    delete from request_counts
    where shop_id = ${shopId} and key_id = ${keyId}
      and hour < to_timestamp(${lastHour}::bigint * 3600) - interval '30 days'`;
}

/** The key of each row before it, if there is one: looked up, whatever the planner expects (lookup.ts), in their order. */
const keyOf = (sql: Sql | Transaction) =>
  sql`lateral (select from api_keys where shop_id = "shopId" and key_id = "keyId" limit 1) k`;

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

/** What is added at once to the log of a shop. */
export interface LoggedBatch {
  readonly shopId: number;
  readonly requests: readonly LoggedRequest[];
}

/**
 * Adds to the logs of shops. Once for about as many requests as are kept, and by chance, so that instances need not
 * agree, deletes what is older than those.
 */
export async function addLoggedRequests(
  sql: Sql | Transaction,
  batches: readonly LoggedBatch[],
): Promise<void> {
  const columns = {
    shopId: 'bigint',
    batchId: 'uuid',
    at: 'timestamptz',
    requestId: 'uuid',
    keyId: 'text',
    transport: 'text',
    operation: 'text',
    status: 'int',
    microseconds: 'bigint',
    dropped: 'bigint',
  };
  const rows = batches.flatMap(({ shopId, requests }) => {
    const batchId = randomUUID();
    return requests.map((each) => ({ ...each, shopId, batchId, at: each.at.getTime() }));
  });
  await sql`
    insert into request_batches
      (shop_id, last_at, batch_id, requests, at, request_id, key_id, transport, operation, status,
        microseconds, dropped)
    select b.* from (
      select "shopId", max(at), "batchId", count(*), array_agg(at), array_agg("requestId"),
        array_agg("keyId"), array_agg(transport), array_agg(operation), array_agg(status),
        array_agg(microseconds), array_agg(dropped)
      from ${unnest(sql, 'r', columns, rows)} group by "shopId", "batchId"
    ) b, lateral (select from shops where shop_id = b."shopId" limit 1) s`;
  for (const { shopId, requests } of batches) {
    if (Math.random() * keptRequests < requests.length) await deleteOldBatches(sql, shopId);
  }
}

/** Keeps twice as many as are shown, because a batch whose confirmation was lost is written again. */
export async function deleteOldBatches(sql: Sql | Transaction, shopId: number): Promise<void> {
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
