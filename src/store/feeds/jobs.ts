import type { Sql } from '../database.ts';

/** States of a webhook job. waiting: not started; retrying: failed, will be retried; failed: given up. */
export const jobStates = ['waiting', 'active', 'retrying', 'failed'] as const;
export type JobState = (typeof jobStates)[number];

export interface JobCount {
  readonly shopId: number;
  readonly queue: string;
  readonly state: JobState;
  readonly jobs: number;
}

/** Unfinished jobs by shop and state; empty if no server has opened the queue. */
export async function listJobCounts(sql: Sql): Promise<JobCount[]> {
  if (!(await hasJobs(sql))) return [];
  return sql<JobCount[]>`
    select (data ->> 'shopId')::bigint as "shopId", name as queue,
      case state when 'created' then 'waiting' when 'retry' then 'retrying' else state::text end as state,
      count(*)::int as jobs
    from jobs.job where state not in ('completed', 'cancelled') group by 1, 2, 3 order by 1, 2, 3`;
}

/** Schedules the failed jobs of a shop again. @returns how many there were */
export async function retryFailedJobs(sql: Sql, shopId: number): Promise<number> {
  if (!(await hasJobs(sql))) return 0;
  const result = await sql`
    update jobs.job set state = 'retry', retry_count = 0, start_after = now(), completed_on = null,
      keep_until = now() + interval '1 year'
    where state = 'failed' and (data ->> 'shopId')::bigint = ${shopId}`;
  return result.count;
}

export async function deleteJobsOfShop(sql: Sql, shopId: number): Promise<void> {
  if (!(await hasJobs(sql))) return;
  await sql`delete from jobs.job where (data ->> 'shopId')::bigint = ${shopId}`;
}

async function hasJobs(sql: Sql): Promise<boolean> {
  const [found] = await sql<{ isThere: boolean }[]>`
    select to_regclass('jobs.job') is not null as "isThere"`;
  return found?.isThere === true;
}

/** The database interface of the job library. */
interface JobDatabase {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: object[] }>;
}

/** Adapts the connections for jobs to the job library. */
export function jobDatabase(sql: Sql): JobDatabase {
  return {
    async executeSql(text, values = []) {
      // Some texts are scripts with a transaction of several statements.
      if (values.length === 0) return { rows: await sql.script(text) };
      return { rows: [...(await sql.unsafe<object[]>(text, values.map(valueOf)))] };
    },
  };
}

function valueOf(value: unknown): string | number | boolean | Date | null {
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) return arrayLiteral(value);
  if (typeof value === 'object' && !(value instanceof Date)) return JSON.stringify(value);
  return value as string | number | boolean | Date;
}

function arrayLiteral(values: readonly unknown[]): string {
  const items = values.map((value) => {
    if (value === null || value === undefined) return 'null';
    return Array.isArray(value) ? arrayLiteral(value) : JSON.stringify(String(value));
  });
  return `{${items.join(',')}}`;
}
