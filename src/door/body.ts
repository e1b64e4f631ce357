import { type Answer, privateJson, refuse } from '../http/answer.ts';
import { type JsonObject, isObject } from '../json.ts';
import { type RefusedRecord, refusedRecord } from './outcomes.ts';
import type { Turns } from './turns.ts';

/** Records, or rows of a mapping, in one request. */
export const maxRecords = 1000;

const decoder = new TextDecoder('utf-8', { fatal: true });

/** One record of a body: its line, or its position in an array, from 1. */
export interface BodyRow {
  readonly number: number;
  readonly value: JsonObject;
}

export interface Rows {
  readonly rows: readonly BodyRow[];
  readonly refused: readonly RefusedRecord[];
}

interface Refusal {
  readonly refusal: Answer;
}

export type ReadRows = Rows | Refusal;

/**
 * The JSON objects in a body: an array of them, one, or one on each line. What else is there is refused. They are
 * counted before any line is parsed.
 */
export async function readRows(bytes: Buffer, turns: Turns): Promise<ReadRows> {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return { refusal: refuse(400, 'The body must be UTF-8.') };
  }
  const trimmed = text.trim();
  const document = parseJson(trimmed);
  if (Array.isArray(document)) {
    if (document.length > maxRecords) return tooManyRecords();
    return sortOut(document.map((value, index) => [index + 1, `record ${index + 1}`, value]));
  }
  if (document !== undefined) return sortOut([[1, 'the line', document]]);
  if (trimmed.startsWith('[')) {
    return { refusal: refuse(400, 'The body begins as a JSON array, but is not valid JSON.') };
  }
  const lines = firstLines(text);
  if (lines.length > maxRecords) return tooManyRecords();
  const items: Item[] = [];
  for (const [number, line] of lines) {
    await turns.pass();
    items.push([number, 'the line', parseJson(line)]);
  }
  return sortOut(items);
}

export function tooManyRecords(): Refusal {
  const text = `The body has more than ${maxRecords} records; send at most ${maxRecords} in one request.`;
  return { refusal: refuse(413, text, privateJson) };
}

/** The lines that are not blank, with their numbers; no more than one above the limit. Blank ones are counted, as in files. */
function firstLines(text: string): (readonly [number: number, line: string])[] {
  const lines: (readonly [number, string])[] = [];
  for (let number = 1, start = 0; start <= text.length; number += 1) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(start, end);
    if (line.trim() !== '') lines.push([number, line]);
    if (lines.length > maxRecords) break;
    start = end + 1;
  }
  return lines;
}

/** What reasons call it; the value is undefined if it is not JSON. */
type Item = readonly [number: number, name: string, value: unknown];

function sortOut(items: readonly Item[]): ReadRows {
  if (items.length === 0) return { refusal: refuse(400, 'The body has no records.') };
  const rows: BodyRow[] = [];
  const refused: RefusedRecord[] = [];
  for (const [number, name, value] of items) {
    if (isObject(value)) rows.push({ number, value });
    else {
      const what = value === undefined ? 'JSON' : 'a JSON object';
      refused.push(refusedRecord(number, `${name} is not ${what}`));
    }
  }
  return { rows, refused };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
