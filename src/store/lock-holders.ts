import { setTimeout as sleep } from 'node:timers/promises';

import type { Sql } from './database.ts';

const pollMilliseconds = 30;

/** A backend that holds a lock, from pg_stat_activity. */
interface Holder {
  readonly pid: number;
  readonly program: string;
  /** Age of its transaction; null if this login may not see it. */
  readonly seconds: number | null;
}

/**
 * Finds, on another connection, the backends that block the given one. The server can name them only
 * while it waits.
 * @param signal stops the search when the backend no longer waits
 * @returns undefined if none was found by then
 */
export async function findLockHolders(
  sql: Sql,
  backend: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  while (!signal.aborted) {
    const holders = await sql<Holder[]>`
      select pid, coalesce(nullif(application_name, ''), backend_type, 'unknown program') as program,
        extract(epoch from now() - xact_start)::int as seconds
      from pg_stat_activity
      where pid = any(pg_blocking_pids(${backend}))
      order by xact_start nulls last, pid`;
    if (holders.length > 0) return describe(holders);
    await sleep(pollMilliseconds);
  }
  return undefined;
}

function describe(holders: readonly Holder[]): string {
  return holders
    .map(({ pid, program, seconds }) => {
      const age = seconds === null ? '' : `, in a transaction for ${seconds} s`;
      return `process ${pid} (${program}${age})`;
    })
    .join(' and ');
}
