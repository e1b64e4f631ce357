import { type AmountFormat, isSignOf } from '../amounts.ts';
import { hasEmailAddress } from '../../records/values.ts';
import type { IdRole } from './id-roles.ts';
import type { PriceRole } from './money-roles.ts';
import type { Meaning } from './meanings.ts';
import type { Roles } from './roles.ts';
import type { Column } from './table.ts';
import type { TimeRole } from './time-roles.ts';

/** What marks the lines of a mapping that somebody should look at. */
export const checkMark = 'CHECK';

/** A value with comments: lines above it, and one behind it. */
export class Commented {
  readonly value: unknown;
  readonly above: readonly string[];
  readonly behind: string | undefined;

  constructor(value: unknown, above: readonly string[], behind?: string) {
    this.value = value;
    this.above = above;
    this.behind = behind;
  }
}

/** The texts of CHECK comments in a part of a mapping, and the columns that it reads. */
function contentsOf(part: unknown, found = { doubts: [] as string[], names: new Set<unknown>() }) {
  if (part instanceof Commented) {
    const comments = [...part.above, part.behind ?? ''];
    found.doubts.push(...comments.filter((text) => text.startsWith(checkMark)));
    contentsOf(part.value, found);
  } else if (typeof part === 'object' && part !== null) {
    for (const [name, member] of Object.entries(part)) {
      if (name === 'when') for (const each of Object.keys(member ?? {})) found.names.add(each);
      const isValue = ['value', 'otherwise', 'empty', 'time', 'when'].includes(name);
      if (!isValue) contentsOf(member, found);
    }
  } else found.names.add(part);
  return found;
}

/** What a column of the file is taken for. */
export interface ColumnUse {
  readonly name: string;
  /** Such as "subscription.customerId"; undefined if the column is left out. */
  readonly role: string | undefined;
  readonly confidence: 'sure' | 'check';
  /** Why, in one sentence. */
  readonly evidence: string;
}

/** Notes what the columns of a table are used for while a mapping is made. */
export function createNotes(columns: readonly Column[]) {
  const uses = new Map<string, ColumnUse>();
  return {
    /** All columns, in the file's order. */
    uses: () => columns.map((column) => uses.get(column.name) ?? unusedColumn(column)),
    /** The fields of a type of record, each with a comment about how sure it is and why. */
    fields(type: string, fields: object): Record<string, unknown> {
      const written = Object.entries(fields).map(([name, field]: [string, unknown]) => {
        const { doubts, names } = contentsOf(field);
        const used = columns.filter((column) => names.has(column.name));
        const sure = used.length === 0 ? 'constant' : used.map(evidenceOf).join('; ');
        const [doubt] = doubts;
        for (const column of used) {
          const known = uses.get(column.name);
          if (known && (known.confidence === 'check' || !doubt)) continue;
          uses.set(column.name, {
            name: column.name,
            role: known?.role ?? `${type}.${name}`,
            confidence: doubt ? 'check' : 'sure',
            evidence: doubt ? doubt.slice(checkMark.length + 2) : evidenceOf(column),
          });
        }
        if (field === undefined || doubt) return [name, field];
        const { value, above } = field instanceof Commented ? field : new Commented(field, []);
        return [name, new Commented(value, above, `sure: ${sure}`)];
      });
      return Object.fromEntries(written) as Record<string, unknown>;
    },
  };
}
export type Notes = ReturnType<typeof createNotes>;

function evidenceOf({ name, filled, texts, counts }: Column): string {
  const share = filled === texts.length ? 'all' : `${show(filled)} of`;
  return `"${name}" by its name and values: ${share} ${rowCount(texts.length)} have one, ${show(counts.size)} differ`;
}

function unusedColumn(column: Column): ColumnUse {
  const { name, filled } = column;
  const evidence = column.isLoaders
    ? 'a loader wrote it, not the source'
    : filled === 0
      ? 'no row has a value'
      : column.is('contact') || column.is('personal') || column.is('customer')
        ? 'it may be personal, which is never stored'
        : 'nothing in its name and values says that an import needs it';
  return { name, role: undefined, confidence: 'sure', evidence };
}

type Doubt = string | undefined | false;

