import { type Answer, refuse } from '../http/answer.ts';
import { type JsonObject, isObject } from '../json.ts';
import { type RefusedRecord, refusedRecord } from './outcomes.ts';

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

/** The JSON objects in a body: an array of them, one, or one on each line. What else is there is refused. */
export function readRows(bytes: Buffer): Rows | { readonly refusal: Answer } {
  let text: string;
  try {
    text = decoder.decode(bytes).trim();
  } catch {
    return { refusal: refuse(400, 'The body must be UTF-8.') };
  }
  const document = parseJson(text);
  if (Array.isArray(document)) {
    return sortOut(document.map((value, index) => [index + 1, `record ${index + 1}`, value]));
  }
  if (document !== undefined) return sortOut([[1, 'the line', document]]);
  if (text.startsWith('[')) {
    return { refusal: refuse(400, 'The body begins as a JSON array, but is not valid JSON.') };
  }
  // Blank lines are counted, as in files.
  const lines = decoder.decode(bytes).split('\n');
  return sortOut(
    lines.flatMap((line, index): Item[] =>
      line.trim() === '' ? [] : [[index + 1, 'the line', parseJson(line)]],
    ),
  );
}

/** What reasons call it; the value is undefined if it is not JSON. */
type Item = readonly [number: number, name: string, value: unknown];

function sortOut(items: readonly Item[]): ReturnType<typeof readRows> {
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
