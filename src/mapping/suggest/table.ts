import { CommandError } from '../../errors.ts';
import { isObject } from '../../json.ts';
import { plainText } from '../field-reader.ts';
import { readRows } from '../open.ts';
import type { ReadRow, Row } from '../rows.ts';
import type { Mapping } from '../schema.ts';
import { type Head, type Input, guessInput } from './head.ts';
import { isBlank, yesOrNo } from './meanings.ts';
import { type NameKind, isNamed, wordsOf } from './names.ts';

/** A column of the file, or a path in its JSON. */
export interface Column {
  readonly name: string;
  /** The name in lower-case words. */
  readonly words: string;
  /** One for each row. */
  readonly texts: readonly string[];
  /** The distinct texts that are not blank. */
  readonly values: readonly string[];
  /** Whether no text occurs twice. */
  readonly isUnique: boolean;
  /** Whether all say yes or no. */
  readonly isFlag: boolean;
  /** How often each text occurs that is not blank. */
  readonly counts: ReadonlyMap<string, number>;
  /** Texts that stand for an empty value, such as "N/A". */
  readonly blanks: readonly string[];
  /** Those of them that are words among dates, such as "unlimited", and how many rows have each. */
  readonly strayWords: ReadonlyMap<string, number>;
  /** How many rows have a value. */
  readonly filled: number;
  /** Whether rows that were not read may have none. */
  readonly mayBeEmpty: boolean;
  /** Whether a loader wrote it, which stands for nothing in the source. */
  readonly isLoaders: boolean;
  is(kind: NameKind): boolean;
}

/** Columns of Fivetran, Airbyte, dlt, Stitch and Singer, and Fivetran's of a file. */
const loaders = /^_(?:fivetran|airbyte|ab|dlt|sdc|rescued|file$|line$|modified$)|^_?hevo|^_hoodie/i;

/** What was read of a file. */
export interface Table {
  readonly input: Input;
  readonly columns: readonly Column[];
  readonly rows: readonly ReadRow[];
  /** A heading that several columns have, so that none of them can be named. */
  readonly doubled: string | undefined;
}

/** How ZIP archives begin, and so XLSX and ODS files. */
const zipArchive = Buffer.from('PK\u0003\u0004', 'latin1');
/** Any columns will do. */
const noColumns = { required: [], choices: [] };
const maxRows = 20_000;
const maxDepth = 5;
/** Each column is compared with what every field may look like. */
const maxColumns = 400;

/**
 * Reads the rows at the beginning of a file.
 * @throws CommandError if there are none
 */
export async function readTable(
  file: string,
  head: Head,
  mayBeEmpty: ReadonlySet<string>,
): Promise<Table> {
  if (head.bytes.subarray(0, 4).equals(zipArchive)) {
    throw new CommandError(
      `${file} is a workbook or another ZIP archive; save its table as CSV first.`,
    );
  }
  const input = guessInput(head);
  const rows = (await readFirst(file, head, input, maxRows)).filter((row) => 'values' in row);
  const names = namesOf(file, rows);
  if (rows.length === 0 || names.columns.length === 0) {
    throw new CommandError(`${file} has no rows that could be read as CSV or JSON.`);
  }
  const columns = names.columns.map((name) => columnOf(name, rows, mayBeEmpty.has(name)));
  return { input, columns, rows, doubled: names.doubled };
}

