import type { Clock } from '../clock.ts';
import { isoTime } from '../iso-time.ts';
import { tooManyEntries } from '../records/problems.ts';
import { hasEmailAddress } from '../records/values.ts';
import {
  deriveCustomerId,
  deriveId,
  deriveKeyedId,
  isCustomersAddress,
} from '../ingest/source-ids.ts';
import { keyedNumber } from '../own-number.ts';
import type { Field, Fields, Value } from './fields.ts';
import type { Values } from './rows.ts';
import type { Conditions, FieldSpec, FieldSpecs } from './schema.ts';
import { type Formats, createReader, readConstant } from './values.ts';

/** The value of a record's field (undefined: omitted), or a sentence about what is wrong. */
export type FieldReading = Value | { readonly problem: string };

type Text = { readonly text: string } | { readonly problem: string };

/** A value for messages: shortened, and never an e-mail address. */
export function displayText(text: string): string {
  if (hasEmailAddress(text)) return '(an e-mail address)';
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** The same in quotation marks, of which it has none itself: so it can be found in a message. */
export function quotedValue(text: string): string {
  return `"${displayText(text).replaceAll('"', "'")}"`;
}

/** Any value as text; empty if there is none. */
export function plainText(values: Values, column: string): string {
  try {
    const value = values.get(column);
    if (value === undefined || value === null) return '';
    return (typeof value === 'object' ? JSON.stringify(value) : String(value)).trim();
  } catch {
    return '\uFFFD';
  }
}

/** Whether a row meets all conditions. */
export function matches(conditions: Conditions, values: Values): boolean {
  return Object.entries(conditions).every(([column, { is, isNot }]) => {
    const text = plainText(values, column);
    return is ? is.includes(text) : !isNot?.includes(text);
  });
}

/** The text of a value. */
function textOf(values: Values, column: string, blank: ReadonlySet<string>): Text {
  let value: unknown;
  try {
    value = values.get(column);
  } catch {
    return { problem: `column ${column} is not UTF-8` };
  }
  if (value === undefined || value === null) return { text: '' };
  if (typeof value === 'object') {
    return { problem: `column ${column} is a list or an object; name a path to a value in it` };
  }
  const text = String(value).trim();
  return { text: blank.has(text) ? '' : text };
}

/** How to change the mapping if values cannot be read as they are. */
const hints: Partial<Record<Field['kind'], string>> = {
  enum: '; a table can map it to one of them',
  id: '; "ids": "text" allows any text',
};

/** What fields are read with. */
export interface FieldContext {
  readonly formats: Formats;
  /** Of the shop. */
  readonly currency: string;
  readonly minorDigits: number;
  /** Of the shop. */
  readonly customerKey: string;
  readonly clock: Clock;
}

/** Reads one field of rows. It has no value in rows that do not meet its conditions. */
export function createFieldReader(
  field: Field,
  spec: FieldSpec,
  context: FieldContext,
): (values: Values) => FieldReading {
  const { when, anyOf } = spec;
  const read = anyOf
    ? createChoiceReader(field, anyOf, context)
    : createValueReader(field, spec, context);
  return when ? (values) => (matches(when, values) ? read(values) : { value: undefined }) : read;
}

/** Takes the first source that has a value. */
function createChoiceReader(
  field: Field,
  specs: readonly FieldSpec[],
  context: FieldContext,
): (values: Values) => FieldReading {
  const readers = specs.map((spec) =>
    createFieldReader({ ...field, required: false }, spec, context),
  );
  const columns = specs.flatMap((spec) => spec.columns ?? spec.column ?? []);
  return (values) => {
    for (const read of readers) {
      const reading = read(values);
      if ('problem' in reading || reading.value !== undefined) return reading;
    }
    if (!field.required) return { value: undefined };
    if (field.kind === 'text' && field.mayBeEmpty) return { value: '' };
    return {
      problem:
        columns.length === 1
          ? `column ${columns[0]} is empty`
          : `all of the columns ${columns.join(', ')} are empty`,
    };
  };
}

function createValueReader(
  field: Field,
  spec: FieldSpec,
  { formats, minorDigits, currency, customerKey, clock }: FieldContext,
): (values: Values) => FieldReading {
  // The mapping's schema has checked every constant.
  const constant = (value: string | number | boolean): FieldReading => ({
    value: (readConstant(field, value) as { value: unknown }).value,
  });
  if (spec.value !== undefined) {
    const always = constant(spec.value);
    return () => always;
  }
  if (spec.line) return ({ line }) => ({ value: line });
  if (spec.generate === 'time') {
    return () => ({ value: isoTime(clock.now()), isGenerated: true });
  }
  if (spec.generate === 'digest' && field.kind === 'id') {
    return (values) => {
      try {
        const text = values.text();
        if (!hasEmailAddress(text)) return { value: deriveId(field.of, text) };
        return { value: keyedNumber(customerKey, `${field.of}:${text}`) };
      } catch {
        return { problem: 'the row is nested too deeply to derive an id from it' };
      }
    };
  }
  const columns = spec.columns ?? [spec.column as string];
  const name = `column ${columns.join(' and ')}`;
  const { table, otherwise, empty } = spec;
  const isCustomer = field.kind === 'id' && field.of === 'customer';
  const isJoined = field.kind === 'id' && spec.columns !== undefined;
  const blank = new Set(formats.blank);
  const read = createReader(field, { ...formats, ...spec });

  const parse = (text: string): FieldReading => {
    if (table && Object.hasOwn(table, text)) return constant(table[text] as string);
    if (text === '') {
      if (empty !== undefined) return constant(empty);
      if (!field.required) return { value: undefined };
      if (field.kind === 'text' && field.mayBeEmpty) return { value: '' };
      return { problem: `${name} is empty` };
    }
    if (otherwise !== undefined) return constant(otherwise);
    if (table) {
      const known = Object.keys(table).slice(0, 20).join(', ');
      return { problem: `${name}: ${quotedValue(text)} is not in its table, which has ${known}` };
    }
    if (isCustomer && isCustomersAddress(text)) {
      return { value: deriveCustomerId(customerKey, text) };
    }
    if (hasEmailAddress(text)) {
      if (isJoined) return { value: deriveKeyedId(customerKey, field.of, text) };
      return {
        problem: `${name} has an e-mail address; map only columns without personal data`,
      };
    }
    const reading = read(text, minorDigits, currency);
    return 'wrong' in reading
      ? { problem: `${name}: ${quotedValue(text)} ${reading.wrong}${hints[field.kind] ?? ''}` }
      : reading;
  };

  if (field.kind === 'ids') {
    const { max } = field;
    return (values) => readList(values, columns[0] as string, max, blank, parse);
  }
  return (values) => {
    const texts = columns.map((column) => textOf(values, column, blank));
    const problem = texts.find((each) => 'problem' in each);
    if (problem && 'problem' in problem) return problem;
    const parts = texts.flatMap((each) => ('text' in each && each.text !== '' ? [each.text] : []));
    // An id with a part missing could equal another id.
    const isComplete = field.kind !== 'id' || parts.length === columns.length;
    return parse(isComplete ? parts.join(spec.separator ?? ' ') : '');
  };
}

/** Reads a list; a single value is a list of one. */
function readList(
  values: Values,
  column: string,
  max: number,
  blank: ReadonlySet<string>,
  parse: (text: string) => FieldReading,
): FieldReading {
  const list = values.get(column);
  if (!Array.isArray(list)) {
    const one = textOf(values, column, blank);
    if ('problem' in one) return one;
    const reading = parse(one.text);
    return 'problem' in reading || reading.value === undefined
      ? reading
      : { value: [reading.value] };
  }
  if (list.length > max) {
    return { problem: `column ${column} ${tooManyEntries(max)}` };
  }
  const entries: unknown[] = [];
  for (const entry of list) {
    const reading = parse(typeof entry === 'object' ? '' : String(entry));
    if ('problem' in reading) return reading;
    if (reading.value === undefined)
      return { problem: `column ${column} has an entry without a value` };
    entries.push(reading.value);
  }
  return { value: entries };
}

/** Reasons are kept, and a value that a mapping quotes (`quotedValue`) may be anything. */
export function withoutValues(reason: string): string {
  return reason
    .replaceAll(/must be empty or "[^"]*", as /g, 'must be the same, as ')
    .replaceAll(/: "[^"]*" (?=is |must |has |needs )/g, ': its value ');
}

type Reader = (values: Values) => FieldReading;
type NamedReader = readonly [name: string, read: Reader];

export function readersOf(
  fields: Fields,
  specs: FieldSpecs,
  context: FieldContext,
): readonly NamedReader[] {
  return Object.entries(specs).flatMap(([name, spec]): NamedReader[] => {
    if (spec === undefined) return [];
    const field = fields[name] as Field;
    return [[name, createFieldReader(field, spec, context)]];
  });
}

/** Sets the fields of a record or a part of it, and returns the problems. */
export function readInto(
  target: object,
  readers: readonly NamedReader[],
  values: Values,
): string[] {
  const problems: string[] = [];
  for (const [name, read] of readers) {
    const reading = read(values);
    if ('problem' in reading) problems.push(reading.problem);
    else if (reading.value !== undefined) setField(target, name, reading.value);
    if ('sourceId' in reading) setField(target, `sourceIds.${name}`, reading.sourceId);
    if ('isGenerated' in reading) setField(target, 'preserve', name);
  }
  return problems;
}

function setField(target: object, name: string, value: unknown): void {
  const record = target as Record<string, unknown>;
  const [first = '', second] = name.split('.');
  if (second === undefined) record[first] = value;
  else record[first] = { ...(record[first] as object | undefined), [second]: value };
}
