import type { ImportCounts } from '../ingest/import.ts';
import type { BatchState } from '../store/push/batches.ts';

/** What became of a batch's records. */
export interface Outcomes {
  readonly stored: number;
  readonly replaced: number;
  readonly unchanged: number;
  readonly stale: number;
  readonly deleted: number;
  readonly refused: number;
}

export interface RefusedRecord {
  readonly line: number;
  readonly reason: string;
}

/** Of a record with many errors, the first ones are enough. */
const maxReasonLength = 500;

/** @param reason without values of the record */
export function refusedRecord(line: number, reason: string): RefusedRecord {
  const text = reason.replaceAll(/\p{Cc}+/gu, ' ');
  if (text.length <= maxReasonLength) return { line, reason: text };
  return { line, reason: `${text.slice(0, maxReasonLength - 1).toWellFormed()}…` };
}

/** Refused before anything was stored. */
export function firstOutcomes(refused: readonly RefusedRecord[]): Outcomes {
  const none = { stored: 0, replaced: 0, unchanged: 0, stale: 0, deleted: 0 };
  return { ...none, refused: refused.length };
}

/** @param refused those that are refused for good */
export function addOutcomes(
  before: Outcomes,
  counts: ImportCounts,
  refused: readonly RefusedRecord[],
): Outcomes {
  const all = Object.values(counts);
  const sum = (outcome: Exclude<keyof Outcomes, 'refused'>) =>
    all.reduce((total, each) => total + each[outcome], before[outcome]);
  return {
    stored: sum('stored'),
    replaced: sum('replaced'),
    unchanged: sum('unchanged'),
    stale: sum('stale'),
    deleted: sum('deleted'),
    refused: refused.length,
  };
}

/** As its sender gets it. */
export function describeBatch(batchId: string, batch: BatchState): object {
  const { attempts, hasFailed, finishedAt } = batch;
  const unfinished = attempts > 0 ? 'working' : 'queued';
  return {
    batchId,
    status: finishedAt === null ? unfinished : hasFailed ? 'failed' : 'done',
    outcomes: JSON.parse(batch.outcomes),
    refused: JSON.parse(batch.refused),
  };
}