/** The bytes of a head as a stream. */
export async function* bytesOf({ bytes }: Head): AsyncGenerator<Buffer> {
  const size = 64 * 1024;
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/**
 * The first rows of a file, readable or not.
 * @throws CommandError if the head is all of it, and cannot be read to its end
 */
export async function readFirst(file: string, head: Head, input: Mapping['input'], max: number) {
  const rows: Row[] = [];
  try {
    for await (const some of readRows(file, bytesOf(head), input, noColumns)) {
      rows.push(...some.slice(0, max - rows.length));
      if (rows.length === max) break;
    }
  } catch (error) {
    // The head may end inside a row.
    if (head.isWhole || !(error instanceof CommandError)) throw error;
  }
  return rows;
}

/** @throws CommandError if looking at all columns would take too long */
function checkCount(file: string, columns: number): void {
  if (columns <= maxColumns) return;
  const [count, max] = [columns, maxColumns].map((each) => each.toLocaleString('en'));
  throw new CommandError(
    `${file} has ${count} columns; at most ${max} are looked at. Export only those about subscriptions: ids, status, dates, price and plan.`,
  );
}

/**
 * The columns that can be named in a mapping: each name once, and not empty.
 * @throws CommandError if there are too many
 */
function namesOf(file: string, rows: readonly ReadRow[]) {
  const csvNames = rows[0]?.values.names;
  if (csvNames) {
    checkCount(file, csvNames.length);
    const columns = csvNames.filter(
      (name) => name !== '' && csvNames.indexOf(name) === csvNames.lastIndexOf(name),
    );
    const doubled = csvNames.find((name) => name !== '' && !columns.includes(name));
    return { columns, doubled };
  }
  const columns = new Set<string>();
  for (const { values } of rows.slice(0, 1000)) collect(values.document, '', 0);
  checkCount(file, columns.size);
  return { columns: [...columns], doubled: undefined };

  function collect(value: unknown, path: string, depth: number): void {
    if (Array.isArray(value)) return;
    if (isObject(value)) {
      if (depth === maxDepth) return;
      for (const [name, member] of Object.entries(value)) {
        // A dot in a name cannot be told from one in a path.
        if (!name.includes('.')) collect(member, path === '' ? name : `${path}.${name}`, depth + 1);
      }
    } else if (path !== '') columns.add(path);
  }
}

function columnOf(name: string, rows: readonly ReadRow[], mayBeEmpty: boolean): Column {
  const texts = rows.map(({ values }) => plainText(values, name));
  const counts = new Map<string, number>();
  const blanks = new Set<string>();
  let filled = 0;
  for (const text of texts) {
    if (isBlank(text)) {
      if (text !== '') blanks.add(text);
      continue;
    }
    filled += 1;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const words = wordsOf(name);
  const strayWords = new Map(wordsAmongDates(counts).map((text) => [text, counts.get(text) ?? 0]));
  for (const [text, count] of strayWords) {
    blanks.add(text);
    filled -= count;
    counts.delete(text);
  }
  const values = [...counts.keys()];
  const known = new Map<NameKind, boolean>();
  return {
    name,
    words,
    texts,
    counts,
    values,
    isUnique: values.length === filled,
    isFlag: values.every((text) => yesOrNo(text) !== undefined),
    blanks: [...blanks],
    strayWords,
    filled,
    mayBeEmpty,
    isLoaders: loaders.test(name),
    is(kind) {
      const found = known.get(kind) ?? isNamed(words, kind);
      known.set(kind, found);
      return found;
    },
  };
}

const startsLikeDate = /^(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}[- ]\p{L}{3,9}[- ]\d{2,4})\b/u;
const maxWords = 2;

/** A word or two among dates, such as "unlimited", stands for no date; but a start needs one. */
function wordsAmongDates(counts: ReadonlyMap<string, number>): string[] {
  const words = [...counts.keys()].filter((text) => !startsLikeDate.test(text));
  const dates = counts.size - words.length;
  const areWords = words.every((text) => /^[\p{L} ]{1,40}$/u.test(text));
  return dates > words.length && words.length <= maxWords && areWords ? words : [];
}

/** The candidate with the highest score above 0; the first of equal ones. */
export function bestOf<T>(
  candidates: readonly T[],
  score: (candidate: T) => number,
): { readonly found: T; readonly score: number } | undefined {
  let best: { readonly found: T; readonly score: number } | undefined;
  for (const found of candidates) {
    const points = score(found);
    if (points > (best?.score ?? 0)) best = { found, score: points };
  }
  return best;
}

/** Enough distinct values of a column to judge all of them. */
export function sampleOf({ values }: Column, size = 3000): string[] {
  const step = Math.max(1, Math.floor(values.length / size));
  return values.filter((_, index) => index % step === 0);
}
