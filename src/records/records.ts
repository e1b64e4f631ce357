import type { z } from 'zod';
import { cancellation } from './cancellation.ts';
import { payment } from './payment.ts';
import { plan } from './plan.ts';
import { refund } from './refund.ts';
import { subscription } from './subscription.ts';

/**
 * The catalogue of records, parents first. Only what they declare is kept: whatever else a source sends is
 * dropped. Of a person that is `customerId`, an opaque number, and nothing else.
 */
export const records = { plan, subscription, payment, refund, cancellation } as const;

export type RecordType = keyof typeof records;
export const recordTypes = Object.keys(records) as readonly RecordType[];

type SchemaOf<Type extends RecordType> = ReturnType<(typeof records)[Type]['schema']>;

/** A valid record. Times are epoch milliseconds, amounts are decimal text. */
export type RecordOf<Type extends RecordType> = z.output<SchemaOf<Type>>;

/** Children first: a plan cannot be deleted while a subscription uses it. */
export const deletionOrder = recordTypes.toReversed();
