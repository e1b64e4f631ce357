import type { DiscountType } from '../vocabulary.ts';
import type { Fields, Kind } from './fields.ts';
import { type RecordOf, type RecordType, records } from './records.ts';

const sqlTypes: Partial<Record<Kind['kind'], string>> = {
  id: 'bigint',
  integer: 'int',
  intervalCount: 'int',
  text: 'text',
  enum: 'text',
  intervalUnit: 'text',
  code: 'text',
  amount: 'numeric',
  decimal: 'numeric',
  boolean: 'boolean',
  time: 'timestamptz',
  json: 'jsonb',
};

/** The columns of fields with their types, by field: `plan_id bigint`. */
export function columnsOf(fields: Fields): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      if (field.kind === 'part') return Object.entries(columnsOf(field.fields));
      return field.column === undefined ? [] : [[name, `${field.column} ${sqlTypes[field.kind]}`]];
    }),
  );
}

/** The columns that a record is written to. */
export function recordColumns(type: RecordType): Record<string, string> {
  return { ...columnsOf(records[type].fields), digest: 'digest uuid' };
}

type Nullable<Value> = undefined extends Value ? Value | null : Value;

/** A record as it is written. Whatever its columns do not name is not. */
export type Row<Type extends RecordType> = {
  readonly [Name in keyof RecordOf<Type>]: Nullable<RecordOf<Type>[Name]>;
} & {
  /** 32 hexadecimal digits; two records with the same digest are the same record. */
  readonly digest: string;
  /** When the export that has the record was made, in epoch milliseconds, if that is known. */
  readonly exportedAt?: number | undefined;
};

/** A plan, whose discount has columns of its own. */
export type PlanRow = Row<'plan'> &
  Readonly<Record<'groupName' | 'summary' | 'discountValue', string>> & {
    readonly productCount: number;
    readonly discountType: DiscountType;
  };

type FieldsOf<Type extends RecordType> = (typeof records)[Type]['fields'];

type StoredValue<Given, Value> =
  | (Given extends { readonly kind: 'time' } ? Date : NonNullable<Value>)
  | (null extends Nullable<Value> ? null : never);

/** The columns of a record as the database returns them. */
export type StoredRecord<Type extends RecordType> = {
  readonly [
    Name in keyof FieldsOf<Type> & keyof RecordOf<Type> as FieldsOf<Type>[Name] extends {
      readonly column: string;
    }
      ? Name
      : never
  ]: StoredValue<FieldsOf<Type>[Name], RecordOf<Type>[Name]>;
};

/** The columns of a record for a select list, named as its fields are. */
export function selectList(type: RecordType, alias: string): string {
  return selectFields(records[type].fields, alias);
}

/** The same for those of an entry of a list. */
export function selectFields(fields: Fields, alias: string): string {
  return Object.entries(columnsOf(fields))
    .map(([name, definition]) => `${alias}.${definition.split(' ', 1)[0]} as "${name}"`)
    .join(', ');
}

/*
 * What databases hold of a record as JSON (digests, batches that wait) calls its field `preserve` `keeps`, and goes on
 * to, so that digests stay the same and instances of two versions read each other's batches. A key cannot be mistaken
 * for text, in which quotes are escaped.
 */
export const toStored = (json: string): string => json.replace('"preserve":', '"keeps":');
export const fromStored = (json: string): string => json.replace('"keeps":', '"preserve":');
