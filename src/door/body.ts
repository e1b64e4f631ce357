import { type Answer, refuse } from '../http/answer.ts';

const maxRecords = 1000;
const decoder = new TextDecoder('utf-8', { fatal: true });

/** One record of a body: its line, or its position in an array, from 1. */
export interface BodyRow {
  readonly number: number;
  /** Undefined if the line is not JSON. */
  readonly value: unknown;
}

type Rows = { readonly rows: readonly BodyRow[] } | { readonly refusal: Answer };

/** The JSON documents in a body: an array, one object, or one object on each line. */
export function readRows(bytes: Buffer): Rows {
  let text: string;
  try {
    text = decoder.decode(bytes).trim();
  } catch {
    return { refusal: refuse(400, 'The body must be UTF-8.') };
  }
  const document = parseJson(text);
  if (Array.isArray(document)) {
    return limited(document.map((value, index) => ({ number: index + 1, value })));
  }
  if (document !== undefined) return { rows: [{ number: 1, value: document }] };
  if (text.startsWith('[')) {
    return { refusal: refuse(400, 'The body begins as a JSON array, but is not valid JSON.') };
  }
  // Blank lines are counted, as in files.
  const lines = decoder.decode(bytes).split('\n');
  return limited(
    lines.flatMap((line, index) =>
      line.trim() === '' ? [] : { number: index + 1, value: parseJson(line) },
    ),
  );
}

function limited(rows: readonly BodyRow[]): Rows {
  if (rows.length === 0) return { refusal: refuse(400, 'The body has no records.') };
  if (rows.length <= maxRecords) return { rows };
  return {
    refusal: refuse(
      413,
      `The body has ${rows.length} records; send at most ${maxRecords} in one request.`,
    ),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
