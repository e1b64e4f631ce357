import { randomUUID } from 'node:crypto';
import type { Sql } from '../database.ts';
import { keyset } from '../records/paging.ts';
import { arraysOf } from '../unnest.ts';

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
  sql: Sql,
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
