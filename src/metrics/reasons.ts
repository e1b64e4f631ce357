import type { detectedReasons } from '../vocabulary.ts';
import type { Sql, Transaction } from '../store/database.ts';

/** The outcomes of cancel-flow sessions with one reason. */
export interface ReasonRow {
  readonly reason: (typeof detectedReasons)[number];
  readonly saved: number;
  readonly cancelled: number;
  readonly abandoned: number;
}

/**
 * The completed sessions that started in a window, by reason, most frequent first. Reads only the
 * window's entries of one index.
 * @param from, until epoch milliseconds; includes `from`, excludes `until`
 */
export async function listOutcomesByReason(
  sql: Sql,
  shopId: number,
  from: number,
  until: number,
): Promise<ReasonRow[]> {
  return sql<ReasonRow[]>`
    ${outcomes(sql)}
    from cancellation_sessions
    where shop_id = ${shopId} and outcome is not null
      and created_at >= ${new Date(from).toISOString()}
      and created_at < ${new Date(until).toISOString()}
    group by detected_reason
    order by count(*) desc, detected_reason`;
}

/** What is selected of sessions, grouped by their reason. */
export function outcomes(sql: Sql | Transaction) {
  return sql`
    select detected_reason as reason,
      count(*) filter (where outcome = 'saved') as saved,
      count(*) filter (where outcome = 'cancelled') as cancelled,
      count(*) filter (where outcome = 'abandoned') as abandoned`;
}
