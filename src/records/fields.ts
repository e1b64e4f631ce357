import { z } from 'zod';
import * as values from './values.ts';
import type { Clock } from '../clock.ts';
import { priceDecimals } from '../money.ts';
import { intervalUnits } from '../vocabulary.ts';

/** The words that records are declared in. */

/** What the values of a record are checked by. */
export interface Checks {
  /** Decimals of the shop's currency. */
  readonly minorDigits: number;
  /** The importer's. */
  readonly clock: Clock;
  /** Whether a feed made the record; what only feeds may say is otherwise ignored. */
  readonly isFromFeed: boolean;
}

/** A single value, which a mapping can read and a column can hold, or a list of ids. */
export type ValueKind =
  /** `of` names what the id identifies. */
  | { readonly kind: 'id'; readonly of: string }
  | { readonly kind: 'ids'; readonly of: string; readonly max: number }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  | { readonly kind: 'text'; readonly maxLength: number; readonly mayBeEmpty: boolean }
  | { readonly kind: 'enum'; readonly values: readonly string[] }
  | { readonly kind: 'time'; readonly isPast?: true }
  /** @property maxDecimals if it may have more than the shop's currency has */
  | { readonly kind: 'amount'; readonly maxDecimals?: number }
  /** Only feeds may say it: what of the stored record stays. */
  | { readonly kind: 'preserve'; readonly words: readonly string[] }
  | { readonly kind: 'intervalUnit' | 'intervalCount' | 'decimal' | 'boolean' | 'code' };

/** What a field holds. */
export type Kind =
  | ValueKind
  /** An object, whose columns are the record's own. */
  | { readonly kind: 'part'; readonly fields: ValueFields }
  /** Objects, in a table of their own, if they are stored as they are. */
  | ({ readonly kind: 'list'; readonly fields: ValueFields } & ListOptions)
  | Json;

interface ListOptions {
  readonly min: number;
  readonly max: number;
  readonly table?: string;
}

/** Only feeds may say it: data in a form of its own. */
interface Json {
  readonly kind: 'json';
}

type OfFeed = Json | Extract<ValueKind, { readonly kind: 'preserve' }>;

interface Stated<Column> {
  /** Undefined if it is not stored, or not in a column. */
  readonly column: Column;
  readonly required: boolean;
}

export type Field<Of extends Kind = Kind, Column = string | undefined> = Of & Stated<Column>;

export type Fields = Readonly<Record<string, Field>>;
export type ValueFields = Readonly<Record<string, Field<ValueKind>>>;

/** A field that can check its values. */
export type Checked<
  Schema extends z.ZodType = z.ZodType,
  Of extends Kind = Kind,
  Column = string | undefined,
> = Field<Of, Column> & { readonly schema: (checks: Checks) => Schema };

export type CheckedFields = Readonly<Record<string, Checked>>;

/** A field of its own kind of value; the others are shorter words for it. */
export function field<
  const Of extends Kind,
  Column extends string | undefined,
  S extends z.ZodType,
>(kind: Of, column: Column, schema: (checks: Checks) => S): Checked<S, Of, Column> {
  const stated: Stated<Column> = { column, required: true };
  return Object.assign({ schema }, kind, stated);
}

export const id = <const Of extends string>(column: string, of: Of) =>
  field({ kind: 'id', of }, column, () => values.id);

/** Ids that are counted, not stored. */
export const ids = (of: string, max: number) =>
  field({ kind: 'ids', of, max }, undefined, () => values.ids(max));

export const integer = (column: string, min: number, max: number) =>
  field({ kind: 'integer', min, max }, column, () => values.integer(min, max));

export const boolean = (column: string) => field({ kind: 'boolean' }, column, () => z.boolean());

/** Text of the shop's own, such as a title; none has room for what is known of a person. */
export const text = (column: string) =>
  field({ kind: 'text', maxLength: 1000, mayBeEmpty: true }, column, ({ isFromFeed }) =>
    values.text(isFromFeed),
  );

export const name = (column: string) =>
  field({ kind: 'text', maxLength: 1000, mayBeEmpty: false }, column, ({ isFromFeed }) =>
    values.nonEmptyText(isFromFeed),
  );

export const oneOf = <const Value extends string>(column: string, choices: readonly Value[]) =>
  field({ kind: 'enum', values: choices }, column, () => z.enum(choices));

/** A time that may be in the future. */
export const time = (column: string) => field({ kind: 'time' }, column, () => values.time);

export const pastTime = (column: string) =>
  field({ kind: 'time', isPast: true }, column, ({ clock }) => values.pastTime(clock));

export const amount = (column: string) =>
  field({ kind: 'amount' }, column, ({ minorDigits }) => values.amount(minorDigits));

/** Of one unit of what is sold: exact, and not yet rounded to what can be paid. */
export const price = (column: string) =>
  field({ kind: 'amount', maxDecimals: priceDecimals }, column, () => values.price);

export const intervalUnit = (column: string) =>
  field({ kind: 'intervalUnit' }, column, () => z.enum(intervalUnits));

export const intervalCount = (column: string) =>
  field({ kind: 'intervalCount' }, column, () => values.integer(1, 1000));