/** The value, marked as unsure if there is a doubt. */
export function withDoubt(value: unknown, ...doubts: readonly Doubt[]): unknown {
  const found = doubts.filter((doubt) => doubt !== undefined && doubt !== false);
  return found.length === 0
    ? value
    : new Commented(
        value,
        found.map((doubt) => `${checkMark}: ${doubt}`),
      );
}

const maxWidth = 92;

/** Writes JSON with comments, indented, with short objects and lists on one line. */
export function writeDocument(value: unknown): string {
  return `${write(value, 0)}\n`;
}

function write(value: unknown, depth: number): string {
  if (value instanceof Commented) return write(value.value, depth);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => ({
      ...(member instanceof Commented ? member : new Commented(member, [])),
      text: `${isList ? '' : `${JSON.stringify(name)}: `}${write(member, depth + 1)}`,
    }));
  const isPlain = members.every(
    ({ above, behind, text }) => above.length === 0 && behind === undefined && !text.includes('\n'),
  );
  const all = members.map(({ text }) => text).join(', ');
  const inline = isList ? `[${all}]` : all === '' ? '{}' : `{ ${all} }`;
  if (isPlain && inline.length + depth * 2 <= maxWidth && depth > 0) return inline;
  const indent = '  '.repeat(depth + 1);
  const lines = members.map(({ above, behind, text }, index) => {
    const comma = index < members.length - 1 ? ',' : '';
    const comment = behind === undefined ? '' : ` // ${oneLine(behind)}`;
    const before = above.map((line) => `${indent}// ${oneLine(line)}\n`).join('');
    return `${before}${indent}${text}${comma}${comment}`;
  });
  const [open, close] = isList ? '[]' : '{}';
  return `${open}\n${lines.join('\n')}\n${'  '.repeat(depth)}${close}`;
}

/** A comment ends with its line, so names of columns must not break it. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}

const haveAddresses = ({ values }: Column) => values.some(hasEmailAddress);

export function idField(role: IdRole | undefined, of: string): unknown {
  if (!role) {
    const guess = 'the number of the line is used, so the rows must stay where they are';
    return withDoubt({ line: true }, `no column identifies the ${of}; ${guess}`);
  }
  const [first, ...more] = role.columns.map(({ name }) => name);
  // A list, since an address is taken only as a part of an id.
  const hasAddresses = of === 'subscriptions' && role.columns.some(haveAddresses);
  if (more.length > 0 || hasAddresses) return withDoubt({ columns: [first, ...more] }, role.doubt);
  return withDoubt(role.isNumber ? { column: first, ids: 'number' } : first, role.doubt);
}

/**
 * @param more further keys of the field
 * @param doubts about what the column is
 */
export function timeField(role: TimeRole, more: object = {}, ...doubts: readonly Doubt[]): unknown {
  const { name, strayWords } = role.column;
  const stray = strayWords.size > 0 && `words among the dates of "${name}" count as no date`;
  return neededTimeField(role, more, ...doubts, stray);
}

/** The same for a time that each row needs. */
function neededTimeField(
  { column, time, doubt }: TimeRole,
  more: object,
  ...doubts: readonly Doubt[]
): unknown {
  const format = time === 'iso' ? {} : { time };
  return withDoubt(
    { column: column.name, ...format, ...more },
    ...doubts,
    time === 'excel' && 'numbers are read as days, as Excel counts them',
    doubt,
  );
}

/** When the subscription began: a time, or a number of months before the date of the export. */
export function createdAtField({ start, tenure }: Roles, now: number): unknown {
  const value = `${new Date(now).getUTCFullYear() - 1}-01-01T00:00:00Z`;
  if (tenure) {
    const { column, time } = tenure;
    const { more, doubt } = ifEmpty(column, value);
    const guess = `"${column.name}" is read as a number of ${time.split('-')[0]} before the date of the export (--as-of): the start moves if it is not counted on from export to export`;
    return withDoubt({ column: column.name, time, ...more }, guess, doubt);
  }
  if (start) {
    const { name, strayWords, texts, filled } = start.column;
    // A word is no date: its row is refused, and not given a start.
    const { more, doubt } =
      strayWords.size === 0
        ? ifEmpty(start.column, value)
        : {
            more: {},
            doubt: `rows without a date in "${name}" (${show(texts.length - filled)} of those read) are refused`,
          };
    const guess = `"${name}" is taken for when the subscription began`;
    return neededTimeField(start, more, start.isUnsure ? guess : start.caution, doubt);
  }
  return withDoubt(
    { value },
    'no column says when subscriptions began; this is used for all. If one does: { "column": "NAME", "time": "YYYY-MM-DD" }',
  );
}

