import { isObject } from '../json.ts';

/** What a row of a foreign file holds, or an entry of a list in it. */
export interface Values {
  /** The value of a column, in JSON at a path; undefined where there is none. */
  get(column: string): unknown;
}

/** One row, by the line on which it begins, or why it could not be read. */
export type Row =
  | { readonly line: number; readonly values: Values }
  | { readonly line: number; readonly problem: string };

/** Longer rows end the reading: a quote is missing, or it is no such file. */
export const maxRowBytes = 4 * 1024 * 1024;

/** Values of a JSON object: names joined by dots lead into it, numbers into lists. */
export function jsonValues(object: unknown): Values {
  return {
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
  };
}

/** A row that is one JSON text. */
export function jsonRow(line: number, text: string): Row {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { line, problem: 'is not JSON' };
  }
  return isObject(value)
    ? { line, values: jsonValues(value) }
    : { line, problem: 'is not a JSON object' };
}
