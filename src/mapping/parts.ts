import { decimalText, priceDecimals, shorten, unitsOf } from '../money.ts';
import { monthlyValue } from '../mrr.ts';
import { tooManyEntries } from '../records/problems.ts';
import { records } from '../records/records.ts';
import { isInFuture } from '../records/values.ts';
import type { IntervalUnit } from '../vocabulary.ts';
import { type FieldContext, matches, plainText, readInto, readersOf } from './field-reader.ts';
import { lineFields, statusEventFields, valueEventFields } from './fields.ts';
import { type ReadRow, type Values, jsonValues, maxListEntries, unpackList } from './rows.ts';
import type { Packed, RecordSpec } from './schema.ts';
import { decimal12 } from './stripe/amounts.ts';

/* The lists of a subscription: its lines, and what changed when. */

const maxLines = records.subscription.fields.lines.max;

/** Adds to a record, and returns the problems. */
export type Part = (record: Record<string, unknown>, rows: readonly ReadRow[]) => readonly string[];

type SubscriptionSpec = Extract<RecordSpec, { readonly type: 'subscription' }>;

export function linesPart(
  { prices, fields, ...spec }: SubscriptionSpec['lines'],
  context: FieldContext,
): Part {
  const readers = readersOf(lineFields, fields, context);
  return (record, rows) => {
    const problems: string[] = [];
    const entries = entriesOf(rows, spec);
    if ('problem' in entries) return [entries.problem];
    if (entries.length > maxLines) return [`lines ${tooManyEntries(maxLines)}`];
    record['lines'] = entries.map(({ values, prefix }, index) => {
      const line: Record<string, unknown> = { lineId: index + 1 };
      for (const problem of readInto(line, readers, values)) problems.push(prefix + problem);
      return prices === 'line' ? withUnitPrice(line) : line;
    });
    return problems;
  };
}

/**
 * Divides a price for all units of a line. If that leaves a remainder, the line becomes one unit, so that
 * what is billed stays exact.
 */
function withUnitPrice(line: Record<string, unknown>): object {
  const { quantity, currentPrice } = line;
  if (typeof quantity !== 'number' || typeof currentPrice !== 'string') return line;
  const decimals = currentPrice.split('.')[1]?.length ?? 0;
  const total = unitsOf(currentPrice, decimals);
  const units = BigInt(quantity);
  return total % units === 0n
    ? { ...line, currentPrice: decimalText(total / units, decimals) }
    : { ...line, quantity: 1 };
}

interface LineEntry {
  readonly values: Values;
  /** Precedes its problems, to tell them from those of the record itself. */
  readonly prefix: string;
}

type PartSpec = Pick<SubscriptionSpec['lines'], 'from' | 'packed' | 'when'>;

function entriesOf(rows: readonly ReadRow[], { from, packed, when }: PartSpec) {
  const all = from === undefined ? entriesOfRows(rows) : entriesOfList(rows, from, packed);
  return 'problem' in all ? all : all.filter(({ values }) => matches(when, values));
}

function entriesOfRows(rows: readonly ReadRow[]): readonly LineEntry[] {
  return rows.map(({ line, values }, index) => ({
    values,
    prefix: index === 0 ? '' : `line ${line}: `,
  }));
}

function entriesOfList(
  rows: readonly ReadRow[],
  from: string,
  packed: Packed | undefined,
): readonly LineEntry[] | { readonly problem: string } {
  const values = rows[0]?.values as Values;
  const list = packed ? unpackList(plainText(values, from), packed) : values.get(from);
  if (!Array.isArray(list)) {
    const form = packed ? ` of texts such as name${packed.value}value` : '';
    return { problem: `column ${from} is not a list${form}` };
  }
  if (list.length > maxListEntries) {
    return { problem: `column ${from} ${tooManyEntries(maxListEntries)}` };
  }
  return list.map((entry, index) => ({ values: jsonValues(entry), prefix: `${from}[${index}]: ` }));
}

/**
 * A row without events has a current status only, so the stored history stays. A scheduled event is
 * omitted if the mapping gives the status until then.
 */
export function eventsPart(specs: SubscriptionSpec['statusEvents'], context: FieldContext): Part {
  const events = (specs ?? []).map(({ when, ...fields }) => ({
    when,
    readers: readersOf(statusEventFields, { ...fields }, context),
  }));
  const isScheduled = (event: Record<string, unknown>) =>
    event['until'] !== undefined && isInFuture(timeOf(event), context.clock);
  return (record, rows) => {
    const values = rows[0]?.values as Values;
    const problems: string[] = [];
    const found: Record<string, unknown>[] = [];
    for (const { when, readers } of events) {
      if (!matches(when, values)) continue;
      const event: Record<string, unknown> = {};
      for (const problem of readInto(event, readers, values)) problems.push(problem);
      if (event['at'] !== undefined) found.push(event);
    }
    found.sort((a, b) => timeOf(a) - timeOf(b));
    const scheduled = found.find(isScheduled);
    if (scheduled) record['status'] = scheduled['until'];
    const statusEvents = found
      .filter((event) => !isScheduled(event))
      .map(({ at, to }) => ({ at, to }));
    if (statusEvents.length === 0) record['preserve'] = 'history';
    else record['statusEvents'] = statusEvents;
    return problems;
  };
}

/** What it was worth before. Prices to come are left out, and so are those without a time. */
export function valuesPart(spec: SubscriptionSpec['valueEvents'], context: FieldContext): Part {
  if (!spec) return () => [];
  const readers = readersOf(valueEventFields, spec.fields, context);
  return (record, rows) => {
    const values = rows[0]?.values as Values;
    const isList = spec.from !== undefined;
    if (isList && plainText(values, spec.from as string) === '') return [];
    if (!isList && rows.length > maxLines) return [`valueEvents ${tooManyEntries(maxLines)}`];
    const entries = entriesOf(rows, spec);
    if ('problem' in entries) return [entries.problem];
    const problems: string[] = [];
    const events = entries.flatMap(({ values: each, prefix }) => {
      const event: Partial<Record<keyof typeof valueEventFields, string | number>> = {};
      for (const problem of readInto(event, readers, each)) problems.push(prefix + problem);
      const { at, mrr, quantity = 1, intervalUnit = 'month', intervalCount = 1 } = event;
      if (at === undefined || mrr === undefined || isInFuture(timeOf(event), context.clock)) {
        return [];
      }
      const units = unitsOf(String(mrr), priceDecimals) * BigInt(quantity);
      const unit = intervalUnit as IntervalUnit;
      const sum = decimalText(units, priceDecimals);
      const exact = decimal12(monthlyValue([{ unit, count: Number(intervalCount), sum }]));
      return [{ at, mrr: shorten(exact) }];
    });
    events.sort((one, other) => timeOf(one) - timeOf(other));
    if (events.length > 0) record['valueEvents'] = events;
    return problems;
  };
}

function timeOf(event: Record<string, unknown>): number {
  return Date.parse(String(event['at']));
}
