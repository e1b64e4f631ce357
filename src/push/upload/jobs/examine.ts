import { systemClock } from '../../../clock.ts';
import { CommandError, UsageError } from '../../../errors.ts';
import type { ImportShop } from '../../../ingest/apply.ts';
import { openBytes } from '../../../ingest/files.ts';
import { lacksEndDates, parseMapping } from '../../../mapping/read.ts';
import { displayText } from '../../../mapping/field-reader.ts';
import type { Mapping } from '../../../mapping/schema.ts';
import { type Head, guessInput, readHead, withoutImport } from '../../../mapping/suggest/head.ts';
import { previewLines } from '../../../mapping/suggest/preview.ts';
import { type Suggestion, suggestMapping } from '../../../mapping/suggest/suggest.ts';
import { bytesOf, readFirst } from '../../../mapping/suggest/table.ts';
import { tooMuchMemory } from './limits.ts';
import { isObject } from '../../../json.ts';
import { type Line, readLines } from '../../../ingest/lines.ts';
import { lineTypes } from '../../../records/records.ts';
import { hasUtf16Mark, toUtf8 } from '../../../mapping/encoding.ts';
import { readJsonList } from '../../../mapping/json-list.ts';

/** What a file is, and what an import would make of its beginning. */
export interface Examination extends Pick<
  Suggestion,
  'kind' | 'views' | 'known' | 'questions' | 'needsAsOf' | 'foreign' | 'preview'
> {
  readonly input: Mapping['input'];
  /** The mapping's text; undefined for a file of import records. */
  readonly mapping: string | undefined;
  /** What is unsure about the mapping, each text once. */
  readonly checks: readonly string[];
  /** Whether cancelled subscriptions come without the date of the cancellation. */
  readonly lacksEndDates: boolean;
}

/** The file is none that can be imported, for a reason that its owner can understand. */
export interface Unusable {
  readonly problem: string;
}

export interface ExamineRequest {
  readonly file: string;
  /** What messages call it. */
  readonly fileName: string;
  readonly shop: ImportShop;
  readonly answers: readonly (readonly [string, string])[];
  /** The date of the export, in epoch milliseconds. */
  readonly asOf: number | undefined;
}

/** How many rows tell records from rows of others. */
const triedRows = 20;

/** Reads the beginning of a file. The work takes a second of processor time. */
export async function examine(request: ExamineRequest): Promise<Examination | Unusable> {
  const { file, fileName } = request;
  try {
    const head = await readHead(openBytes(file));
    if (head.bytes.length === 0) return { problem: `${fileName} is empty.` };
    if (isBinary(head.bytes)) {
      return {
        problem: `${fileName} is not a text file. Export the table as CSV, or as JSON, and choose that file.`,
      };
    }
    return await examineHead(head, request);
  } catch (error) {
    // A list that is nested too deeply, or a text that is too long for one string.
    if (error instanceof RangeError) return { problem: tooMuchMemory(fileName) };
    if (!(error instanceof CommandError) && !(error instanceof UsageError)) throw error;
    return { problem: withoutImport(error.message).replaceAll(file, fileName) };
  }
}

async function examineHead(head: Head, request: ExamineRequest): Promise<Examination | Unusable> {
  const { fileName, shop, answers, asOf } = request;
  const input = guessInput(head);
  if (input.format !== 'csv' && (await hasRecords(fileName, head, input))) {
    const lines = readRecords(fileName, bytesOf(head), input);
    const options = { shop, clock: systemClock, isFromFeed: false, idColumns: [] };
    return {
      input,
      mapping: undefined,
      known: undefined,
      kind: undefined,
      views: [],
      checks: [],
      questions: [],
      needsAsOf: false,
      foreign: undefined,
      lacksEndDates: false,
      preview: await previewLines(lines, head, options),
    };
  }
  const suggestion = await suggestMapping(fileName, head, {
    clock: systemClock,
    currency: shop.currency,
    asOf,
    answers: new Map(answers),
  });
  const { text, known, kind, views, questions } = suggestion;
  const { checks, needsAsOf, foreign, preview, doubled } = suggestion;
  if (doubled !== undefined) {
    const heading = displayText(doubled);
    const problem = `${fileName} has the heading “${heading}” twice. Rename one of the columns, so that they can be told apart.`;
    return { problem };
  }
  const rules = 'problem' in preview ? undefined : parseMapping('the mapping', text);
  return {
    input,
    mapping: text,
    // The first sentence; the others are for people who edit the mapping.
    known: known === undefined ? undefined : (rules?.about?.split(/\. |\.$/, 1)[0] ?? known),
    kind,
    views,
    checks: [...new Set(checks.map((check) => check.text))],
    questions,
    needsAsOf,
    foreign,
    lacksEndDates: rules !== undefined && lacksEndDates(rules),
    preview,
  };
}

async function hasRecords(file: string, head: Head, input: Mapping['input']): Promise<boolean> {
  const rows = await readFirst(file, head, input, triedRows);
  const records = rows.filter((row) => 'values' in row && isRecord(row.values.document));
  return records.length * 2 > rows.length;
}

const sampleBytes = 4096;
/** White space, the bell to carriage return, and escape, which some exports begin with. */
const textControls = new Set([0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1a, 0x1b]);

/** Whether a file is neither text nor an archive, which has a message of its own. */
function isBinary(bytes: Buffer): boolean {
  const sample = bytes.subarray(0, sampleBytes);
  if (sample.subarray(0, 2).toString('latin1') === 'PK') return false;
  if (sample.subarray(0, 5).toString('latin1') === '%PDF-') return true;
  if (hasUtf16Mark(sample)) return false;
  const zeros = [0, 0];
  let controls = 0;
  for (const [index, byte] of sample.entries()) {
    if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
    else if (byte < 0x20 && !textControls.has(byte)) controls += 1;
  }
  const [even = 0, odd = 0] = zeros;
  // Latin letters in UTF-16 have a zero byte each, always on the same side.
  const isWide = Math.max(even, odd) * 4 > sample.length && Math.min(even, odd) === 0;
  return controls * 100 > sample.length || (even + odd > 0 && !isWide);
}

type Input = Exclude<Mapping['input'], { readonly format: 'csv' }>;

/** Reads a file of import records: one a line, or a JSON list. */
export async function* readRecords(
  file: string,
  encoded: AsyncIterable<Buffer>,
  input: Input,
): AsyncGenerator<readonly Line[]> {
  const bytes = toUtf8(encoded, input.encoding);
  if (input.format === 'ndjson') return yield* readLines(bytes);
  const path = input.list === '' ? [] : input.list.split('.');
  for await (const rows of readJsonList(file, bytes, path)) {
    yield rows.map((row): Line => {
      const { line: number } = row;
      if ('problem' in row) return { number, text: '', problem: `the entry ${row.problem}` };
      return { number, text: JSON.stringify(row.values.document) };
    });
  }
}

/** Whether a document is an import record, valid or not. */
function isRecord(document: unknown): boolean {
  return isObject(document) && lineTypes.some((type) => type === document['type']);
}
