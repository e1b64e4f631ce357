import { isObject } from '../json.ts';
import { ownNumber } from '../own-number.ts';
import { type RecordKind, type SourceId, recordKinds } from '../store/records/source-ids.ts';
import { type ImportRecord, targetTypeOf } from './record.ts';

/** The id here of a record whose source has texts for ids. The formula is documented in docs/mappings.md. */
export function deriveId(kind: string, sourceId: string): number {
  return ownNumber(`${kind}:${sourceId}`);
}

/** As Stripe and Paddle document them. */
const prefixes = 'adj|ch|ctm|cus|in|pi|plan|pri|price|pro|prod|py|pyr|re|si|sub|sub_sched|txn';
const uuid = '[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}';
const opaque = new RegExp(
  `^(?:(?:${prefixes})_[0-9A-Za-z]{1,100}|${uuid}|gid://[a-z][0-9a-z-]{0,40}/[A-Za-z]{1,60}/(?:\\d{1,20}|${uuid}))$`,
);

/** Whether an id has a documented opaque form. Any other text could be personal data, and is not stored. */
export function isOpaqueId(text: string): boolean {
  return opaque.test(text);
}

export function isRecordKind(text: string): text is RecordKind {
  return (recordKinds as readonly string[]).includes(text);
}

/** What the id fields of records refer to; `id` is the record's own. */
const kindOfField: Readonly<Record<string, RecordKind>> = {
  customerId: 'customer',
  planId: 'plan',
  subscriptionId: 'subscription',
  paymentId: 'payment',
};

/** A source id that a record has, for itself or for what it refers to. */
export interface UsedSourceId extends SourceId {
  /** Whether it comes with this record, rather than with the one that is referred to. */
  readonly isOwn: boolean;
}

/** @param value what the record was read from; its `sourceIds` has the texts by field */
export function sourceIdsOf(record: ImportRecord, value: unknown): readonly UsedSourceId[] {
  const texts = isObject(value) ? value['sourceIds'] : undefined;
  if (!isObject(texts)) return [];
  return Object.entries(texts).flatMap(([field, sourceId]): UsedSourceId[] => {
    const kind = field === 'id' ? targetTypeOf(record) : kindOfField[field];
    const id = (record as Readonly<Record<string, unknown>>)[field];
    if (!kind || typeof id !== 'number' || typeof sourceId !== 'string') return [];
    if (!isOpaqueId(sourceId)) return [];
    // No record brings a customer alone.
    return [{ kind, id, sourceId, isOwn: field === 'id' || kind === 'customer' }];
  });
}
