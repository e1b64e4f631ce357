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
  /** What is unusual about records that were accepted. */
  readonly warnings?: readonly RefusedRecord[];
}

export interface RefusedRecord {
  readonly line: number;
  readonly reason: string;
  /** The record with its id, such as "subscription sub_1", if that is known. */
  readonly record?: string;
}

/** Of a record with many errors, the first ones are enough. */
const maxReasonLength = 500;

/** @param reason without values of the record */
export function refusedRecord(line: number, reason: string, record?: string): RefusedRecord {
  const text = reason.replaceAll(/\p{Cc}+/gu, ' ');
  const named = record === undefined ? {} : { record };
  if (text.length <= maxReasonLength) return { line, reason: text, ...named };
  return { line, reason: `${text.slice(0, maxReasonLength - 1).toWellFormed()}…`, ...named };
}

/** Refused before anything was stored. */
export function firstOutcomes(
  refused: readonly RefusedRecord[],
  warnings: readonly RefusedRecord[] = [],
): Outcomes {
  const none = { stored: 0, replaced: 0, unchanged: 0, stale: 0, deleted: 0 };
  return { ...none, refused: refused.length, ...(warnings.length > 0 && { warnings }) };
}

/** @param refused those that are refused for good */
export function addOutcomes(
  before: Outcomes,
  counts: ImportCounts,
  refused: readonly RefusedRecord[],
): Outcomes {
  const all = Object.values(counts);
  const sum = (outcome: Exclude<keyof Outcomes, 'refused' | 'warnings'>) =>
    all.reduce((total, each) => total + each[outcome], before[outcome]);
  return {
    stored: sum('stored'),
    replaced: sum('replaced'),
    unchanged: sum('unchanged'),
    stale: sum('stale'),
    deleted: sum('deleted'),
    refused: refused.length,
    ...(before.warnings && { warnings: before.warnings }),
  };
}

/** As its sender gets it. */
export function describeBatch(batchId: string, batch: BatchState): object {
  const { attempts, hasFailed, finishedAt } = batch;
  const unfinished = attempts > 0 ? 'working' : 'queued';
  const { warnings, ...outcomes }: Outcomes = JSON.parse(batch.outcomes);
  return {
    batchId,
    status: finishedAt === null ? unfinished : hasFailed ? 'failed' : 'done',
    outcomes,
    refused: JSON.parse(batch.refused),
    ...(warnings && { warnings }),
  };
}
