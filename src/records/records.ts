import type { z } from 'zod';
import { cancellation } from './cancellation.ts';
import type { Field } from './fields.ts';
import { payment } from './payment.ts';
import { plan } from './plan.ts';
import { refund } from './refund.ts';
import { subscription } from './subscription.ts';

/**
 * The catalogue of records, parents first. Only what they declare is kept: whatever else a source sends is
 * dropped. Of a person that is `customerId`, an opaque number; a source's text for it is kept only if its form is
 * known to be opaque (`ingest/source-ids.ts`).
 */
export const records = { plan, subscription, payment, refund, cancellation } as const;

export type RecordType = keyof typeof records;
export const recordTypes = Object.keys(records) as readonly RecordType[];

type SchemaOf<Type extends RecordType> = ReturnType<(typeof records)[Type]['schema']>;

/** A valid record. Times are epoch milliseconds, amounts are decimal text. */
export type RecordOf<Type extends RecordType> = z.output<SchemaOf<Type>>;

/** The same as sources send it, in JSON. */
export type RecordInput<Type extends RecordType> = z.input<SchemaOf<Type>>;

/** Children first: a plan cannot be deleted while a subscription uses it. */
export const deletionOrder = recordTypes.toReversed();

/** The fields of a type of record, by name. */
export function namedFields(type: RecordType): readonly [name: string, field: Field][] {
  return Object.entries(records[type].fields);
}

interface Parent {
  readonly type: RecordType;
  /** The field with its id. */
  readonly field: string;
}

/** What must be stored before a record of a type: the record that one of its fields names. */
export const parents = Object.fromEntries(
  recordTypes.map((type) => {
    const [parent] = namedFields(type).flatMap(([name, field]): Parent[] => {
      if (field.kind !== 'id' || name === 'id') return [];
      const named = recordTypes.find((each) => each === field.of);
      return named === undefined ? [] : [{ type: named, field: name }];
    });
    return [type, parent];
  }),
) as Readonly<Record<RecordType, Parent | undefined>>;
