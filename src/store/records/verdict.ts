/*
 * The upserts look up what is stored one key at a time, through `lateral (… limit 1)`, rather than by
 * a join: while a table is new its statistics say nothing, and the planner would at times read the
 * whole shop for every batch.
 */

/**
 * What became of one incoming record: it was new, it replaced the stored one, it equalled it, it was
 * older than it, or something that it needs is not (or something that it must outlive still is)
 * there, which a later record of the same run may change.
 */
export type Verdict = 'stored' | 'replaced' | 'unchanged' | 'stale' | 'waiting';

export interface Judged {
  readonly id: number;
  readonly verdict: Verdict;
}

/** Records are written where the verdict says that something changes. */
export function isWritten(judged: Judged): boolean {
  return judged.verdict === 'stored' || judged.verdict === 'replaced';
}