/** @param schema of the object; of the fields it takes those that it does not check otherwise */
export function part<F extends ValueFields, S extends z.ZodType>(
  fields: F,
  schema: (checks: Checks) => S,
) {
  return field({ kind: 'part', fields }, undefined, schema);
}

export function list<F extends CheckedFields & ValueFields>(fields: F, options: ListOptions) {
  const { min, max } = options;
  const schema = (checks: Checks) => {
    const entries = z.array(z.object(shapeOf(fields, checks)));
    // Counted first: the entries of a list that is far too long would fill the memory.
    const counted = z.array(z.unknown()).min(min).max(max).pipe(entries);
    return counted as unknown as typeof entries;
  };
  return field({ kind: 'list', fields, ...options }, undefined, schema);
}

/** A field that need not be given. */
function lenient<S extends z.ZodType, Of extends Kind, Column, Changed extends z.ZodType>(
  strict: Checked<S, Of, Column>,
  change: (schema: S, checks: Checks) => Changed,
): Checked<Changed, Of, Column> {
  const schema = (checks: Checks) => change(strict.schema(checks), checks);
  return Object.assign({ ...strict, schema }, { required: false });
}

/** Null if absent. */
export const orNull = <S extends z.ZodType, Of extends Kind, Column>(
  strict: Checked<S, Of, Column>,
) => lenient(strict, (schema) => schema.nullish().transform((value) => value ?? null));

/**
 * Leaves no key if absent, so that digests stay as before the field was added: what is added to records that
 * are stored already must be one of these.
 */
export const optional = <S extends z.ZodType, Of extends Kind, Column>(
  strict: Checked<S, Of, Column>,
) => lenient(strict, absentIfNull);

const absentIfNull = <S extends z.ZodType>(schema: S) =>
  schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional();

/** Null where the source does not know it, which it must say. */
export const orUnknown = <S extends z.ZodType, Of extends Kind, Column>(
  strict: Checked<S, Of, Column>,
) => {
  const schema = (checks: Checks) => strict.schema(checks).nullable();
  return Object.assign({ ...strict, schema });
};

/** An empty list if absent. */
export const orEmpty = <S extends z.ZodType<readonly unknown[]>, Of extends Kind, Column>(
  strict: Checked<S, Of, Column>,
) => lenient(strict, (schema) => schema.nullish().transform((entries) => entries ?? []));

/** Unlike the others, it must not be null. */
export const withDefault = <S extends z.ZodType, Of extends Kind, Column>(
  strict: Checked<S, Of, Column>,
  value: z.core.util.NoUndefined<z.output<S>>,
) => lenient(strict, (schema) => schema.default(value));

/** Ignored unless a feed gives it. */
export const ofFeed = <S extends z.ZodType, Of extends OfFeed, Column>(
  strict: Checked<S, Of, Column>,
) =>
  lenient(strict, (schema, { isFromFeed }) =>
    z.preprocess((value) => (isFromFeed ? value : undefined), absentIfNull(schema)),
  );

/** Names what of the stored record stays, because the feed does not know it. */
export const preserve = <const Word extends string>(...words: readonly Word[]) =>
  ofFeed(field({ kind: 'preserve', words }, undefined, () => z.enum(words)));

/** The schemas of fields by their names. */
function shapeOf<F extends CheckedFields>(fields: F, checks: Checks) {
  return Object.fromEntries(
    Object.entries(fields).map(([each, { schema }]) => [each, schema(checks)]),
  ) as { readonly [Name in keyof F]: ReturnType<F[Name]['schema']> };
}

type Shape<Type extends string, F extends CheckedFields> = {
  readonly type: z.ZodLiteral<Type>;
} & { readonly [Name in keyof F]: ReturnType<F[Name]['schema']> };

interface Definition<Type extends string, F extends CheckedFields> {
  readonly table: string;
  /**
   * In the order in which they are digested: stored digests hold only while it stays, and new fields are
   * `f.optional`.
   */
  readonly fields: F;
  /** What the documentation says of fields, beside what their kinds say. */
  readonly about?: Partial<Record<(keyof F & string) | `${string}[].${string}`, string>>;
  /** What cannot be said of one field. */
  readonly rule?: (
    record: z.output<z.ZodObject<Shape<Type, F>>>,
    addProblem: (field: keyof F & string, sentence: string) => void,
  ) => void;
}

/** Declares a type of records. Whatever else has to know its fields reads them here. */
export function defineRecord<
  const Type extends string,
  F extends CheckedFields & { readonly id: Checked },
>(type: Type, { table, fields, about = {}, rule }: Definition<Type, F>) {
  return {
    type,
    table,
    idColumn: fields.id.column as string,
    fields,
    about: about as Readonly<Record<string, string | undefined>>,
    schema(checks: Checks): z.ZodObject<Shape<Type, F>> {
      const shape = { type: z.literal(type), ...shapeOf(fields, checks) };
      const schema = z.object(shape) as unknown as z.ZodObject<Shape<Type, F>>;
      if (!rule) return schema;
      return schema.superRefine((record, context) =>
        rule(record, (where, message) =>
          context.addIssue({ code: 'custom', path: [where], message }),
        ),
      );
    },
  };
}
