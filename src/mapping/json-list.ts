import { CommandError } from '../errors.ts';
import { type Row, jsonRow, maxRowBytes } from './rows.ts';

const byte = (character: string) => character.charCodeAt(0);
const quote = byte('"');
const backslash = byte('\\');
const comma = byte(',');
const colon = byte(':');
const newline = byte('\n');
const opening = new Set([byte('{'), byte('[')]);
const closing = new Set([byte('}'), byte(']')]);
const space = new Set([...' \t\r\n'].map(byte));
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads the entries of one list in a JSON document as rows, with one entry in memory at a time.
 * @param path the names that lead to the list; empty if the document is the list
 * @param options.orWhole whether a document without the list is itself a row
 * @throws CommandError if there is no such list, or the document ends inside it
 */
export async function* readJsonList(
  file: string,
  bytes: AsyncIterable<Buffer>,
  path: readonly string[],
  { orWhole = false }: { readonly orWhole?: boolean } = {},
): AsyncGenerator<Row[]> {
  const scanner = new ListScanner(path);
  let whole: Buffer[] = [];
  let wholeBytes = 0;
  for await (const chunk of bytes) {
    if (orWhole && !scanner.wasFound && wholeBytes <= maxRowBytes) whole.push(chunk);
    wholeBytes += chunk.length;
    const rows = scanner.take(chunk);
    if (scanner.isEntryTooLong) {
      throw new CommandError(
        `${file}:${scanner.entryLine}: the entry that starts here is longer than ${maxRowBytes} bytes. Earlier records may have been stored.`,
      );
    }
    if (rows.length > 0) yield rows;
  }
  if (!scanner.wasFound && orWhole && wholeBytes <= maxRowBytes) {
    yield [jsonRow(1, Buffer.concat(whole).toString('utf8'))];
    return;
  }
  if (!scanner.wasFound) {
    throw new CommandError(
      path.length === 0
        ? `${file} is not a list. If the list is inside it, name its path in input.list.`
        : `${file} has no list ${path.join('.')}, which the mapping names.`,
    );
  }
  if (!scanner.hasEnded) {
    throw new CommandError(
      `${file} ends inside the list. Earlier records may have been stored; import the whole file again.`,
    );
  }
}

/** Tracks the brackets of a document, and extracts what is between the commas of the list. */
class ListScanner {
  wasFound = false;
  hasEnded = false;
  entryLine = 0;
  readonly #path: readonly string[];
  #line = 1;
  #inString = false;
  #isEscaped = false;
  /** How many objects and lists are around the current position. */
  #depth = 0;
  /** The last name read in each of them, as deep as the path leads. */
  readonly #names: string[] = [];
  /** The last string read outside the list. */
  #text: number[] = [];
  #entry: Buffer[] = [];
  #entryBytes = 0;
  #isInEntry = false;

  constructor(path: readonly string[]) {
    this.#path = path;
  }

  get isEntryTooLong(): boolean {
    return this.#entryBytes > maxRowBytes;
  }

  get #isInList(): boolean {
    return this.wasFound && !this.hasEnded;
  }

  take(chunk: Buffer): Row[] {
    const rows: Row[] = [];
    let start = this.#isInEntry ? 0 : -1;
    for (let at = 0; at < chunk.length && !this.hasEnded; at += 1) {
      const code = chunk[at] as number;
      if (code === newline) this.#line += 1;
      if (this.#inString) {
        this.#takeInString(code);
        continue;
      }
      const isAtList = this.#isInList && this.#depth === this.#path.length + 1;
      if (isAtList && (code === comma || closing.has(code))) {
        if (this.#isInEntry) rows.push(this.#cut(chunk.subarray(start, at)));
        start = -1;
      } else if (isAtList && !this.#isInEntry && !space.has(code)) {
        this.#isInEntry = true;
        this.entryLine = this.#line;
        start = at;
      }
      this.#takeOutside(code);
    }
    if (this.#isInEntry && start >= 0) this.#keep(chunk.subarray(start));
    return rows;
  }

  #takeInString(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === backslash) this.#isEscaped = true;
    else if (code === quote) this.#inString = false;
    // The names in a path are short, so a long string need not be kept whole.
    if (this.#inString && !this.#isInList && this.#text.length < 1000) this.#text.push(code);
  }

  #takeOutside(code: number): void {
    if (code === quote) {
      this.#inString = true;
      this.#text = [];
    } else if (code === colon && !this.#isInList && this.#depth <= this.#path.length) {
      this.#names[this.#depth - 1] = Buffer.from(this.#text).toString('utf8');
    } else if (opening.has(code)) {
      const isHere = this.#depth === this.#path.length && code === byte('[');
      if (isHere && this.#path.every((name, depth) => this.#names[depth] === name)) {
        this.wasFound = true;
      }
      if (this.#depth < this.#path.length) this.#names[this.#depth] = '';
      this.#depth += 1;
    } else if (closing.has(code)) {
      this.#depth = Math.max(0, this.#depth - 1);
      if (this.#isInList && this.#depth === this.#path.length) this.hasEnded = true;
    }
  }

  #keep(bytes: Buffer): void {
    this.#entry.push(Buffer.from(bytes));
    this.#entryBytes += bytes.length;
  }

  #cut(last: Buffer): Row {
    this.#keep(last);
    const whole = Buffer.concat(this.#entry);
    this.#entry = [];
    this.#entryBytes = 0;
    this.#isInEntry = false;
    try {
      return jsonRow(this.entryLine, decoder.decode(whole));
    } catch {
      return { line: this.entryLine, problem: 'is not UTF-8' };
    }
  }
}
