import { setImmediate as turn } from 'node:timers/promises';
import { type Answer, privateJson, refuse } from '../http/answer.ts';
import { type JsonObject, isObject } from '../json.ts';
import { type RefusedRecord, refusedRecord } from './outcomes.ts';
import type { Clock } from '../clock.ts';

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
 * @param parse reads JSON, keeping the digits of numbers that count
 */
export async function readRows(
  bytes: Buffer,
  turns: Turns,
  parse: Parse = JSON.parse,
): Promise<ReadRows> {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return { refusal: refuse(400, 'The body must be UTF-8.') };
  }
  const trimmed = text.trim();
  const isArray = trimmed.startsWith('[');
  const outline = outlineOf(trimmed);
  if (isArray && outline.commas >= maxRecords) return tooManyRecords();
  const whole = parseJson(trimmed, parse, outline);
  if (Array.isArray(whole.value)) {
    return sortOut(
      whole.value.map((value, index) => [index + 1, `record ${index + 1}`, { value }]),
    );
  }
  if (whole.problem === undefined) return sortOut([[1, 'the line', whole]]);
  if (isArray) {
    const problem = `The body begins as a JSON array, but ${whole.problem}.`;
    return { refusal: refuse(400, problem) };
  }
  const lines = firstLines(text);
  if (lines.length > maxRecords) return tooManyRecords();
  const items: Item[] = [];
  for (const [number, line] of lines) {
    await turns.pass();
    items.push([number, 'the line', parseJson(line, parse)]);
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

/** What reasons call it, and what it is. */
type Item = readonly [number: number, name: string, parsed: Parsed];

function sortOut(items: readonly Item[]): ReadRows {
  if (items.length === 0) return { refusal: refuse(400, 'The body has no records.') };
  const rows: BodyRow[] = [];
  const refused: RefusedRecord[] = [];
  for (const [number, name, { value, problem = 'is not a JSON object' }] of items) {
    if (isObject(value)) rows.push({ number, value });
    else refused.push(refusedRecord(number, `${name} ${problem}`));
  }
  return { rows, refused };
}

interface Parsed {
  readonly value?: unknown;
  /** Why there is no value; the end of a sentence about the text. */
  readonly problem?: string;
}

type Parse = (text: string) => unknown;

function parseJson(text: string, parse: Parse, { isTooDeep } = outlineOf(text)): Parsed {
  if (isTooDeep) return { problem: `is nested deeper than ${maxDepth} levels` };
  try {
    return { value: parse(text) };
  } catch {
    return { problem: 'is not JSON' };
  }
}

const code = (character: string) => character.charCodeAt(0);
const [quote, backslash, comma] = [code('"'), code('\\'), code(',')];
const [openList, openObject, closeList, closeObject] = [code('['), code('{'), code(']'), code('}')];

/** Enough for any message of a vendor. */
const maxDepth = 200;

interface Outline {
  readonly isTooDeep: boolean;
  /** How many commas separate the entries of the outermost list or object. */
  readonly commas: number;
}

/** Looks at a JSON text without parsing it, which costs little whatever the text has. Stops once it is too deep. */
export function outlineOf(text: string): Outline {
  let depth = 0;
  let commas = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === quote) at = endOfString(text, at);
    else if (character === comma) commas += depth === 1 ? 1 : 0;
    else if (character === openList || character === openObject) {
      depth += 1;
      if (depth > maxDepth) return { isTooDeep: true, commas };
    } else if (character === closeList || character === closeObject) depth -= 1;
  }
  return { isTooDeep: false, commas };
}

/** The closing quote of a string, or the end of a text without one. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === quote) return at;
    if (character === backslash) at += 1;
  }
  return text.length;
}

/** Other requests wait no longer than this, and for the one step that goes beyond it. */
const sliceMilliseconds = 10;

let lastTurn: Promise<void> = Promise.resolve();

/** One piece of work goes on at a time, however many there are, so that others wait for one slice and not for all. */
function nextTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => turn());
  return lastTurn;
}

/** Cuts long work into slices. */
export class Turns {
  readonly #clock: Clock;
  #startedAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
  }

  /** To be called between steps: lets other requests have their turn once a slice is over. */
  async pass(): Promise<void> {
    if (this.#clock.monotonic() - this.#startedAt < sliceMilliseconds) return;
    await nextTurn();
    this.#startedAt = this.#clock.monotonic();
  }
}
