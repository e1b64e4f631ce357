import { parse } from 'csv-parse/sync';
import type { Mapping } from '../schema.ts';
import type { Encoding } from '../encoding.ts';

/** The beginning of a file. */
export interface Head {
  readonly bytes: Buffer;
  /** Whether that is all of it. */
  readonly isWhole: boolean;
}

export type Input = Mapping['input'];

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
  const label = encoding === 'latin-1' ? 'windows-1252' : labelOf(encoding, bytes);
  const isSample = !isWhole || bytes.length > sampleBytes;
  const text = new TextDecoder(label).decode(bytes.subarray(0, sampleBytes)).trimStart();
  if (text.startsWith('[')) return { format: 'json', encoding, list: '' };
  if (text.startsWith('{')) {
    const [first = '', second = ''] = text.split(/\r?\n/, 2);
    const list = findList(text);
    const isLines = isJson(first) && (second.trim().startsWith('{') || list === undefined);
    return isLines
      ? { format: 'ndjson', encoding }
      : { format: 'json', encoding, list: list ?? '' };
  }
  return { format: 'csv', encoding, ...guessCsv(isSample ? wholeLines(text) : text) };
}

function guessEncoding(bytes: Buffer): Encoding {
  const isMarked = bytes.length > 1 && [0xfffe, 0xfeff].includes(bytes.readUInt16BE(0));
  // Latin letters in UTF-16 have a zero byte each; no other text has any.
  if (isMarked || bytes.subarray(0, 1000).includes(0)) return 'utf-16';
  try {
    // The head may end inside a character.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return 'utf-8';
  } catch {
    return 'latin-1';
  }
}

function labelOf(encoding: Encoding, bytes: Buffer): string {
  if (encoding !== 'utf-16') return encoding;
  return bytes[0] === 0xfe ? 'utf-16be' : 'utf-16le';
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
  const guesses = delimiters.map((delimiter) => ({
    delimiter,
    ...evenness(parseCsv(text, delimiter, '"')),
  }));
  const best = guesses.toSorted((a, b) => b.share - a.share || b.columns - a.columns)[0];
  const delimiter = best && best.share > 0 ? best.delimiter : ',';
  const [first = []] = parseCsv(text, delimiter, '"');
  const isApostrophe = first.length > 1 && first.every((cell) => /^'.*'$/.test(cell.trim()));
  const quote = isApostrophe ? "'" : '"';
  const [names = []] = isApostrophe ? parseCsv(text, delimiter, quote) : [first];
  const header = hasHeader(names) ? (true as const) : names.map((_, index) => `column${index + 1}`);
  return { delimiter, quote, header };
}

function parseCsv(text: string, delimiter: string, quote: string): string[][] {
  try {
    return parse(text, {
      delimiter,
      quote,
      escape: quote,
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
      to: sampleRows,
    }) as unknown as string[][];
  } catch {
    return [];
  }
}

/** The share of rows with as many values as the first; 0 for a single column. */
function evenness([first, ...rest]: string[][]) {
  const columns = first?.length ?? 0;
  if (columns < 2) return { share: 0, columns };
  const even = rest.filter((row) => row.length === columns).length;
  return { share: rest.length === 0 ? 0.5 : Math.round((even / rest.length) * 20) / 20, columns };
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
