import { parse } from 'csv-parse/sync';
import { delimiterLine } from '../csv.ts';
import type { Mapping } from '../schema.ts';
import { type Encoding, hasUtf16Mark, labelOf } from '../encoding.ts';

/** The beginning of a file. */
export interface Head {
  readonly bytes: Buffer;
  /** Whether that is all of it. */
  readonly isWhole: boolean;
}

export type Input = Exclude<Mapping['input'], { readonly format: 'any' }>;

/** How much of a file is looked at. */
const headBytes = 16 * 1024 * 1024;
/** How much is enough to tell delimiters apart. */
const sampleBytes = 512 * 1024;
const sampleRows = 200;

export async function readHead(bytes: AsyncIterable<Buffer>): Promise<Head> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > headBytes) {
      return { bytes: Buffer.concat(chunks).subarray(0, headBytes), isWhole: false };
    }
  }
  return { bytes: Buffer.concat(chunks), isWhole: true };
}

/** An error of reading a file, where nothing was to be stored. */
export function withoutImport(message: string): string {
  return message.replace(/ Earlier records may have been stored.*$/s, '');
}

/** Guesses a file's encoding, format and delimiter. */
export function guessInput({ bytes, isWhole }: Head): Input {
  const encoding = guessEncoding(bytes);
  const label = labelOf(encoding, bytes);
  const isSample = !isWhole || bytes.length > sampleBytes;
  const whole = new TextDecoder(label).decode(bytes.subarray(0, sampleBytes));
  const text = whole.trimStart();
  if (text.startsWith('[')) return { format: 'json', encoding, list: '' };
  if (text.startsWith('{')) {
    const [first = '', second = ''] = text.split(/\r?\n/, 2);
    const list = findList(text);
    const isLines = isJson(first) && (second.trim().startsWith('{') || list === undefined);
    return isLines
      ? { format: 'ndjson', encoding }
      : { format: 'json', encoding, list: list ?? '' };
  }
  return { format: 'csv', encoding, ...guessCsv(isSample ? wholeLines(whole) : whole) };
}

function guessEncoding(bytes: Buffer): Encoding {
  // Latin letters in UTF-16 have a zero byte each; no other text has any.
  if (hasUtf16Mark(bytes) || bytes.subarray(0, 1000).includes(0)) return 'utf-16';
  try {
    // The head may end inside a character.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return 'utf-8';
  } catch {
    return 'latin-1';
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function wholeLines(text: string): string {
  const end = text.lastIndexOf('\n');
  return end === -1 ? text : text.slice(0, end + 1);
}

const delimiters = [',', ';', '\t', '|'] as const;

function guessCsv(text: string) {
  const [, said] = delimiterLine.exec(text.slice(0, text.indexOf('\n'))) ?? [];
  const table = said === undefined ? text : text.slice(text.indexOf('\n') + 1);
  const guesses = (said === undefined ? delimiters : [said]).map((delimiter) => ({
    delimiter,
    ...layoutOf(parseCsv(table, delimiter, '"')),
  }));
  const best = guesses.toSorted((a, b) => b.share - a.share || b.columns - a.columns)[0];
  const delimiter = said ?? (best && best.share > 0 ? best.delimiter : ',');
  const above = best && best.delimiter === delimiter ? best.linesAbove : 0;
  const skipLines = above === 0 || said === undefined ? above : above + 1;
  const body = table.split('\n').slice(above).join('\n');
  const [first] = parseCsv(body, delimiter, '"');
  const cells = first?.record ?? [];
  const isApostrophe = cells.length > 1 && cells.every((cell) => /^'.*'$/.test(cell.trim()));
  const quote = isApostrophe ? "'" : '"';
  const names = isApostrophe ? (parseCsv(body, delimiter, quote)[0]?.record ?? []) : cells;
  const header = hasHeader(names) ? (true as const) : names.map((_, index) => `column${index + 1}`);
  return { delimiter, quote, header, skipLines };
}

interface ParsedRow {
  readonly record: readonly string[];
  /** `lines`: the line on which it ends. */
  readonly info: { readonly lines: number };
}

function parseCsv(text: string, delimiter: string, quote: string): ParsedRow[] {
  try {
    return parse(text, {
      delimiter,
      quote,
      escape: quote,
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
      info: true,
      to: sampleRows,
    }) as unknown as ParsedRow[];
  } catch {
    return [];
  }
}

/** Rows above a table are searched no further. */
const maxRowsAbove = 20;

/**
 * Where a table begins, and the share of rows with as many values as its first; 0 for a single column. Titles
 * above a table have fewer values, or empty ones.
 */
function layoutOf(rows: readonly ParsedRow[]) {
  const lengths = rows.map(({ record }) => record.length);
  const shareFrom = (first: number) => {
    const rest = lengths.slice(first + 1);
    const even = rest.filter((length) => length === lengths[first]).length;
    return rest.length === 0 ? 0.5 : Math.round((even / rest.length) * 20) / 20;
  };
  const isFirst = ({ record }: ParsedRow, index: number) =>
    index <= maxRowsAbove && record.length > 1 && isFilled(record) && shareFrom(index) >= 0.5;
  const found = rows.findIndex(isFirst);
  const first = Math.max(found, 0);
  const columns = lengths[first] ?? 0;
  return {
    share: columns < 2 ? 0 : shareFrom(first),
    columns,
    linesAbove: rows[first - 1]?.info.lines ?? 0,
  };
}

/** Whether a row can name columns: few of its values are empty, apart from the first, which may be an index. */
function isFilled([, ...record]: readonly string[]): boolean {
  const empty = record.filter((value) => value.trim() === '').length;
  return empty * 10 <= (record.length + 1) * 3;
}

const likeData = /^[-+]?\d[\d.,:\-/ ]*$|@|^(?:true|false|null)$/i;

/** Whether the first row names the columns: names are seldom numbers, dates or e-mail addresses. */
function hasHeader(first: readonly string[]): boolean {
  const cells = first.map((cell) => cell.trim()).filter((cell) => cell !== '');
  return cells.filter((cell) => likeData.test(cell)).length * 5 < cells.length;
}

interface Open {
  readonly isList: boolean;
  readonly start: number;
  name: string;
}

/** The path to the longest list of objects in the beginning of a JSON document. */
function findList(text: string): string | undefined {
  const stack: Open[] = [];
  const found: { readonly path: string; readonly length: number }[] = [];
  const close = (list: Open, end: number) => {
    const isOfObjects = list.isList && /^\[\s*\{/.test(text.slice(list.start, list.start + 200));
    const isInList = stack.some((each) => each.isList);
    if (!isOfObjects || isInList) return;
    found.push({ path: stack.map(({ name }) => name).join('.'), length: end - list.start });
  };
  let at = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[[\]{}]|[^"[\]{}]+/g)) {
    const inside = stack.at(-1);
    if (token === '[' || token === '{') stack.push({ isList: token === '[', start: at, name: '' });
    else if (token === ']' || token === '}') {
      const closed = stack.pop();
      if (closed) close(closed, at);
    } else if (inside && token.startsWith('"') && token.endsWith(':')) {
      inside.name = token.slice(1, token.lastIndexOf('"'));
    }
    at += token.length;
  }
  // What the head cuts off is still open.
  while (stack.length > 0) close(stack.pop() as Open, at);
  return found.toSorted((a, b) => b.length - a.length)[0]?.path;
}
