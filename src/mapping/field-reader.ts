import type { Field } from './fields.ts';
import type { Values } from './rows.ts';
import type { Conditions, FieldSpec } from './schema.ts';
import type { Value } from './reading.ts';
import { type Formats, createReader, readConstant } from './values.ts';

/** What a field of a record is to be (undefined: left out), or a sentence about what is wrong. */
export type FieldReading = Value | { readonly problem: string };

type Text = { readonly text: string } | { readonly problem: string };

function hasEmailAddress(text: string): boolean {
  return text.includes('@') && /[^\s@]@[^\s@]+\.[^\s@]/.test(text);
}

/** A value as it can be shown: shortened, and no e-mail address. */
export function shown(text: string): string {
  if (hasEmailAddress(text)) return '(an e-mail address)';
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** The text of a value, whatever it is; empty for none. */
export function plainText(values: Values, column: string): string {
  try {
    const value = values.get(column);
    if (value === undefined || value === null) return '';
    return (typeof value === 'object' ? JSON.stringify(value) : String(value)).trim();
  } catch {
    return '\uFFFD';
  }
}

/** Whether a row is one that is meant. */
export function holds(conditions: Conditions, values: Values): boolean {
  return Object.entries(conditions).every(([column, { is, isNot }]) => {
    const text = plainText(values, column);
    return is ? is.includes(text) : !isNot?.includes(text);
  });
}

/** The text of a value that is to be kept. */
function textOf(values: Values, column: string): Text {
  let value: unknown;
  try {
    value = values.get(column);
  } catch {
    return { problem: `column ${column} is not UTF-8` };
  }
  if (value === undefined || value === null) return { text: '' };
  if (typeof value === 'object') {
    return { problem: `column ${column} is a list or an object; name a path that leads into it` };
  }
  const text = String(value).trim();
  return hasEmailAddress(text)
    ? { problem: `column ${column} has an e-mail address; map only columns without personal data` }
    : { text };
}

/** What a mapping can say of values that are not understood as they stand. */
const hints: Partial<Record<Field['kind'], string>> = {
  word: '; a table can say which is meant',
  id: '; with "ids": "text" it may be any text',
};

/** Reads one field of rows; without a value where its conditions do not hold. */
export function createFieldReader(
  field: Field,
  spec: FieldSpec,
  formats: Formats,
  minorDigits: number,
): (values: Values) => FieldReading {
  const read = createValueReader(field, spec, formats, minorDigits);
  const { when } = spec;
  return when ? (values) => (holds(when, values) ? read(values) : { value: undefined }) : read;
}

function createValueReader(
  field: Field,
  spec: FieldSpec,
  formats: Formats,
  minorDigits: number,
): (values: Values) => FieldReading {
  // The mapping's schema has checked every constant.
  const constant = (value: string | number | boolean): FieldReading => ({
    value: (readConstant(field, value) as { value: unknown }).value,
  });
  if (spec.value !== undefined) {
    const always = constant(spec.value);
    return () => always;
  }
  const columns = spec.columns ?? [spec.column as string];
  const name = `column ${columns.join(' and ')}`;
  const { table, otherwise, empty } = spec;
  const read = createReader(field, { ...formats, ...spec });

  const understand = (text: string): FieldReading => {
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
      return { problem: `${name}: "${shown(text)}" is not in its table, which has ${known}` };
    }
    const reading = read(text, minorDigits);
    return 'wrong' in reading
      ? { problem: `${name}: "${shown(text)}" ${reading.wrong}${hints[field.kind] ?? ''}` }
      : reading;
  };

  if (field.kind === 'ids') return (values) => readList(values, columns[0] as string, understand);
  return (values) => {
    const texts = columns.map((column) => textOf(values, column));
    const problem = texts.find((each) => 'problem' in each);
    if (problem && 'problem' in problem) return problem;
    const parts = texts.flatMap((each) => ('text' in each && each.text !== '' ? [each.text] : []));
    // An id of which a part is missing would be another one's.
    const isWhole = field.kind !== 'id' || parts.length === columns.length;
    return understand(isWhole ? parts.join(spec.separator ?? ' ') : '');
  };
}

/** A list where the file has one, else its one value. */
function readList(
  values: Values,
  column: string,
  understand: (text: string) => FieldReading,
): FieldReading {
  const list = values.get(column);
  if (!Array.isArray(list)) {
    const one = textOf(values, column);
    if ('problem' in one) return one;
    const reading = understand(one.text);
    return 'problem' in reading || reading.value === undefined
      ? reading
      : { value: [reading.value] };
  }
  const entries: unknown[] = [];
  for (const entry of list) {
    const reading = understand(typeof entry === 'object' ? '' : String(entry));
    if ('problem' in reading) return reading;
    if (reading.value === undefined)
      return { problem: `column ${column} has an entry without a value` };
    entries.push(reading.value);
  }
  return { value: entries };
}
