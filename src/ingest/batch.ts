import type { Line } from './lines.ts';
import { type RecordType, type ImportRecord, parents, targetTypeOf } from '../records/records.ts';
import type { ValueSighting } from './histories/past-values.ts';
import type { UsedSourceId } from './source-ids.ts';

/** A valid record with the line it came from. */
export interface Entry {
  readonly source: string;
  readonly line: Line;
  readonly record: ImportRecord;
  /** Not part of the record, so that they do not affect its digest. */
  readonly sourceIds: readonly UsedSourceId[];
  /** What the feed has seen that the record's subscription was once worth. */
  readonly seenValues?: readonly ValueSighting[] | undefined;
  /** When the export that has the record was made, in epoch milliseconds, if that is known. */
  readonly exportedAt?: number | undefined;
  /** Whether nothing but the time of the import says when the export was made. */
  readonly isDatedByImport?: boolean;
}

/** Records that can be written together in any order: no duplicate keys, only deletions or none. */
export class Step {
  readonly deletes: boolean;
  readonly entries: Entry[] = [];
  readonly #ids: Partial<Record<RecordType, Set<number>>> = {};

  constructor(deletes: boolean) {
    this.deletes = deletes;
  }

  /** @returns false if it cannot be written together with the others */
  add(entry: Entry): boolean {
    const { record } = entry;
    if (this.deletes !== (record.type === 'delete')) return false;
    const ids = (this.#ids[targetTypeOf(record)] ??= new Set());
    if (ids.has(record.id)) return false;
    ids.add(record.id);
    this.entries.push(entry);
    return true;
  }
}

/** Type and id of the record that is written or deleted. */
export function keyOf(record: ImportRecord): string {
  return `${targetTypeOf(record)} ${record.id}`;
}

/** Why a record is refused if it still waits at the end of a run. */
export function waitReason(record: ImportRecord): string {
  if (record.type === 'delete') return `${record.record} ${record.id} is still in use`;
  const parent = parents[record.type];
  if (!parent) throw new Error(`A ${record.type} never waits.`);
  const id = (record as Readonly<Record<string, unknown>>)[parent.field];
  return `${parent.type} ${id} is not known`;
}

/**
 * About as many characters as a record has as JSON. Counts what can be many or long, which is much faster than
 * looking at every field.
 */
function charactersOf(record: ImportRecord): number {
  switch (record.type) {
    case 'subscription':
      return record.lines.reduce(
        (sum, line) => sum + 150 + line.productTitle.length + (line.variantTitle?.length ?? 0),
        400 + record.statusEvents.length * 60,
      );
    case 'plan':
      return 400 + record.name.length + record.productIds.length * 15;
    case 'payment':
    case 'refund':
    case 'cancellation':
    case 'delete':
      return 200;
  }
}

/** Entries in line order, split into steps; stored in one transaction. */
export class Batch {
  readonly steps: Step[] = [];
  size = 0;
  /** Total length of the lines' text; estimated for lines that have a record. */
  characters = 0;

  get records(): ImportRecord[] {
    return this.steps.flatMap(({ entries }) => entries.map(({ record }) => record));
  }

  add(entry: Entry): void {
    if (this.steps.at(-1)?.add(entry) !== true) {
      const step = new Step(entry.record.type === 'delete');
      step.add(entry);
      this.steps.push(step);
    }
    this.size += 1;
    const { line } = entry;
    this.characters += line.record ? charactersOf(line.record) : line.text.length;
  }
}

const times = ['createdAt', 'updatedAt', 'processedAt', 'refundedAt'] as const;

/** When a record says it was created, changed or processed, in epoch milliseconds. */
function timesOf(record: ImportRecord): (number | null | undefined)[] {
  const own = record as Partial<Record<(typeof times)[number], number | null>>;
  const last = record.type === 'subscription' ? record.statusEvents.at(-1)?.at : undefined;
  return [...times.map((name) => own[name]), last];
}

/**
 * When records arrived, and the newest time in them. Times after `now` are ignored, since they do
 * not make data fresh.
 * @param now epoch milliseconds
 */
export function arrivalOf(records: readonly ImportRecord[], now: number) {
  let newest: number | undefined;
  for (const record of records) {
    for (const at of timesOf(record)) {
      if (typeof at === 'number' && at <= now && (newest === undefined || at > newest)) newest = at;
    }
  }
  return {
    arrivedAt: new Date(now),
    ...(newest !== undefined && { newestAt: new Date(newest) }),
  };
}
