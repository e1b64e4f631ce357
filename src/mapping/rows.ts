import { isObject } from '../json.ts';
import type { Packed } from './schema.ts';

/** The values of a row in another platform's file, or of a list entry in it. */
export interface Values {
  /** The value of a column, or of a path in JSON; undefined if there is none. */
  get(column: string): unknown;
  /** The line that the row starts on. */
  readonly line?: number;
  /** The names of a CSV file's columns. */
  readonly names?: readonly string[];
  /** The object of a JSON row. */
  readonly document?: unknown;
  /** The whole row, from which an id can be derived. */
  text(): string;
}

/** A readable row, with the line that it starts on. */
export interface ReadRow {
  readonly line: number;
  readonly values: Values;
}

/** One row, or why it could not be read. */
export type Row = ReadRow | { readonly line: number; readonly problem: string };

/** Reading stops at a longer row: a quote is missing, or the file has another format. */
export const maxRowBytes = 4 * 1024 * 1024;

/** A list of a record's lines may have more entries than become lines, but not any number. */
export const maxListEntries = 10_000;

/** Values of a JSON object, by names and list positions joined by dots. */
export function jsonValues(object: unknown, line?: number): Values {
  return {
    ...(line !== undefined && { line }),
    document: object,
    get: (path) =>
      path
        .split('.')
        .reduce<unknown>(
          (at, name) =>
            typeof at === 'object' && at !== null && Object.hasOwn(at, name)
              ? (at as Record<string, unknown>)[name]
              : undefined,
          object,
        ),
    text: () => JSON.stringify(object),
  };
}

/**
 * Reads a list that is written in one text. Fields are given by name, in any order. Vendors do not mark
 * separators inside a value, so a part that does not begin with a name belongs to the value before it.
 * @returns undefined if the text does not begin with a name; if the list is too long, only as much as tells that
 */
export function unpackList(text: string, packed: Packed): readonly object[] | undefined {
  const hasName = (part: string) => {
    const end = part.indexOf(packed.value);
    return end > 0 && /^\s*[A-Za-z_][\w-]*$/.test(part.slice(0, end));
  };
  function* split(whole: string, separator: string): Generator<string> {
    let start = 0;
    for (let at = whole.indexOf(separator); at !== -1;) {
      const next = whole.indexOf(separator, at + 1);
      if (hasName(whole.slice(at + 1, next === -1 ? undefined : next))) {
        yield whole.slice(start, at);
        start = at + 1;
      }
      at = next;
    }
    yield whole.slice(start);
  }
  const trimmed = text.endsWith(packed.entries) ? text.slice(0, -1) : text;
  if (trimmed === '') return [];
  if (!hasName(trimmed)) return undefined;
  return split(trimmed, packed.entries)
    .take(maxListEntries + 1)
    .map((entry) =>
      Object.fromEntries(
        split(entry, packed.fields).map((part) => {
          const end = part.indexOf(packed.value);
          return [part.slice(0, end).trim(), part.slice(end + 1)] as const;
        }),
      ),
    )
    .toArray();
}

/** More than a number of JavaScript can have. */
const manyDigits = /\d{16}|\d\.\d{12}|[\d.]{17}/;

/** Keeps the text of a number that has more digits than JavaScript's numbers: two ids must not become one. */
function withAllDigits(
  _name: string,
  value: unknown,
  { source }: { source?: string } = {},
): unknown {
  return typeof value === 'number' &&
    source !== undefined &&
    manyDigits.test(source) &&
    /^-?[\d.]+$/.test(source)
    ? source
    : value;
}

/** Parses the JSON of rows. */
export function parseRowJson(text: string): unknown {
  return manyDigits.test(text) ? JSON.parse(text, withAllDigits) : JSON.parse(text);
}

/** Parses a row that is a JSON document. */
export function jsonRow(line: number, text: string): Row {
  let value: unknown;
  try {
    value = parseRowJson(text);
  } catch {
    return { line, problem: 'is not JSON' };
  }
  return isObject(value)
    ? { line, values: jsonValues(value, line) }
    : { line, problem: 'is not a JSON object' };
}
