import { isObject } from '../json.ts';
import { keyedNumber, ownNumber } from '../own-number.ts';
import { type ImportRecord, namedFields, recordTypes, targetTypeOf } from '../records/records.ts';
import { type SourceId } from '../store/records/source-ids.ts';
import { type RecordKind, recordKinds } from '../store/records/export-dates.ts';

/** Derives an id from a source's text id. docs/mappings.md documents the formula. */
export function deriveId(kind: string, sourceId: string): number {
  return ownNumber(`${kind}:${sourceId}`);
}

/** Whether a customer is known by an e-mail address, which may be a local one. */
export function isCustomersAddress(text: string): boolean {
  return /[^\s@]@[^\s@]/.test(text);
}

/**
 * Derives an id from a text that has an e-mail address.
 * @param key the shop's (`ensureCustomerKey`)
 */
export function deriveKeyedId(key: string, kind: string, text: string): number {
  return keyedNumber(key, `${kind}:${text.trim().toLowerCase().normalize('NFC')}`);
}

/**
 * Derives an id of a customer from an e-mail address. docs/guides/ids.md documents the formula.
 * @param text the address, which may have a name or `mailto:` before it
 */
export function deriveCustomerId(key: string, text: string): number {
  const address = (/<([^<>]+)>\s*$/.exec(text)?.[1] ?? text).replace(/^\s*mailto:/i, '');
  return deriveKeyedId(key, 'customer', address);
}

/** Prefixes of ids that Stripe and Paddle document, by what they stand for. */
const prefixes: Readonly<Record<RecordKind, readonly string[]>> = {
  plan: ['plan', 'pri', 'price', 'pro', 'prod'],
  subscription: ['si', 'sub', 'sub_sched'],
  customer: ['ctm', 'cus'],
  payment: ['ch', 'in', 'pi', 'py', 'txn'],
  refund: ['adj', 'dp', 'du', 'pyr', 're'],
  cancellation: [],
};

const uuid = '[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}';
const anyOpaque = new RegExp(
  `^(?:${uuid}|gid://[a-z][0-9a-z-]{0,40}/[A-Za-z]{1,60}/(?:\\d{1,20}|${uuid}))$`,
);
const prefixed = /^([a-z_]+)_[0-9A-Za-z]{1,100}$/;

/**
 * Whether an id of this kind has a documented opaque form. Other text may be personal data, such as a user
 * name: never stored.
 */
export function isOpaqueId(kind: string, text: string): boolean {
  if (!isRecordKind(kind)) return false;
  const [, prefix] = prefixed.exec(text) ?? [];
  return prefix === undefined ? anyOpaque.test(text) : prefixes[kind].includes(prefix);
}

function isRecordKind(text: string): text is RecordKind {
  return (recordKinds as readonly string[]).includes(text);
}

/** The fields of each type of record that have an id of a kind of record; `id` is the record's own. */
const idFields = new Map<string, readonly (readonly [field: string, kind: RecordKind])[]>(
  recordTypes.map((type) => [
    type,
    namedFields(type).flatMap(([name, field]) =>
      field.kind === 'id' && isRecordKind(field.of) ? [[name, field.of] as const] : [],
    ),
  ]),
);

/** A source id in a record, for the record itself or for one it refers to. */
export interface UsedSourceId extends SourceId {
  /** Whether it is stored with this record rather than with the one referred to. */
  readonly isOwn: boolean;
}

/** @param value the input of the record; its `sourceIds` has the texts by field */
export function sourceIdsOf(record: ImportRecord, value: unknown): readonly UsedSourceId[] {
  const texts = isObject(value) ? value['sourceIds'] : undefined;
  if (!isObject(texts)) return [];
  const fields = idFields.get(record.type) ?? [['id', targetTypeOf(record)] as const];
  return fields.flatMap(([field, kind]): UsedSourceId[] => {
    const id = (record as Readonly<Record<string, unknown>>)[field];
    const sourceId = Object.hasOwn(texts, field) ? texts[field] : undefined;
    if (typeof id !== 'number' || typeof sourceId !== 'string') return [];
    if (!isOpaqueId(kind, sourceId)) return [];
    // There is no record type for customers.
    return [{ kind, id, sourceId, isOwn: field === 'id' || kind === 'customer' }];
  });
}
