import { type JsonObject, isObject } from '../json.ts';
import {
  deriveCustomerId,
  deriveId,
  isCustomersAddress,
  isOpaqueId,
} from '../ingest/source-ids.ts';
import type { Fields, Kind } from '../records/fields.ts';
import { tooManyEntries } from '../records/problems.ts';
import { type RecordSchema, recordTypes, records, parseRecord } from '../records/records.ts';
import { hasEmailAddress } from '../records/values.ts';
import type { BodyRow } from './body.ts';

/** A field that may be pushed. Whatever else is sent is dropped before anything is stored. */
interface Pushed {
  readonly name: string;
  readonly field: Kind;
  /** The fields of an object, or of a list's entries. */
  readonly parts: readonly Pushed[];
}

/** More would only lengthen the reason, which is cut. */
const maxProblems = 10;

const pushed = new Map<unknown, readonly Pushed[]>(
  recordTypes.map((type) => [type, pushedOf(records[type].fields)]),
);

/** All fields but those that only feeds may give; long lists last, as reading stops at ten problems. */
function pushedOf(fields: Fields): readonly Pushed[] {
  const rank = ({ field: { kind } }: Pushed) =>
    kind === 'part' || kind === 'list' ? 2 : kind === 'id' || kind === 'ids' ? 1 : 0;
  return Object.entries(fields)
    .filter(([, { kind }]) => kind !== 'preserve' && kind !== 'json')
    .map(([name, field]) => ({
      name,
      field,
      parts: 'fields' in field ? pushedOf(field.fields) : [],
    }))
    .toSorted((a, b) => rank(a) - rank(b));
}

function deletionOf(target: unknown): readonly Pushed[] {
  return [
    { name: 'record', field: { kind: 'enum', values: recordTypes }, parts: [] },
    { name: 'id', field: { kind: 'id', of: String(target) }, parts: [] },
  ];
}

type Prepared = { readonly record: object } | { readonly problem: string };

/**
 * Reduces a pushed record to its known fields, and makes integers of ids that are texts.
 * @param customerKey the shop's
 * @returns a record for the import, or why it is refused, without any of its values
 */
export function prepareRecord(
  value: JsonObject,
  schema: RecordSchema,
  customerKey: string,
): Prepared {
  const { type } = value;
  const fields = type === 'delete' ? deletionOf(value['record']) : pushed.get(type);
  // An unknown type: the schema says so.
  if (!fields) return { problem: problemOf(schema, { type }) };

  const problems: string[] = [];
  const sourceIds: Record<string, string> = {};
  const reduced = reduce(value, fields, '', { problems, sourceIds, customerKey });
  if (problems.length > 0) return { problem: problems.join('; ') };
  const record = { type, ...reduced };
  const parsed = parseRecord(schema, record);
  return 'problem' in parsed ? parsed : { record: { ...record, sourceIds } };
}

function problemOf(schema: RecordSchema, value: object): string {
  const parsed = parseRecord(schema, value);
  return 'problem' in parsed ? parsed.problem : 'type is not known';
}

const lists = [...pushed.values()].flatMap((fields) =>
  fields.filter(({ field: { kind } }) => kind === 'ids' || kind === 'list').map(({ name }) => name),
);

/** How many entries the lists of a record have. */
export function countEntries({ value }: BodyRow): number {
  return lists.reduce((sum, name) => {
    const list = value[name];
    return sum + (Array.isArray(list) ? list.length : 0);
  }, 0);
}

interface Findings {
  readonly problems: string[];
  /** The texts of the record's own ids, by field. */
  readonly sourceIds: Record<string, string>;
  readonly customerKey: string;
}

/** Names a pushed record in messages, if its id is a number or has a documented opaque form. */
export function nameOfPushed({ type, id }: JsonObject): string | undefined {
  const kind = recordTypes.find((each) => each === type);
  if (kind === undefined) return undefined;
  const isShown = typeof id === 'string' ? isOpaqueId(kind, id) : Number.isSafeInteger(id);
  return isShown ? `${kind} ${String(id)}` : undefined;
}

function reduce(
  value: JsonObject,
  fields: readonly Pushed[],
  path: string,
  findings: Findings,
): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const each of fields) {
    const { name } = each;
    if (!Object.hasOwn(value, name)) continue;
    result[name] = readField(value[name], each, path, findings);
  }
  return result;
}

function readField(
  value: unknown,
  { name, field, parts }: Pushed,
  path: string,
  findings: Findings,
): unknown {
  const at = path + name;
  switch (field.kind) {
    case 'id':
    case 'ids':
      if (path === '' && typeof value === 'string' && isOpaqueId(field.of, value.trim())) {
        findings.sourceIds[name] = value.trim();
      }
      return Array.isArray(value)
        ? readList(value, field, at, findings, {
            entries: 'texts and integers from 1',
            isRight: (each) => typeof each === 'string' || isId(each),
            read: (each, index) => readId(each, field.of, () => `${at}[${index}]`, findings),
          })
        : readId(value, field.of, () => at, findings);
    case 'part':
    case 'list':
      if (Array.isArray(value)) {
        return readList(value, field, at, findings, {
          entries: 'objects',
          isRight: isObject,
          read: (each, index) =>
            isObject(each) ? reduce(each, parts, `${at}[${index}].`, findings) : null,
        });
      }
      if (isObject(value)) return reduce(value, parts, `${at}.`, findings);
      return value === null ? null : 0;
    default:
      if (typeof value === 'string' && hasEmailAddress(value)) {
        findings.problems.push(`${at} has an e-mail address; send no personal data`);
      }
      // Only parts are objects.
      return typeof value === 'object' && value !== null ? {} : value;
  }
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
  field: Kind,
  path: string,
  { problems }: Findings,
  { entries, isRight, read }: ListReading,
): unknown {
  // No list at all: the schema says so.
  if (field.kind !== 'ids' && field.kind !== 'list') return 0;
  if (list.length > field.max) {
    problems.push(`${path} ${tooManyEntries(field.max)}`);
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

function isId(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/**
 * Texts become integers by the formula of docs/mappings.md. Whether others are valid is the schema's to say.
 * @param path names it, if it is wrong
 */
function readId(
  id: unknown,
  kind: string,
  path: () => string,
  { problems, customerKey }: Findings,
): unknown {
  if (typeof id !== 'string') return typeof id === 'object' && id !== null ? {} : id;
  const text = id.trim();
  if (text === '') problems.push(`${path()} must not be empty`);
  else if (kind === 'customer' && isCustomersAddress(text)) {
    return deriveCustomerId(customerKey, text);
  } else if (hasEmailAddress(text)) {
    problems.push(`${path()} is an e-mail address; send an id without personal data`);
  }
  return deriveId(kind, text);
}
