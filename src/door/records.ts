import { type JsonObject, isObject } from '../json.ts';
import { tooManyEntries } from '../records/problems.ts';
import { listLimits } from '../ingest/lists.ts';
import { type RecordSchema, parseRecord } from '../records/schema.ts';
import { deriveId, isOpaqueId } from '../ingest/source-ids.ts';
import { hasEmailAddress } from '../mapping/field-reader.ts';
import type { BodyRow } from './body.ts';

/** The fields of a record, or of a part of it. Whatever else is sent is dropped before anything is stored. */
interface Shape {
  readonly fields: readonly string[];
  /** Ids, or lists of them, by what they identify. */
  readonly ids?: Readonly<Record<string, string>>;
  /** Objects, or lists of them. */
  readonly parts?: Readonly<Record<string, Shape>>;
}

/** More would only lengthen the reason, which is cut. */
const maxProblems = 10;

const interval = ['intervalUnit', 'intervalCount'];

/** By record type, as docs/import.md describes them. */
export const shapes: Readonly<Record<string, Shape>> = {
  plan: {
    ids: { id: 'plan', productIds: 'product' },
    fields: ['name', 'groupName', 'planType', ...interval, 'active', 'productCount', 'updatedAt'],
    parts: { pricing: { fields: ['discountType', 'discountValue', 'summary'] } },
  },
  subscription: {
    ids: { id: 'subscription', customerId: 'customer', planId: 'plan' },
    fields: ['status', 'createdAt', 'updatedAt', 'nextBillingDate', 'paidThroughAt', ...interval],
    parts: {
      statusEvents: { fields: ['at', 'to'] },
      lines: {
        ids: { lineId: 'line', productId: 'product', variantId: 'variant' },
        fields: ['productTitle', 'variantTitle', 'quantity', 'currentPrice'],
      },
    },
  },
  payment: {
    ids: { id: 'payment', subscriptionId: 'subscription' },
    fields: ['cycle', 'status', 'failureKind', 'failureCode', 'amount', 'processedAt', 'updatedAt'],
  },
  refund: {
    ids: { id: 'refund', paymentId: 'payment' },
    fields: ['amount', 'refundedAt', 'updatedAt'],
  },
  cancellation: {
    ids: { id: 'cancellation', subscriptionId: 'subscription' },
    fields: ['detectedReason', 'offerType', 'outcome', 'createdAt', 'updatedAt'],
  },
};

type Schema = RecordSchema;
type Prepared = { readonly record: object } | { readonly problem: string };

/**
 * Reduces a pushed record to its known fields, and makes integers of ids that are texts.
 * @returns a record for the import, or why it is refused, without any of its values
 */
export function prepareRecord(value: JsonObject, schema: Schema): Prepared {
  const { type } = value;
  const shape = shapeOf(type, value['record']);
  // An unknown type: the schema says so.
  if (!shape) return { problem: problemOf(schema, { type }) };

  const problems: string[] = [];
  const sourceIds: Record<string, string> = {};
  const reduced = reduce(value, shape, '', { problems, sourceIds });
  if (problems.length > 0) return { problem: problems.join('; ') };
  const record = { type, ...reduced };
  const parsed = parseRecord(schema, record);
  return 'problem' in parsed ? parsed : { record: { ...record, sourceIds } };
}

function shapeOf(type: unknown, target: unknown): Shape | undefined {
  if (type === 'delete') return { ids: { id: String(target) }, fields: ['record'] };
  return typeof type === 'string' && Object.hasOwn(shapes, type) ? shapes[type] : undefined;
}

function problemOf(schema: Schema, value: object): string {
  const parsed = parseRecord(schema, value);
  return 'problem' in parsed ? parsed.problem : 'type is not known';
}

/** How many entries the lists of a record have. */
export function countEntries({ value }: BodyRow): number {
  return Object.keys(listLimits).reduce((sum, name) => {
    const list = value[name];
    return sum + (Array.isArray(list) ? list.length : 0);
  }, 0);
}

interface Findings {
  readonly problems: string[];
  /** The texts of the record's own ids, by field. */
  readonly sourceIds: Record<string, string>;
}

function reduce(
  value: JsonObject,
  shape: Shape,
  path: string,
  findings: Findings,
): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const name of shape.fields) {
    if (!Object.hasOwn(value, name)) continue;
    const field = value[name];
    if (typeof field === 'string' && hasEmailAddress(field)) {
      findings.problems.push(`${path}${name} has an e-mail address; send no personal data`);
    }
    // Only the parts below are objects.
    result[name] = typeof field === 'object' && field !== null ? {} : field;
  }
  for (const [name, kind] of Object.entries(shape.ids ?? {})) {
    if (!Object.hasOwn(value, name)) continue;
    const id = value[name];
    const at = path + name;
    result[name] = Array.isArray(id)
      ? readList(id, name, at, findings, {
          entries: 'texts and integers from 1',
          isRight: (each) => typeof each === 'string' || isId(each),
          read: (each, index) => readId(each, kind, () => `${at}[${index}]`, findings),
        })
      : readId(id, kind, () => at, findings);
    if (path === '' && typeof id === 'string' && isOpaqueId(kind, id.trim())) {
      findings.sourceIds[name] = id.trim();
    }
  }
  for (const [name, part] of Object.entries(shape.parts ?? {})) {
    if (!Object.hasOwn(value, name)) continue;
    const field = value[name];
    const at = path + name;
    result[name] = Array.isArray(field)
      ? readList(field, name, at, findings, {
          entries: 'objects',
          isRight: isObject,
          read: (each, index) =>
            isObject(each) ? reduce(each, part, `${at}[${index}].`, findings) : null,
        })
      : isObject(field)
        ? reduce(field, part, `${at}.`, findings)
        : field === null
          ? null
          : 0;
  }
  return result;
}

interface ListReading {
  /** Completes "must have only …". */
  readonly entries: string;
  isRight(entry: unknown): boolean;
  read(entry: unknown, index: number): unknown;
}

/** Reads the entries of a list. One that is too long, or whose entries are wrong, is not read to its end. */
function readList(
  list: readonly unknown[],
  name: string,
  path: string,
  { problems }: Findings,
  { entries, isRight, read }: ListReading,
): unknown {
  // No list at all: the schema says so.
  if (!isListName(name)) return 0;
  if (list.length > listLimits[name]) {
    problems.push(`${path} ${tooManyEntries(listLimits[name])}`);
    return [];
  }
  const result: unknown[] = [];
  let wrong = 0;
  for (const [index, entry] of list.entries()) {
    if (!isRight(entry)) wrong += 1;
    if (wrong === maxProblems) problems.push(`${path} must have only ${entries}`);
    if (problems.length >= maxProblems || wrong === maxProblems) break;
    result.push(read(entry, index));
  }
  return result;
}

function isListName(name: string): name is keyof typeof listLimits {
  return Object.hasOwn(listLimits, name);
}

function isId(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/**
 * Texts become integers by the formula of docs/mappings.md. Whether others are valid is the schema's to say.
 * @param path names it, if it is wrong
 */
function readId(id: unknown, kind: string, path: () => string, { problems }: Findings): unknown {
  if (typeof id !== 'string') return typeof id === 'object' && id !== null ? {} : id;
  const text = id.trim();
  if (text === '') problems.push(`${path()} must not be empty`);
  else if (hasEmailAddress(text)) {
    problems.push(`${path()} is an e-mail address; send an id without personal data`);
  }
  return deriveId(kind, text);
}
