/*
 * The upserts look up stored rows by key with `lateral (… limit 1)` instead of a join. A new table has no
 * statistics, and with a join the planner would sometimes read the whole shop for every batch.
 */

/**
 * The result for one incoming record: it was new, replaced the stored record, equalled it, or was older; or
 * it waits, because a record that it needs is missing (or one that blocks its deletion still exists), which
 * a later record of the same run may change.
 */
export type Verdict = 'stored' | 'replaced' | 'unchanged' | 'stale' | 'waiting';

export interface Judged {
  readonly id: number;
  readonly verdict: Verdict;
}

/** Whether the record was stored. */
export function isWritten(judged: Judged): boolean {
  return judged.verdict === 'stored' || judged.verdict === 'replaced';
}
