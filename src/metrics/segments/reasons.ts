import type { Sql, Transaction } from '../../store/database.ts';
import type { Period } from '../bounds.ts';
import type { ReasonRow } from '../cancel-flow/reasons.ts';
import { type Selection, chosenOf, recordsOf } from './chosen.ts';

/** The same as outcomesByReason, for the sessions of a selection's subscriptions. */
export function reasonsFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  { from, until }: Period,
  selection: Selection,
): Promise<ReasonRow[]> {
  const within = [new Date(from).toISOString(), new Date(until).toISOString()] as const;
  return sql<ReasonRow[]>`
    with chosen as (${chosenOf(sql, shopId, selection)})
    select detected_reason as reason,
      count(*) filter (where outcome = 'saved') as saved,
      count(*) filter (where outcome = 'cancelled') as cancelled,
      count(*) filter (where outcome = 'abandoned') as abandoned
    from (${recordsOf(sql, shopId, 'cancellation_sessions', within, selection)}) sessions
    where outcome is not null
    group by detected_reason
    order by count(*) desc, detected_reason`;
}
