import type { Clock } from '../clock.ts';
import type { ImportShop } from '../ingest/apply.ts';
import { joinProblems } from '../records/problems.ts';
import { isoTime } from '../iso-time.ts';
import { shopDigitsOf } from '../money.ts';
import { stripeDigitsOf } from './stripe/amounts.ts';
import { pricedLike, stripeValues } from './stripe/rows.ts';
import { isOpaqueId } from '../ingest/source-ids.ts';
import type { ValueSighting } from '../ingest/histories/past-values.ts';
import { newCustomerKey } from '../store/records/customer-keys.ts';
import { fromChargebee } from './vendors/chargebee.ts';
import { fromRecurly } from './vendors/recurly.ts';
import {
  type FieldContext,
  matches,
  plainText,
  quotedValue,
  readInto,
  readersOf,
} from './field-reader.ts';
import { exportDateField, fieldsOf } from './fields.ts';
import { type Part, eventsPart, linesPart, valuesPart } from './parts.ts';
import type { ReadRow, Values } from './rows.ts';
import type { FieldSpec, FieldSpecs, Mapping, RecordSpec } from './schema.ts';

export interface MakerOptions {
  readonly shop: ImportShop;
  /** The shop's. Any will do where nothing is stored. */
  readonly customerKey?: string;
  /** The importer's. */
  readonly clock: Clock;
  /** When the export was made, in epoch milliseconds, if its rows do not say it. */
  readonly asOf?: number | undefined;
}

const throwawayKey = newCustomerKey();

/** What a row is to the rules of a mapping. */
interface View {
  readonly values: Values;
  /** What the row leaves out, for people. */
  readonly problems?: readonly string[];
  /** Whether it does not have all lines. */
  readonly isPartial?: boolean;
  /** What it shows that its subscription was once worth. */
  readonly seenValues?: readonly ValueSighting[];
}

/** What is special in a vendor's data. */
const vendors = {
  chargebee: { see: pricedLike(fromChargebee), digitsOf: shopDigitsOf },
  recurly: { see: pricedLike(fromRecurly), digitsOf: shopDigitsOf },
  stripe: { see: stripeValues, digitsOf: stripeDigitsOf },
} satisfies Record<NonNullable<Mapping['vendor']>, object>;

/** The rows as rules see them; a row is seen once for all rules. */
export function viewOf({ vendor }: Pick<Mapping, 'vendor'>, { shop, clock, asOf }: MakerOptions) {
  if (vendor === undefined) return (values: Values): View => ({ values });
  const seen = new WeakMap<Values, View>();
  const see = (values: Values) =>
    vendors[vendor].see(values, { currency: shop.currency, at: asOf ?? clock.now() });
  return (values: Values) => seen.getOrInsertComputed(values, see);
}

/** A number, perhaps behind a few letters. */
const numbered = /^[A-Za-z]{0,3}[-_]?\d{1,20}$/;

/** Makes records of one type as a mapping describes them. */
export type RecordMaker = ReturnType<typeof createRecordMaker>;

/** @param mapping which has the rules of all its records */
export function createRecordMaker(
  spec: RecordSpec,
  { formats, asOf: dateSpec, vendor }: Pick<Mapping, 'formats' | 'asOf' | 'vendor'>,
  { shop, customerKey = throwawayKey, clock, asOf }: MakerOptions,
  view: (values: Values) => View,
) {
  const context: FieldContext = {
    formats: {
      ...formats,
      asOf,
      minorUnitDigits: vendor && vendors[vendor].digitsOf(shop.currency),
    },
    currency: shop.currency,
    minorDigits: shop.minorDigits,
    customerKey,
    clock,
  };
  const readers = [...readersOf(fieldsOf[spec.type], spec.fields, context)];
  const idReader = readers.filter(([name]) => name === 'id');
  const dates: FieldSpecs = asOf !== undefined || !dateSpec ? {} : { exportedAt: dateSpec };
  readers.push(...readersOf({ exportedAt: exportDateField }, dates, context));
  const exported = asOf === undefined ? {} : { exportedAt: isoTime(asOf) };
  const parts: readonly Part[] =
    spec.type === 'subscription'
      ? [
          linesPart(spec.lines, context),
          eventsPart(spec.statusEvents, context),
          valuesPart(spec.valueEvents, context),
        ]
      : [];
  return {
    type: spec.type,
    /** The column that rows are grouped by. */
    group: spec.type === 'subscription' ? spec.group : undefined,
    ...columnsOfRecord(spec, dates),
    /** Whether a row, or the group that it starts, makes a record. */
    applies: (values: Values) => matches(spec.when, view(values).values),
    make(given: readonly ReadRow[]): Made {
      const views = given.map(({ line, values }) => ({ line, ...view(values) }));
      const rows: readonly ReadRow[] = views;
      const record: Record<string, unknown> = {
        type: spec.type,
        ...exported,
      };
      const problems = new Set(readInto(record, readers, rows[0]?.values as Values));
      for (const part of parts) {
        for (const problem of part(record, rows)) problems.add(problem);
      }
      const foreign = foreignCurrencyOf(rows, spec.currency, shop.currency);
      if (foreign !== undefined && spec.type !== 'subscription') problems.add(foreign);
      if (problems.size > 0) return { problem: joinProblems(problems) };
      const [{ seenValues = [] } = {}] = views;
      const hasValues = spec.type === 'subscription' || spec.type === 'payment';
      if (hasValues && seenValues.length > 0) record['seenValues'] = seenValues;
      if (spec.type !== 'subscription') return { record };
      // A price that is not understood must not cost a customer the entitlement.
      if (foreign !== undefined) record['lines'] = withoutPrices(record['lines']);
      const kept = { paidThroughAt: {}, trialEndsAt: spec.keeps.trialEndsAt };
      const stays = Object.entries(kept).flatMap(([name, when]) => {
        const isLeftOut = spec.fields[name] && record[name] === undefined;
        return isLeftOut && when && matches(when, views[0]?.values as Values) ? [name] : [];
      });
      if (views.some(({ isPartial }) => isPartial)) stays.push('lines');
      if (stays.length > 0) record['stays'] = stays;
      const warnings = views.flatMap(({ values, problems: left = [] }) => [
        ...left,
        ...spec.warnings.filter(({ when }) => matches(when, values)).map(({ text }) => text),
      ]);
      if (foreign !== undefined) warnings.push(`${foreign}; the subscription is priced at 0`);
      return { record, ...(warnings.length > 0 && { warning: warnings.join('; ') }) };
    },
    /** The id of the record that a row begins, if it can be read. */
    idOf(values: Values) {
      const found: { id?: number } = {};
      readInto(found, idReader, view(values).values);
      return found.id;
    },
    /** The source's id of the record that a row begins, if it has a form that no name or address has. */
    sourceIdOf(values: Values): string | undefined {
      const { column } = spec.fields['id'] ?? {};
      const text = column === undefined ? '' : plainText(view(values).values, column);
      return isOpaqueId(spec.type, text) || numbered.test(text) ? text : undefined;
    },
    /** A column of a row as text, for people. */
    textOf: (values: Values, column: string) => plainText(view(values).values, column),
  };
}

