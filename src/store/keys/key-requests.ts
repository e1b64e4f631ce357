import type { Sql } from '../database.ts';
import { unnest } from '../unnest.ts';

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
  sql: Sql,
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
  await sql.begin((tx) =>
    // Pipelined; the server runs them in order. On a cluster, moving a shard locks them in the same order.
    Promise.all([
      tx`
        delete from request_counts
        where shop_id = ${shopId} and key_id = ${keyId}
          and hour < to_timestamp(${lastHour}::bigint * 3600) - interval '30 days'`,
      tx`
        insert into request_counts (shop_id, key_id, hour, operation, status, requests)
        select k.shop_id, k.key_id, to_timestamp(added.hour * 3600), added.operation, added.status,
          added.requests
        from api_keys k, ${unnest(tx, 'added', columns, added)}
        where k.shop_id = ${shopId} and k.key_id = ${keyId}
        on conflict (shop_id, key_id, hour, operation, status)
          do update set requests = request_counts.requests + excluded.requests`,
      tx`
        update api_keys set last_used_at = ${lastUsedAt}
        where shop_id = ${shopId} and key_id = ${keyId} and ${lastUsedAt}::timestamptz is not null
          and (last_used_at is null or last_used_at <= ${lastUsedAt}::timestamptz - interval '60 seconds')`,
    ]),
  );
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
