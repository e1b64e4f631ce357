import type { Sql } from '../database.ts';
import { unnest } from '../unnest.ts';

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

/** The position of a request in the log. */
export type LogPosition = Pick<LoggedRequest, 'at' | 'requestId'>;

/** Adds to a shop's log, and deletes all but its latest requests. Requests that it has already are left out. */
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
  const rows = requests.map((each) => ({ ...each, at: each.at.toISOString() }));
  await sql.begin((tx) =>
    // Pipelined; the server runs them in order.
    Promise.all([
      tx`
        insert into request_log
          (shop_id, at, request_id, key_id, transport, operation, status, microseconds, dropped)
        select k.shop_id, added.at, added."requestId", k.key_id, added.transport, added.operation,
          added.status, added.microseconds, added.dropped
        from api_keys k, ${unnest(tx, 'added', columns, rows)}
        where k.shop_id = ${shopId} and k.key_id = added."keyId"
        on conflict (shop_id, at, request_id) do nothing`,
      tx`
        delete from request_log
        where shop_id = ${shopId} and (at, request_id) <= (
          select last.at, last.request_id from request_log last where last.shop_id = ${shopId}
          order by last.at desc, last.request_id desc offset ${keptRequests} limit 1)`,
    ]),
  );
}

interface LogFilter {
  readonly status: number | undefined;
  readonly keyId: string | undefined;
  /** Only requests before this one; undefined for the latest. */
  readonly before: LogPosition | undefined;
  readonly limit: number;
}

/** A shop's requests, newest first. */
export function listLoggedRequests(
  sql: Sql,
  shopId: number,
  { status, keyId, before, limit }: LogFilter,
): Promise<LoggedRequest[]> {
  return sql<LoggedRequest[]>`
    select at, request_id as "requestId", key_id as "keyId", transport, operation, status,
      microseconds, dropped
    from request_log
    where shop_id = ${shopId}
      and (at, request_id) < (coalesce(${before?.at ?? null}::timestamptz, 'infinity'),
        coalesce(${before?.requestId ?? null}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
      and (${status ?? null}::int is null or status = ${status ?? null}::int)
      and (${keyId ?? null}::text is null or key_id = ${keyId ?? null}::text)
    order by at desc, request_id desc limit ${limit}`;
}
