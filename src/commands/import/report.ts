import type { ImportCounts } from '../../ingest/import.ts';
import type { Shrinkage, SnapshotOutcome } from '../../ingest/snapshot.ts';
import { type Columns, table } from '../framework/io.ts';
import type { Figures } from '../../metrics/rehearse.ts';

const outcomes = ['stored', 'replaced', 'deleted', 'unchanged', 'stale', 'refused'] as const;

type Counted = readonly [type: string, counts: Readonly<Record<(typeof outcomes)[number], number>>];

const columns: Columns<Counted> = {
  TYPE: ([type]) => type,
  ...Object.fromEntries(
    outcomes.map((name) => [name.toUpperCase(), ([, counts]: Counted) => counts[name]]),
  ),
};

export function describeCounts(counts: ImportCounts, isInterrupted = false): string {
  const rows: readonly Counted[] = Object.entries(counts);
  if (rows.length > 0) return table(rows, columns);
  return isInterrupted ? 'Nothing was imported yet.' : 'There was nothing to import.';
}

export function describeSkipped(rows: number): string {
  return rows === 1
    ? '1 row matched no rule and was skipped.'
    : `${rows} rows matched no rule and were skipped.`;
}

/** @param count of all that are stored */
export function describeUndated(count: number): string {
  return count === 1
    ? '1 subscription has ended or paused at an unknown time, and so counts in no period.'
    : `${count} subscriptions have ended or paused at an unknown time, and so count in no period.`;
}

/** The figures before and after an import. */
export function describeFigures({ before, after }: Figures): string {
  const { generatedAt: _at, currency: _currency, ...figures } = before;
  const names = Object.keys(figures) as (keyof typeof figures)[];
  return table(names, {
    FIGURE: (name) => name,
    BEFORE: (name) => before[name],
    AFTER: (name) => after[name],
  });
}

/** What a snapshot did beside what its counts say, as sentences. */
export function describeSnapshot(outcome: SnapshotOutcome): string[] {
  if (outcome.kind === 'shrunk') {
    return [
      `Nothing was deleted or cancelled: ${describeShrinkage(outcome.shrunk)}, more than a fifth. If the input is complete, run the command again with --allow-shrink; otherwise with a complete one.`,
    ];
  }
  if (outcome.kind === 'unreadable') {
    const { lines, first } = outcome;
    const what = lines === 1 ? `${first} has` : `${lines} lines, the first of them ${first}, have`;
    return [
      `Nothing was deleted or cancelled: ${what} no id that can be read, so any record may be in the input.`,
    ];
  }
  const { plansInUse, newer, cancelled = 0 } = outcome;
  return [
    ...(cancelled > 0
      ? [`${countOf(cancelled, 'subscription')} not in the input, and therefore cancelled.`]
      : []),
    ...(plansInUse > 0
      ? [`${countOf(plansInUse, 'plan')} not in the input but kept: subscriptions are on them.`]
      : []),
    ...(newer > 0
      ? [`${countOf(newer, 'record')} not in the input but kept: they are newer than the export.`]
      : []),
  ];
}

function describeShrinkage(shrunk: readonly Shrinkage[]): string {
  const gone = shrunk.map((each) => `${each.gone} of ${each.before} ${each.type}s`);
  return `${new Intl.ListFormat('en-GB').format(gone)} are not in the input`;
}

function countOf(count: number, what: string): string {
  return count === 1 ? `1 ${what} is` : `${count} ${what}s are`;
}

/** Rarer reasons than these are reported together. */
const maxReasons = 200;

interface Reason {
  readonly first: string;
  /** Refused lines after the first. */
  more: number;
}

/** What became of the lines that are reported. */
const remarks = {
  refused: { reason: 'refused for the reason', others: 'refused for other reasons' },
  warned: { reason: 'stored with the warning', others: 'stored with other warnings' },
} as const;

/**
 * Reports refused lines: each on a line, or to a terminal, one line for each reason. Reasons that differ only in
 * numbers and quoted values are the same. Of warnings, it always is one line for each.
 */
export class RefusalReport {
  readonly #isBrief: boolean;
  readonly #remark: (typeof remarks)[keyof typeof remarks];
  readonly #tell: (text: string) => void;
  readonly #reasons = new Map<string, Reason>();
  #others = 0;

  constructor(
    isTerminal: boolean,
    tell: (text: string) => void,
    what: keyof typeof remarks = 'refused',
  ) {
    this.#isBrief = isTerminal || what === 'warned';
    this.#remark = remarks[what];
    this.#tell = tell;
  }

  add(source: string, line: number, reason: string, record?: string): void {
    const first = `${source}:${line}`;
    const told = `${first}: ${reason}${record === undefined ? '' : ` (${record})`}`;
    if (!this.#isBrief) return this.#tell(told);
    const kind = reason.replaceAll(/"[^"]*"|\d+/g, '#');
    const known = this.#reasons.get(kind);
    if (known) known.more += 1;
    else if (this.#reasons.size === maxReasons) this.#others += 1;
    else {
      this.#reasons.set(kind, { first, more: 0 });
      this.#tell(told);
    }
  }

  /** Tells how many lines had the reasons told. */
  finish(): void {
    const { reason, others } = this.#remark;
    for (const { first, more } of this.#reasons.values()) {
      if (more > 0) this.#tell(`${countLines(more, 'more ')} ${reason} of ${first}.`);
    }
    if (this.#others > 0) this.#tell(`${countLines(this.#others)} ${others}.`);
    this.#reasons.clear();
    this.#others = 0;
  }
}

function countLines(count: number, more = ''): string {
  return count === 1 ? `1 ${more}line was` : `${count.toLocaleString('en')} ${more}lines were`;
}
