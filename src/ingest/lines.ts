import type { ImportRecord } from '../records/schema.ts';

/** Longer lines are refused: the largest possible record is far shorter. */
const maxLineBytes = 4 * 1024 * 1024;

const newline = 0x0a;
const decoder = new TextDecoder('utf-8', { fatal: true });

/** One line of a file. If it has a `problem`, `text` is as much as can be shown of it. */
export interface Line {
  readonly number: number;
  readonly text: string;
  /** The parsed text, if at hand; the text is then neither generated nor parsed. */
  readonly value?: object;
  /** Its record, if it needs no check but that of its times (see record-line.ts). */
  readonly record?: ImportRecord;
  readonly problem?: string;
  /** Something unusual about it, which is logged; it is still imported. */
  readonly warning?: string | undefined;
  /** The file it comes from, if its source has several. */
  readonly source?: string | undefined;
  /** The record type that a line with a problem counts as; by default "unknown". */
  readonly countsAs?: string;
  /** The id of the record in a line with a problem, if it could be read. */
  readonly recordId?: number | undefined;
}

/** A line for a value in memory. Its text is generated only on access. */
export function lineOf(number: number, value: object): Line {
  return {
    number,
    value,
    get text() {
      return JSON.stringify(value);
    },
  };
}

/**
 * Splits a byte stream into lines, yielding those of each chunk together. Buffers at most one line.
 * Blank lines are skipped but counted.
 */
export async function* readLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Line[]> {
  let number = 0;
  let rest: Uint8Array[] = [];
  let restBytes = 0;
  const take = (bytes: Uint8Array): Line | undefined => {
    number += 1;
    const isTooLong = restBytes + bytes.length > maxLineBytes;
    const whole = rest.length === 0 ? bytes : Buffer.concat([...rest, bytes]);
    rest = [];
    restBytes = 0;
    return toLine(number, whole, isTooLong);
  };

  for await (const chunk of stream) {
    const lines: Line[] = [];
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(newline, start);
      if (end === -1) break;
      const line = take(chunk.subarray(start, end));
      if (line) lines.push(line);
      start = end + 1;
    }
    if (start < chunk.length) {
      const bytes = chunk.subarray(start);
      // Keep only the beginning of a line that is too long.
      if (restBytes <= maxLineBytes) rest.push(bytes);
      restBytes += bytes.length;
    }
    if (lines.length > 0) yield lines;
  }
  if (restBytes > 0) {
    const line = take(new Uint8Array(0));
    if (line) yield [line];
  }
}

function toLine(number: number, bytes: Uint8Array, isTooLong: boolean): Line | undefined {
  const lossy = () => Buffer.from(bytes.subarray(0, 1000)).toString('utf8');
  if (isTooLong) {
    return { number, text: lossy(), problem: `the line is longer than ${maxLineBytes} bytes` };
  }
  try {
    // The decoder drops a byte order mark; a carriage return before the newline is white space.
    const text = decoder.decode(bytes).trim();
    return text === '' ? undefined : { number, text };
  } catch {
    return { number, text: lossy(), problem: 'the line is not UTF-8' };
  }
}
