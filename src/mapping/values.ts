import { failureCodeForm, failureCodePattern, intervalUnits } from '../vocabulary.ts';
import { deriveId, isOpaqueId } from '../ingest/source-ids.ts';
import { type AmountFormat, readAmount } from './amounts.ts';
import type { ValueKind } from '../records/fields.ts';
import { type Reading, type Value, intervalWords } from './fields.ts';
import { type TimeFormat, createTimeReader } from './times.ts';

/** How a file writes values. */
export interface Formats extends TimeFormat, AmountFormat {
  /** Whether ids are numbers, which are used as they are, or text, from which ids are derived. */
  readonly ids?: 'number' | 'text' | undefined;
  /** Texts that stand for an empty value, such as "N/A". */
  readonly blank?: readonly string[] | undefined;
}

/** @param currency the shop's, with this many decimals */
export type Reader = (text: string, minorDigits: number, currency?: string) => Reading;

/** Creates a parser of a file's texts for a field. */
export function createReader(kind: ValueKind, formats: Formats): Reader {
  switch (kind.kind) {
    case 'id':
    case 'ids':
      return formats.ids === 'text' ? (text) => readTextId(kind.of, text) : readId;
    case 'integer':
      return (text) => readInteger(text, kind.min, kind.max);
    case 'text':
      return (text) => readText(text, kind.maxLength);
    case 'enum':
      return (text) =>
        kind.values.includes(text)
          ? { value: text }
          : { wrong: `must be one of ${kind.values.join(', ')}` };
    case 'preserve':
      return (text) => ({ value: kind.words.find((word) => word === text) });
    case 'intervalUnit':
      return (text) => readInterval(text, ([, unit]) => unit);
    case 'intervalCount':
      return (text) =>
        /^\d+$/.test(text) ? readInteger(text, 1, 1000) : readInterval(text, ([count]) => count);
    case 'amount': {
      const format = { ...formats, maxDecimals: kind.maxDecimals };
      return (text, minorDigits, currency) => readAmount(text, format, minorDigits, currency);
    }
    case 'decimal':
      return createDecimalReader();
    case 'time':
      return createTimeReader(formats);
    case 'boolean':
      return readBoolean;
    case 'code':
      return readCode;
  }
}

/** Reads a constant of a mapping file, which has the import's own format. */
export function readConstant(kind: ValueKind, value: string | number | boolean): Reading {
  if (kind.kind === 'text' && value === '' && kind.mayBeEmpty) return { value };
  if (value === '') return { wrong: 'must not be empty' };
  if (kind.kind === 'amount') return createDecimalReader(kind.maxDecimals)(String(value));
  if (kind.kind === 'code' && !failureCodePattern.test(String(value))) {
    return { wrong: `must be ${failureCodeForm}` };
  }
  if (kind.kind !== 'time') return createReader(kind, {})(String(value), 0);
  const reading = createTimeReader({ timeZone: undefined })(String(value));
  return 'wrong' in reading ? { wrong: 'must be an ISO 8601 time with an offset or Z' } : reading;
}

function readId(text: string): Reading {
  const id = /^\d{1,16}$/.test(text) ? Number(text) : 0;
  return id >= 1 && Number.isSafeInteger(id)
    ? { value: id }
    : { wrong: `must be an integer from 1 to ${Number.MAX_SAFE_INTEGER}` };
}

function readTextId(of: string, text: string): Value {
  const value = deriveId(of, text);
  return isOpaqueId(of, text) ? { value, sourceId: text } : { value };
}

function readInteger(text: string, min: number, max: number): Reading {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : -1;
  return value >= min && value <= max
    ? { value }
    : { wrong: `must be an integer from ${min} to ${max}` };
}

function readText(text: string, maxLength: number): Reading {
  if (text.length > maxLength) return { wrong: `must have at most ${maxLength} characters` };
  return text.isWellFormed() && !text.includes('\0')
    ? { value: text }
    : { wrong: 'must be text without NUL or broken surrogates' };
}

/** "month", "Months", "30 days", "every 2 weeks", "quarterly". */
function readInterval(
  text: string,
  pick: (interval: readonly [number, string]) => number | string,
): Reading {
  const lower = text.toLowerCase();
  const match = new RegExp(`^(?:every )?(?:(\\d{1,4}) ?)?(${intervalUnits.join('|')})s?$`).exec(
    lower,
  );
  const interval =
    intervalWords.get(lower) ??
    (match ? ([Number(match[1] ?? 1), match[2] ?? ''] as const) : undefined);
  if (!interval || interval[0] < 1 || interval[0] > 1000) {
    return { wrong: `must be an interval such as month, "30 days" or quarterly` };
  }
  return { value: pick(interval) };
}

function createDecimalReader(maxDecimals = 4) {
  const pattern = new RegExp(`^\\d{1,12}(\\.\\d{1,${maxDecimals}})?$`);
  const wrong = `must be a number of 0 or more, with at most ${maxDecimals} decimals, such as 12.5`;
  return (text: string): Reading => (pattern.test(text) ? { value: text } : { wrong });
}

/** A vendor passes on whatever a bank says: other text is left out, so that the payment is not lost. */
function readCode(text: string): Reading {
  return { value: failureCodePattern.test(text) ? text : undefined };
}

function readBoolean(text: string): Reading {
  if (/^(?:true|yes|1)$/i.test(text)) return { value: true };
  if (/^(?:false|no|0)$/i.test(text)) return { value: false };
  return { wrong: 'must be true or false, yes or no, 1 or 0' };
}