/** A record, or why there is none. */
export type Made =
  | { readonly record: object; readonly warning?: string }
  | { readonly problem: string };

/** What is said of rows in another currency than the shop's. */
function foreignCurrencyOf(rows: readonly ReadRow[], column: string | undefined, currency: string) {
  if (column === undefined) return undefined;
  const text = plainText(rows[0]?.values as Values, column);
  return text.toUpperCase() === currency
    ? undefined
    : `column ${column}: ${quotedValue(text)} is not the shop's currency, ${currency}`;
}

const withoutPrices = (lines: unknown) =>
  (lines as readonly object[]).map((line) => ({ ...line, currentPrice: '0' }));

/**
 * The columns that the records of one type are made from.
 * @param dates which say when the export was made
 */
export function columnsOfRecord(spec: RecordSpec, dates: FieldSpecs = {}) {
  const named = [
    ...Object.keys(spec.when),
    ...(spec.currency === undefined ? [] : [spec.currency]),
  ];
  const fields = [...specsOf(spec.fields), ...specsOf(dates)];
  const lineNames: string[] = [];
  const lineSpecs: FieldSpec[] = [];
  if (spec.type === 'subscription') {
    const { group, lines, valueEvents, warnings, keeps, statusEvents = [] } = spec;
    if (group !== undefined) named.push(group);
    for (const when of [keeps.trialEndsAt ?? {}, ...warnings.map((each) => each.when)]) {
      named.push(...Object.keys(when));
    }
    for (const { when, ...event } of statusEvents) {
      named.push(...Object.keys(when));
      fields.push(...specsOf(event));
    }
    for (const part of [lines, ...(valueEvents ? [valueEvents] : [])]) {
      if (part.packed && part.from !== undefined) named.push(part.from);
      // In a list, columns are looked up in its entries.
      if (part.from !== undefined) continue;
      lineNames.push(...Object.keys(part.when));
      lineSpecs.push(...specsOf(part.fields));
    }
  }
  const shared = [...fields.flatMap(columnsOf), ...named];
  const ofLines = [...lineNames, ...lineSpecs.flatMap(columnsOf)];
  // Each line may have its own plan; the subscription has that of the first line.
  const plan = specsOf({ planId: spec.fields['planId'] }).flatMap(columnsOf);
  const mayDiffer = new Set([...ofLines, ...plan]);
  const all = [...fields, ...lineSpecs];
  const plain = all.filter(({ anyOf }) => anyOf === undefined).flatMap(columnsOf);
  return {
    /** The only columns that are read. */
    columns: [...new Set([...shared, ...ofLines])],
    /** Those that every file must have. */
    requiredColumns: [...new Set([...plain, ...named, ...lineNames])],
    /** Fields with several sources, of which a file must have one. */
    choices: all.flatMap(({ anyOf }) => (anyOf ? [anyOf.map(sourcesOf)] : [])),
    /** Columns that must be empty, or the same as in the first row, in all rows of a group. */
    sharedColumns: [...new Set(shared)].filter((column) => !mayDiffer.has(column)),
  };
}

function specsOf(specs: FieldSpecs): FieldSpec[] {
  return Object.values(specs).filter((spec) => spec !== undefined);
}

/** The columns that a field's value is made from. */
function sourcesOf({ column, columns = [] }: FieldSpec): readonly string[] {
  return column === undefined ? columns : [column];
}

/** All columns that a field may read. */
function columnsOf(spec: FieldSpec): string[] {
  const { anyOf = [], when = {} } = spec;
  return [...sourcesOf(spec), ...Object.keys(when), ...anyOf.flatMap(columnsOf)];
}
