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
