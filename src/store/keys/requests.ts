import { randomUUID } from 'node:crypto';
import type { Sql, Transaction } from '../database.ts';
import { unnest, arraysOf } from '../arrays.ts';
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

interface KeyUse {
  /** Null if it was never used successfully. */
  readonly lastUsedAt: Date | null;
  /** To be added to the stored counts. */
  readonly counts: readonly RequestCount[];
}

/**
 * Adds to a key's request counts, deletes those more than 30 days older, and updates its last use if the stored
 * one is at least a minute older. Does nothing if there is no such key.
 *
 * Has no time limit: a statement that was given up might still complete, and a retry would then count the
 * requests twice.
 */
export async function addKeyUse(
  sql: Sql | Transaction,
  shopId: number,
  keyId: string,
  { lastUsedAt, counts }: KeyUse,
): Promise<void> {
  // In order, so that instances that add to the same counts cannot deadlock.
  const added = counts.toSorted(
    (one, other) =>
      one.hour - other.hour ||
      one.status - other.status ||
      (one.operation < other.operation ? -1 : 1),
  );
  const columns = { hour: 'bigint', operation: 'text', status: 'int', requests: 'bigint' };
  const lastHour = added.at(-1)?.hour ?? 0;
  const useColumns = { at: 'timestamptz' };
  const used = lastUsedAt === null ? [] : [{ at: lastUsedAt }];
  // Pipelined; the server runs them in order. On a cluster, moving a shard locks them in the same order.
  await Promise.all([
    sql`
      delete from request_counts
      where shop_id = ${shopId} and key_id = ${keyId}
        and hour < to_timestamp(${lastHour}::bigint * 3600) - interval '30 days'`,
    sql`
      insert into request_counts (shop_id, key_id, hour, operation, status, requests)
      select k.shop_id, k.key_id, to_timestamp(added.hour * 3600), added.operation, added.status,
        added.requests
      from api_keys k, ${unnest(sql, 'added', columns, added)}
      where k.shop_id = ${shopId} and k.key_id = ${keyId}
      on conflict (shop_id, key_id, hour, operation, status)
        do update set requests = request_counts.requests + excluded.requests`,
    sql`
      insert into key_uses (shop_id, key_id, last_used_at)
      select k.shop_id, k.key_id, used.at
      from api_keys k, ${unnest(sql, 'used', useColumns, used)}
      where k.shop_id = ${shopId} and k.key_id = ${keyId}
      on conflict (shop_id, key_id) do update set last_used_at = excluded.last_used_at
        where excluded.last_used_at - key_uses.last_used_at >= interval '60 seconds'`,
  ]);
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

/**
 * Adds to a shop's log, oldest first. Once for about as many requests as are kept, and by chance, so that instances need
 * not agree, deletes what is older than those.
 */
export async function addLoggedRequests(
  sql: Sql | Transaction,
  shopId: number,
  requests: readonly LoggedRequest[],
): Promise<void> {
  const columns = {
    at: 'timestamptz',
    requestId: 'uuid',
    keyId: 'text',
    transport: 'text',
    operation: 'text',
    status: 'int',
    microseconds: 'bigint',
    dropped: 'bigint',
  };
  const rows = requests.map((each) => ({ ...each, at: each.at.getTime() }));
  const lastAt = new Date(Math.max(...rows.map(({ at }) => at)));
  await sql`
    insert into request_batches
      (shop_id, last_at, batch_id, requests, at, request_id, key_id, transport, operation, status,
        microseconds, dropped)
    select shop_id, ${lastAt}::timestamptz, ${randomUUID()}::uuid, ${rows.length}::int,
      ${arraysOf(sql, columns, rows)}
    from shops where shop_id = ${shopId}`;
  if (Math.random() * keptRequests < rows.length) await deleteOldBatches(sql, shopId);
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
