import { arrayText, type Sql } from '../database.ts';

/** Requests by hour; hours are counted since 1970 (UTC). */
export type HourlyRequests = ReadonlyMap<number, number>;

interface KeyUse {
  readonly lastUsedAt: Date;
  /** To be added to the stored counts. */
  readonly requests: HourlyRequests;
}

/**
 * Adds to a key's request counts, deletes those of hours more than two days old, and updates its last use
 * if the stored one is at least a minute older. Does nothing if there is no such key.
 *
 * Has no time limit: a statement that was given up might still complete, and a retry would then count the
 * requests twice.
 */
export async function addKeyUse(
  sql: Sql,
  shopId: number,
  keyId: string,
  { lastUsedAt, requests }: KeyUse,
): Promise<void> {
  // In order, so that instances that add to the same hours cannot deadlock.
  const hours = [...requests].toSorted(([one], [other]) => one - other);
  await sql.begin((tx) =>
    // Pipelined; the server runs them in order. On a cluster, moving a shard locks them in the same order.
    Promise.all([
      tx`
        delete from key_requests
        where shop_id = ${shopId} and key_id = ${keyId}
          and hour < ${lastUsedAt}::timestamptz - interval '48 hours'`,
      tx`
        insert into key_requests (shop_id, key_id, hour, requests)
        select k.shop_id, k.key_id, to_timestamp(added.hour * 3600), added.requests
        from api_keys k, unnest(${arrayText(hours.map(([hour]) => hour))}::bigint[],
          ${arrayText(hours.map(([, count]) => count))}::bigint[]) added (hour, requests)
        where k.shop_id = ${shopId} and k.key_id = ${keyId}
        on conflict (shop_id, key_id, hour)
          do update set requests = key_requests.requests + excluded.requests`,
      tx`
        update api_keys set last_used_at = ${lastUsedAt}
        where shop_id = ${shopId} and key_id = ${keyId}
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
    select key_id as "keyId", (date_part('epoch', hour) / 3600)::int as hour, requests
    from key_requests
    where shop_id = ${shopId} and hour >= to_timestamp(${fromHour}::bigint * 3600)`;
  const byKey = new Map<string, Map<number, number>>();
  for (const { keyId, hour, requests } of rows) {
    const ofKey = byKey.get(keyId) ?? new Map<number, number>();
    byKey.set(keyId, ofKey.set(hour, requests));
  }
  return byKey;
}
