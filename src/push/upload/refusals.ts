import type { RefusedRecord } from '../outcomes.ts';

/** Why lines of a file were refused. */
export interface Refusals {
  /** Most frequent first. */
  readonly groups: readonly RefusalGroup[];
  /** The first of them, by line. */
  readonly lines: readonly RefusedRecord[];
  /** What is unusual about lines that were imported. */
  readonly warnings?: readonly RefusalGroup[];
}

export interface RefusalGroup {
  readonly reason: string;
  readonly count: number;
  /** The first line. */
  readonly line: number;
  /** The record of that line with its id, if that is known. */
  readonly record?: string | undefined;
}

/** How many are kept, so that they can be stored. */
export const keptLines = 10_000;
/** Of a reason. All of them are read each time that the page is shown. */
const keptCharacters = 500;
const maxGroups = 100;
const others = 'other reasons';
/** Times, positions and ids, which tell nothing of the reason; amounts such as 1234.50 are examples. */
const varying = /\d{4}-\d\d-\d\dT[\d:.]+Z|(?<![\d.-])\d{2,}(?![\d.-])/g;

/** Collects refused lines while a file is imported. Reasons must have no values of the file. */
export class RefusalList {
  readonly #groups = new Map<string, RefusalGroup & { readonly isVaried: boolean }>();
  readonly #lines: RefusedRecord[] = [];

  add(line: number, whole: string, record?: string): void {
    const reason = whole.length > keptCharacters ? `${whole.slice(0, keptCharacters)}…` : whole;
    const named = record === undefined ? {} : { record };
    const general = reason.replaceAll(varying, '…');
    const key = this.#groups.has(general) || this.#groups.size < maxGroups ? general : others;
    const known = this.#groups.get(key);
    const first = known && known.line <= line ? known : { reason, line, ...named };
    const isVaried = known !== undefined && (known.isVaried || known.reason !== reason);
    this.#groups.set(key, { ...first, count: (known?.count ?? 0) + 1, isVaried });
    if (this.#lines.length < keptLines) this.#lines.push({ line, reason, ...named });
  }

  get all(): Refusals {
    return {
      groups: [...this.#groups]
        .map(([key, { reason, isVaried, ...group }]) => ({
          reason: key === others ? others : isVaried ? `such as: ${reason}` : reason,
          ...group,
        }))
        .toSorted((a, b) => b.count - a.count),
      lines: this.#lines.toSorted((a, b) => a.line - b.line),
    };
  }
}
