import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

export const kinds = ['rest', 'mcp', 'docs', 'pages', 'files', 'forms', 'commands'] as const;
export type Kind = (typeof kinds)[number];

/** The same of both versions. */
export interface Both<T> {
  readonly old: T;
  readonly new: T;
}

interface Question {
  readonly kind: Kind;
  /** What the question is one of many of, such as a path without its ids: differences are shown by it. */
  readonly pattern: string;
  readonly asked: string;
}

/** Of each pattern: how many differences are shown, and how much of each. */
const [shown, shownLines, shownWidth] = [2, 24, 160] as const;

export class Report {
  readonly #wanted: readonly string[];
  readonly #folder: string;
  readonly #list: (line: string) => void;
  readonly #same = new Map<Kind, number>();
  readonly #differences = new Map<string, (Question & Both<string>)[]>();

  /**
   * @param wanted the kinds that are compared
   * @param folder for the files that `diff` reads
   * @param list is told of each thing asked, in a line
   */
  constructor(wanted: readonly string[], folder: string, list: (line: string) => void) {
    this.#wanted = wanted;
    this.#folder = folder;
    this.#list = list;
  }

  wants(...some: readonly Kind[]): boolean {
    return some.some((kind) => this.#wanted.includes(kind));
  }

  /**
   * Asks both at the same time, and compares their answers as text.
   * @returns what the old one answered
   */
  async ask<T, A>(
    question: Question | ((answer: A) => Question),
    { old, new: next }: Both<T>,
    ask: (one: T) => Promise<A>,
    textOf: (answer: A) => string,
  ): Promise<A> {
    const [there, here] = await Promise.all([ask(old), ask(next)]);
    const about = typeof question === 'function' ? question(there) : question;
    this.compare(about, { old: textOf(there), new: textOf(here) });
    return there;
  }

  compare(question: Question, answers: Both<string>): void {
    const { kind, pattern, asked } = question;
    if (!this.wants(kind)) return;
    const isSame = answers.old === answers.new;
    this.#list(`${isSame ? 'same     ' : 'different'} ${kind} ${asked}`);
    if (isSame) {
      this.#same.set(kind, (this.#same.get(kind) ?? 0) + 1);
      return;
    }
    const name = `${kind} ${pattern}`;
    const others = this.#differences.get(name) ?? [];
    this.#differences.set(name, [...others, { ...question, ...answers }]);
  }

  get hasDifferences(): boolean {
    return this.#differences.size > 0;
  }

  toString(): string {
    const different = [...this.#differences].map(([name, questions]) => {
      const diffs = questions.slice(0, shown).map((each) => `  ${each.asked}\n${this.#diff(each)}`);
      return [`${name}: ${questions.length} different`, ...diffs].join('\n');
    });
    const all = [...this.#differences.values()].flat();
    const counts = kinds
      .filter((kind) => this.wants(kind))
      .map((kind) => {
        const same = String(this.#same.get(kind) ?? 0).padStart(6);
        const count = String(all.filter((each) => each.kind === kind).length).padStart(6);
        return `${kind.padEnd(9)}${same} same${count} different`;
      });
    return [...different, counts.join('\n')].join('\n\n');
  }

  #diff(answers: Both<string>): string {
    const files = (['old', 'new'] as const).map((name) => {
      const file = path.join(this.#folder, `${name}.txt`);
      writeFileSync(file, `${inLines(answers[name])}\n`);
      return file;
    });
    const options = { encoding: 'utf8', maxBuffer: 2 ** 28 } as const;
    const lines = spawnSync('diff', ['-U1', ...files], options)
      .stdout.split('\n')
      .slice(2, -1);
    const more = lines.length > shownLines ? [`… and ${lines.length - shownLines} more lines`] : [];
    return [...lines.slice(0, shownLines), ...more]
      .map((line) => `    ${line.length > shownWidth ? `${line.slice(0, shownWidth)}…` : line}`)
      .join('\n');
  }
}

/** Breaks the long lines of JSON and markup, so that `diff` shows the place. */
function inLines(text: string): string {
  const long = new RegExp(`^.{${shownWidth},}$`, 'gm');
  return text.replaceAll(long, (line) => line.replaceAll(/([,{[>])(?=["{[<])/g, '$1\n'));
}
