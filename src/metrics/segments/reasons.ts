import type { Sql, Transaction } from '../../store/database.ts';
import type { Period } from '../bounds.ts';
import { type ReasonRow, outcomes } from '../reasons.ts';
import { type Selection, chosenOf, recordsOf } from './chosen.ts';

/** The same as listOutcomesByReason, for the sessions of a selection's subscriptions. */
export function reasonsFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  { from, until }: Period,
  selection: Selection,
): Promise<ReasonRow[]> {
  const within = [new Date(from).toISOString(), new Date(until).toISOString()] as const;
  return sql<ReasonRow[]>`
    with chosen as (${chosenOf(sql, shopId, selection)})
    ${outcomes(sql)}
    from (${recordsOf(sql, shopId, 'cancellation_sessions', within, selection)}) sessions
    where outcome is not null
    group by detected_reason
    order by count(*) desc, detected_reason`;
}
