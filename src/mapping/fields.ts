import type { Fields as RecordFields, ValueKind } from '../records/fields.ts';
import { type RecordType, recordTypes, records } from '../records/records.ts';

/** A field that a mapping can fill; its kind determines how a file's values are parsed. */
export type Field = ValueKind & {
  readonly required: boolean;
  /** Whether it may be the time of receipt, because a record with that keeps a stored time. */
  readonly mayBeGenerated?: boolean;
};

export type Fields = Readonly<Record<string, Field>>;

/** Of each type of record the fields that a mapping can fill; a dot leads into `pricing`. */
export const fieldsOf = Object.fromEntries(
  recordTypes.map((type) => [type, mappableFields(records[type].fields)]),
) as Readonly<Record<RecordType, Fields>>;

function mappableFields({ preserve, ...fields }: RecordFields): Fields {
  const kept = preserve?.kind === 'preserve' ? preserve.words : [];
  const mappable = Object.entries(fields).flatMap(([name, field]): [string, Field][] => {
    switch (field.kind) {
      case 'part':
        return Object.entries(field.fields).map(([each, value]) => [
          `${name}.${each}`,
          optional(value),
        ]);
      case 'list':
      case 'json':
        return [];
      case 'time':
        return [[name, { ...field, mayBeGenerated: kept.includes(name) }]];
      default:
        return [[name, field]];
    }
  });
  return Object.fromEntries(mappable.toSorted(([a], [b]) => rankOf(a) - rankOf(b)));
}

/** The date of a record comes last, in messages too. */
function rankOf(name: string): number {
  return name === 'updatedAt' ? 1 : 0;
}

function optional<Each extends Field>(field: Each) {
  return { ...field, required: false };
}

const { lines, statusEvents, valueEvents } = records.subscription.fields;

/** A line of a subscription. Without a `lineId`, it is numbered by its position. */
export const lineFields: Fields = { ...lines.fields, lineId: optional(lines.fields.lineId) };

/** A status change of a subscription; omitted if its time is empty. */
export const statusEventFields = {
  at: optional(statusEvents.fields.at),
  to: statusEvents.fields.to,
  /** The status until a scheduled change. */
  until: optional(statusEvents.fields.to),
} satisfies Fields;

/** What a subscription was worth from a time on; omitted if that is empty. */
export const valueEventFields = {
  at: optional(valueEvents.fields.at),
  /** Of a unit, for an interval: of one, for a month, unless the others say more. */
  mrr: valueEvents.fields.mrr,
  quantity: optional(lines.fields.quantity),
  intervalUnit: lines.fields.intervalUnit,
  intervalCount: lines.fields.intervalCount,
} satisfies Fields;

/** When an export was made. */
export const exportDateField = optional(statusEvents.fields.at);

/** Billing intervals by the names that platforms use. */
export const intervalWords: ReadonlyMap<string, readonly [number, string]> = new Map([
  ['daily', [1, 'day']],
  ['weekly', [1, 'week']],
  ['monthly', [1, 'month']],
  ['quarterly', [3, 'month']],
  ['annual', [1, 'year']],
  ['annually', [1, 'year']],
  ['yearly', [1, 'year']],
]);

/** A value in the import's format. */
export interface Value {
  readonly value: unknown;
  /** The source's own id, if it may be stored. */
  readonly sourceId?: string;
  /** It is not from the source, so that a stored value is kept. */
  readonly isGenerated?: true;
}

/** A value, or the end of a sentence about what is wrong with it. */
export type Reading = Value | { readonly wrong: string };
