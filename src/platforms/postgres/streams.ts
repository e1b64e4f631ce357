import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { CommandError } from '../../errors.ts';
import { isObject } from '../../json.ts';
import { dependsOnTime, parseMapping, withoutComments } from '../../mapping/read.ts';
import type { Mapping } from '../../mapping/schema.ts';
import { findShippedMapping } from '../../mapping/shipped.ts';
import { ownNumber } from '../../own-number.ts';
import { parseWith } from '../../records/problems.ts';
import { StreamError } from '../errors.ts';
import { type RecordType, recordTypes } from '../../records/records.ts';
import { type Gone, goneWords } from '../../store/records/sightings.ts';
import { commit, version } from '../../version.ts';

const column = z.string().min(1).max(63);

const members = {
  name: z.string().regex(/^[\w-]{1,60}$/, { error: 'must be 1 to 60 letters, digits, - and _' }),
  query: z.union([z.string().trim().min(1).max(100_000), z.array(z.string()).min(1).max(1000)], {
    error: 'must be a SELECT, or the list of its lines',
  }),
  mapping: z.union([z.string().min(1), z.record(z.string(), z.unknown())], {
    error: 'must be the name of a mapping, or a mapping',
  }),
  types: z.array(z.enum(recordTypes)).min(1).optional(),
  key: z.array(column).min(1).max(5),
  cursor: column.optional(),
  every: z
    .string()
    .regex(/^[1-9]\d{0,4}[smhd]$/, { error: 'must be a time such as 30s, 15m, 6h or 1d' })
    .optional(),
  complete: z.boolean().optional(),
  gone: z.enum(goneWords).optional(),
};

const stream = z.strictObject(members, {
  error: ({ code, keys }: { code: string; keys?: readonly string[] }) =>
    code === 'unrecognized_keys'
      ? `has unknown members: ${keys?.join(', ')}; the known ones are ${Object.keys(members).join(', ')}`
      : undefined,
});

const streams = z.array(stream).min(1).max(50);

/** As in the credentials of a shop. */
export type StreamSpec = z.infer<typeof stream>;

/** A query of a shop's, and how its rows become records. */
export interface Stream {
  readonly name: string;
  readonly query: string;
  readonly mapping: Mapping;
  /** The types of records that its rows make. */
  readonly types: readonly RecordType[];
  /** The columns that identify a row, and order those with the same cursor. */
  readonly key: readonly string[];
  /** The column that grows whenever a row changes. */
  readonly cursor: string | undefined;
  /** How often it is read; undefined means whenever the shop is synced, or hourly without a cursor. */
  readonly everySeconds: number | undefined;
  /** Whether its rows are everything of these types. */
  readonly isComplete: boolean;
  readonly gone: Gone;
  /** What its records follow from, beside its rows; undefined if time is a part of it. */
  readonly recipe: number | undefined;
  /** Whether its subscriptions have no prices. */
  readonly isUnpriced: boolean;
}

/** What is wrong with a list of streams, in sentences about it. */
export function problemsOfStreams(value: unknown): readonly string[] {
  const parsed = parseWith(streams, value);
  if ('problems' in parsed) return [...parsed.problems].map((each) => each.replace(/^(?!\[)/, ' '));
  const index = parsed.data.findIndex(({ gone, complete }) => gone !== undefined && !complete);
  if (index !== -1) return [`[${index}].gone is for streams that are complete`];
  const names = parsed.data.map(({ name }) => name);
  const repeated = names.find((name, at) => names.indexOf(name) !== at);
  return repeated === undefined ? [] : [` has two streams ${repeated}`];
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/**
 * The streams with their mappings.
 * @throws StreamError for a mapping that does not exist, or that contradicts another stream
 * @throws UsageError for one that is not valid
 */
export async function openStreams(specs: readonly StreamSpec[]): Promise<readonly Stream[]> {
  const opened = await Promise.all(specs.map(openStream));
  const ofComplete = new Map(
    opened
      .filter(({ isComplete }) => isComplete)
      .flatMap(({ name, types }) => types.map((type) => [type, name] as const)),
  );
  for (const { name, types } of opened.filter(({ isComplete }) => !isComplete)) {
    const type = types.find((each) => ofComplete.has(each));
    if (type === undefined) continue;
    throw new StreamError(
      name,
      `it makes ${type}s, of which stream ${ofComplete.get(type)} is to have everything; make both complete, or neither.`,
    );
  }
  return opened;
}

async function openStream(spec: StreamSpec): Promise<Stream> {
  const {
    name,
    types = recordTypes,
    key,
    cursor,
    every,
    complete = false,
    gone = 'cancelled',
  } = spec;
  const query = [spec.query].flat().join('\n');
  const whole =
    typeof spec.mapping === 'string'
      ? await findShippedMapping(spec.mapping)
      : parseMapping(`The mapping of stream ${name}`, JSON.stringify(spec.mapping));
  if (!whole) {
    throw new StreamError(
      name,
      `there is no mapping ${JSON.stringify(spec.mapping)} in the folder mappings/.`,
    );
  }
  const mapping = { ...whole, records: whole.records.filter(({ type }) => types.includes(type)) };
  if (mapping.records.length === 0) {
    throw new StreamError(name, `its mapping makes no ${types.join(', no ')}.`);
  }
  return {
    name,
    query,
    mapping,
    types: [...new Set(mapping.records.map(({ type }) => type))],
    key,
    cursor,
    everySeconds:
      every === undefined
        ? undefined
        : Number(every.slice(0, -1)) * (unitSeconds[every.slice(-1)] ?? 1),
    isComplete: complete,
    gone,
    recipe: dependsOnTime(mapping)
      ? undefined
      : ownNumber(JSON.stringify([version, commit, query, key, mapping])),
    isUnpriced: mapping.records.some(
      (each) =>
        each.type === 'subscription' && Number(each.lines.fields['currentPrice']?.value) === 0,
    ),
  };
}

/** Replaces the paths of mapping files in credentials by what is in the files. */
export async function readMappingFiles(
  given: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const { streams: all } = given;
  if (!Array.isArray(all)) return given;
  return { ...given, streams: await Promise.all(all.map(withMapping)) };
}

async function withMapping(given: unknown): Promise<unknown> {
  const path = isObject(given) ? given['mapping'] : undefined;
  if (typeof path !== 'string' || (await findShippedMapping(path))) return given;
  const text = await readFile(path, 'utf8').catch(() => {
    throw new CommandError(
      `The mapping ${JSON.stringify(path)} is neither the name of one in the folder mappings/ nor a file.`,
    );
  });
  parseMapping(path, text);
  return { ...(given as object), mapping: JSON.parse(withoutComments(text)) };
}