export const inCents = 'the name speaks of cents, so 1530 is read as 15.30';

/** @param currency the shop's */
export function priceField(price: PriceRole | undefined, currency: string): unknown {
  if (!price) {
    return withDoubt(
      { value: 0 },
      'no column has the price of an interval; MRR is 0 without it. If one has: { "column": "NAME" }',
    );
  }
  const { column, format, free } = price;
  const { more, doubt } = ifEmpty(column, '0');
  const field = { column: column.name, ...definedIn(format), ...more };
  const foreign = format.signs?.filter((sign) => !isSignOf(sign, currency)) ?? [];
  const { words, columns } = price.byInterval ?? {};
  const choices = [...(columns ?? [])].map(([text, each]) => ({
    ...field,
    column: each.name,
    when: { [words?.name ?? '']: { is: [text] } },
  }));
  return withDoubt(
    free.length > 0 || choices.length > 0
      ? {
          anyOf: [
            ...(columns ? choices : [{ ...field, when: { [column.name]: { isNot: free } } }]),
            { value: 0 },
          ],
        }
      : field,
    price.doubt,
    foreign.length > 0 &&
      `rows with amounts in ${foreign.join(', ')} are refused: the shop's currency is ${currency}`,
    format.round &&
      'some amounts have more decimals than the currency and are rounded; sums may differ by cents',
    format.negatives && 'amounts below 0 are read as 0, so that the rows still count',
    format.minorUnits && inCents,
    doubt,
  );
}

function definedIn(format: AmountFormat): object {
  return Object.fromEntries(Object.entries(format).filter(([, value]) => value !== undefined));
}

export function quantityField(quantity: Column | undefined, price: PriceRole | undefined): unknown {
  const one = { value: 1 };
  if (!quantity) return one;
  const { more } = ifEmpty(quantity, 1);
  const field = quantity.mayBeEmpty ? { column: quantity.name, ...more } : quantity.name;
  if (!price) return field;
  const { name } = price.column;
  return price.isTotal
    ? withDoubt(
        one,
        `"${name}" is read as the amount for all "${quantity.name}"; if it is for one, use "${quantity.name}" here`,
      )
    : withDoubt(
        field,
        `"${name}" is read as the price of one; if it is for all of them, use { "value": 1 } here`,
      );
}

/** What rows without a value in a required column are given. */
export function ifEmpty(column: Column, value: string | number) {
  const empty = column.texts.length - column.filled;
  if (empty === 0) return { more: column.mayBeEmpty ? { empty: value } : {}, doubt: undefined };
  const doubt = `rows without "${column.name}" (${show(empty)} of those read) are given "empty", ${JSON.stringify(value)}`;
  return { more: { empty: value }, doubt };
}

/** A table of what texts of a status mean, and a condition that leaves out the rows of those to skip. */
export function statusTable(column: Column, meanings: ReadonlyMap<string, Meaning<string>>) {
  const table: Record<string, unknown> = {};
  const skipped: string[] = [];
  for (const [text, { status, isUnsure }] of meanings) {
    if (status === 'skip') skipped.push(text);
    else table[text] = new Commented(status, [], countComment(column, text, isUnsure));
  }
  return { table, skipped };
}

/** How many rows have a text, behind a line of a table. */
function countComment(column: Column, text: string, isUnsure: boolean): string {
  const count = column.counts.get(text) ?? 0;
  const rows = count === 0 ? 'not in this file' : rowCount(count);
  return isUnsure ? `${checkMark}: ${rows}; what does it mean?` : rows;
}

function rowCount(count: number): string {
  return count === 1 ? '1 row' : `${show(count)} rows`;
}

function show(count: number): string {
  return count.toLocaleString('en-US');
}
