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

/** One row with the line that it starts on, or why it could not be read. */
export type Row =
  | { readonly line: number; readonly values: Values }
  | { readonly line: number; readonly problem: string };

/** Reading stops at a longer row: a quote is missing, or the file has another format. */
export const maxRowBytes = 4 * 1024 * 1024;

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
 * Reads a list that is written in one text. Fields are given by name, in any order.
 * @returns undefined if a part of an entry has no name
 */
export function unpackList(text: string, packed: Packed): readonly object[] | undefined {
  const entries = text.split(packed.entries).filter((entry) => entry.trim() !== '');
  const unpacked = entries.map((entry) =>
    entry.split(packed.fields).map((part) => {
      const end = part.indexOf(packed.value);
      return end > 0 ? ([part.slice(0, end).trim(), part.slice(end + 1)] as const) : undefined;
    }),
  );
  return unpacked.every((parts) => parts.every((part) => part !== undefined))
    ? unpacked.map((parts) => Object.fromEntries(parts as [string, string][]))
    : undefined;
}

/** Parses a row that is a JSON document. */
export function jsonRow(line: number, text: string): Row {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { line, problem: 'is not JSON' };
  }
  return isObject(value)
    ? { line, values: jsonValues(value, line) }
    : { line, problem: 'is not a JSON object' };
}
