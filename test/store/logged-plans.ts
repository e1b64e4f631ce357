import type { Sql } from '../../src/store/database.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { until } from '../support/until.ts';
import type { PlanNode } from './plan-nodes.ts';

/** A statement that the server ran for the service, a trigger or a foreign key. */
export interface LoggedStatement {
  readonly 'Query Text': string;
  readonly Plan: PlanNode;
}

/** Server settings to log the plans of all statements, including those inside functions. */
export const logSettings: readonly string[] = [
  'fsync=off',
  'shared_preload_libraries=auto_explain',
  'auto_explain.log_format=json',
  'auto_explain.log_nested_statements=on',
  'logging_collector=on',
  'log_line_prefix=#',
  // Otherwise each statement of a function comes with the whole text of those that led to it.
  'log_error_verbosity=terse',
  'log_rotation_size=0',
];

/** Opens a database, and serves requests from it as a user who sees the rows of one shop at a time. */
export function openAsReader(url: string): Store {
  const serveUrl = new URL(url);
  serveUrl.username = 'reader';
  // Only a superuser may set what is logged.
  serveUrl.search = '';
  return connectAll(url, { serveUrl: serveUrl.href });
}

/** The size of the log, from which to read later. */
export async function logStart(sql: Sql): Promise<number> {
  const [log] = await sql<{ size: number }[]>`
    select size from pg_stat_file(pg_current_logfile())`;
  return log?.size ?? 0;
}

/** The statements that were logged from `start` on, each once with each of its plans. */
export async function readStatements(sql: Sql, start = 0): Promise<LoggedStatement[]> {
  // Another process writes the log; once this line is there, so is everything before it.
  const end = `all has been said after ${start}`;
  await sql.unsafe(`do $$ begin raise log '${end}'; end $$`);
  const log = await until(
    async () => {
      const [row] = await sql<{ text: string }[]>`
        select pg_read_file(pg_current_logfile(), ${start}, 1000000000) as text`;
      return row?.text ?? '';
    },
    (text) => text.includes(`LOG:  ${end}`),
  );
  return parseLog(log);
}

function parseLog(log: string): LoggedStatement[] {
  const plans = log
    .split(/^#/m)
    .filter((entry) => /^LOG: {2}duration: .* plan:\n/.test(entry))
    .map((entry) => entry.slice(entry.indexOf('\n')));
  // Most are those of triggers, thousands of times the same.
  return [...new Set(plans)].map((plan) => JSON.parse(plan));
}
