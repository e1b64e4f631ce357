import { type Line, sizeOf } from './lines.ts';
import { type ImportRecord, targetTypeOf } from './record.ts';
import type { UsedSourceId } from './source-ids.ts';

/** A valid record with the line it came from. */
export interface Entry {
  readonly source: string;
  readonly line: Line;
  readonly record: ImportRecord;
  /** Apart from the record, since they do not change it. */
  readonly sourceIds: readonly UsedSourceId[];
  /** Type and id of the record that is written or deleted. */
  readonly key: string;
}

/** Records that may be written in one go, in any order: no key twice, and deletions apart. */
export interface Step {
  readonly deletes: boolean;
  readonly entries: Map<string, Entry>;
}

export function keyOf(record: ImportRecord): string {
  return `${targetTypeOf(record)} ${record.id}`;
}

/** What a record still lacks once everything else is in. */
export function waitsFor(record: ImportRecord): string {
  switch (record.type) {
    case 'subscription':
      return `plan ${record.planId} is not known`;
    case 'payment':
    case 'cancellation':
      return `subscription ${record.subscriptionId} is not known`;
    case 'refund':
      return `payment ${record.paymentId} is not known`;
    case 'delete':
      return `${record.record} ${record.id} is still in use`;
    case 'plan':
      throw new Error('A plan waits for nothing.');
  }
}

/** Entries in the order of their lines, cut into steps; stored in one transaction. */
export class Batch {
  readonly steps: Step[] = [];
  size = 0;
  /** Length of the lines' text; an estimate for values. */
  characters = 0;

  get records(): ImportRecord[] {
    return this.steps.flatMap((step) => [...step.entries.values()].map(({ record }) => record));
  }

  add(entry: Entry): void {
    const deletes = entry.record.type === 'delete';
    let step = this.steps.at(-1);
    if (!step || step.deletes !== deletes || step.entries.has(entry.key)) {
      step = { deletes, entries: new Map() };
      this.steps.push(step);
    }
    step.entries.set(entry.key, entry);
    this.size += 1;
    const { line } = entry;
    this.characters += line.value ? sizeOf(line.value) : line.text.length;
  }
}
