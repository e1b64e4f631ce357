/** Rarer reasons than these are reported together. */
const maxReasons = 200;

interface Reason {
  readonly first: string;
  /** Refused lines after the first. */
  more: number;
}

/**
 * Reports refused lines: each on a line, or to a terminal, one line for each reason. Reasons that differ only in
 * numbers and quoted values are the same.
 */
export class RefusalReport {
  readonly #isTerminal: boolean;
  readonly #tell: (text: string) => void;
  readonly #reasons = new Map<string, Reason>();
  #others = 0;

  constructor(isTerminal: boolean, tell: (text: string) => void) {
    this.#isTerminal = isTerminal;
    this.#tell = tell;
  }

  add(source: string, line: number, reason: string): void {
    const first = `${source}:${line}`;
    if (!this.#isTerminal) return this.#tell(`${first}: ${reason}`);
    const kind = reason.replaceAll(/"[^"]*"|\d+/g, '#');
    const known = this.#reasons.get(kind);
    if (known) known.more += 1;
    else if (this.#reasons.size === maxReasons) this.#others += 1;
    else {
      this.#reasons.set(kind, { first, more: 0 });
      this.#tell(`${first}: ${reason}`);
    }
  }

  /** Tells how many lines were refused for the reasons told. */
  finish(): void {
    for (const { first, more } of this.#reasons.values()) {
      if (more > 0) this.#tell(`${countLines(more, 'more ')} refused for the reason of ${first}.`);
    }
    if (this.#others > 0) this.#tell(`${countLines(this.#others)} refused for other reasons.`);
    this.#reasons.clear();
    this.#others = 0;
  }
}

function countLines(count: number, more = ''): string {
  return count === 1 ? `1 ${more}line was` : `${count.toLocaleString('en')} ${more}lines were`;
}
