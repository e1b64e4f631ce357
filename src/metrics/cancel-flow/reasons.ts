import type { DetectedReason } from '../../vocabulary.ts';
import { type SessionCount, totalsOf } from './sessions.ts';

/** The outcomes of cancel-flow sessions with one reason. */
export interface ReasonRow {
  readonly reason: DetectedReason;
  readonly saved: number;
  readonly cancelled: number;
  readonly abandoned: number;
}

/** The sessions that ended, by reason, most frequent first. */
export function outcomesByReason(counts: readonly SessionCount[]): ReasonRow[] {
  return [...Map.groupBy(counts, (each) => each.reason)]
    .map(([reason, alike]) => ({ reason, ...totalsOf(alike) }))
    .filter(({ ended }) => ended > 0)
    .toSorted((a, b) => b.ended - a.ended || (a.reason < b.reason ? -1 : 1))
    .map(({ reason, saved, cancelled, abandoned }) => ({ reason, saved, cancelled, abandoned }));
}
