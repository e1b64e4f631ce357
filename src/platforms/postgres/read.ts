import { type Row, jsonRow } from '../../mapping/rows.ts';
import { columnsOfRecord } from '../../mapping/records.ts';
import { StreamError } from '../errors.ts';
import type { QueryConfig } from 'pg';
import type { Source } from './connection.ts';
import type { Stream } from './streams.ts';

/** A longer row is refused. */
const maxRowBytes = 256 * 1024;
/** Together with the limit of a row, of which two fetches are held, what a stream may take of memory. */
const rowsPerFetch = 250;

/** A cursor's type, and how far back it is read again: rows become visible in another order than they were written. */
interface CursorType {
  readonly name: string;
  readonly overlap: string;
  /** A condition on its values that may be where it stands; others lie ahead of all that will come. */
  readonly isPast: string;
}

const numbers = { overlap: '1000', isPast: "::text ~ '^-?[0-9.]+$'" };
const times = { overlap: "interval '10 minutes'", isPast: ' <= now()' };

/** By the OID of the type. */
const cursorTypes: Readonly<Record<number, CursorType>> = {
  20: { name: 'bigint', ...numbers },
  21: { name: 'bigint', ...numbers },
  23: { name: 'bigint', ...numbers },
  1700: { name: 'numeric', ...numbers },
  1082: { ...times, name: 'date', overlap: '1' },
  1114: { name: 'timestamp', ...times },
  1184: { name: 'timestamptz', ...times },
};

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** A stream's query as a table; a comment at its end does not hide the bracket. */
const tableOf = ({ query }: Stream) => `(${query.replace(/[\s;]+$/, '')}\n) q`;

/*
 * Queries are sent as prepared statements, which can be one statement only: what a query is wrapped in cannot be left.
 */

/**
 * Checks that a query has the columns that its stream needs.
 * @returns the type of its cursor, if it has one
 * @throws PlatformError that names the columns that are missing
 */
export async function checkColumns(
  source: Source,
  stream: Stream,
): Promise<CursorType | undefined> {
  const { name, key, cursor, mapping } = stream;
  const { fields } = await source.query(
    { name: `columns of ${name}`, text: `select * from ${tableOf(stream)} limit 0` },
    name,
  );
  const needed = [...key, ...(cursor === undefined ? [] : [cursor]), ...mappedColumns(mapping)];
  const names = fields.map((field) => field.name);
  const has = new Set(names);
  const doubled = names.find((column, index) => names.indexOf(column) !== index);
  if (doubled !== undefined) {
    throw new StreamError(
      name,
      `its query has several columns ${doubled}; name each once, with AS.`,
    );
  }
  const missing = [...new Set(needed)].filter((column) => !has.has(column));
  if (missing.length > 0) {
    throw new StreamError(
      name,
      `its query has no column ${missing.join(', ')}; it has ${[...has].join(', ')}.`,
    );
  }
  if (cursor === undefined) return undefined;
  const type = cursorTypes[fields.find((field) => field.name === cursor)?.dataTypeID ?? 0];
  if (type) return type;
  throw new StreamError(
    name,
    `the cursor ${cursor} must be a time or a number that grows with every change.`,
  );
}

/** The columns of a row that a mapping reads; a vendor's own forms leave out what is not set. */
function mappedColumns({ vendor, records }: Stream['mapping']): readonly string[] {
  if (vendor !== undefined) return [];
  const columns = records.flatMap((spec) => columnsOfRecord(spec).requiredColumns);
  return columns.map((column) => column.split('.')[0] ?? column);
}

export interface Reading {
  /** The highest value of the cursor that was read. */
  cursor: string | undefined;
  rows: number;
  /** The sum of the rows' hashes, which their order does not change. */
  sum: bigint;
}

const hashOf = (body: string) => `hashtextextended(${body}, 0)`;

/** Reads how many rows a stream has, and the sum of their hashes; the rows stay where they are. */
export async function sumRows(source: Source, stream: Stream): Promise<Reading> {
  const { name } = stream;
  const text = `select count(*) as rows, coalesce(sum(${hashOf('row_to_json(q)::text')}), 0) as sum from ${tableOf(stream)}`;
  const { rows } = await source.query<{ rows: string; sum: string }>(
    { name: `sum of ${name}`, text },
    name,
  );
  return { cursor: undefined, rows: Number(rows[0]?.rows), sum: BigInt(rows[0]?.sum ?? 0) };
}

/**
 * Reads a stream's rows by a cursor of the server, in the order of the stream's cursor.
 * @param since reads only what has this value of the cursor, or nearly, or a higher one
 * @param reading filled while it is read
 */
export async function* readStream(
  source: Source,
  stream: Stream,
  { since, type }: { since: string | undefined; type: CursorType | undefined },
  reading: Reading,
): AsyncGenerator<readonly Row[]> {
  const { cursor, key } = stream;
  const order = [
    ...(cursor === undefined ? [] : [`q.${quoted(cursor)} nulls first`]),
    ...key.map((column) => `q.${quoted(column)}`),
  ];
  const from =
    since === undefined || cursor === undefined || !type
      ? ''
      : `where q.${quoted(cursor)} >= ${literal(since)}::${type.name} - ${type.overlap}`;
  const value = cursor === undefined ? '' : `q.${quoted(cursor)}`;
  const at = type ? `case when ${value}${type.isPast} then ${value}::text end` : 'null';
  // In the order of a cursor, the latest row of a key comes last.
  const keyText = `jsonb_build_array(${key.map((column) => `q.${quoted(column)}`).join(', ')})::text`;
  const text = `declare retention_rows no scroll cursor for
    select at, key, case when octet_length(body) <= ${maxRowBytes} then body end, ${hashOf('body')} from (
      select ${at} as at, ${type ? 'null' : keyText} as key, row_to_json(q)::text as body from ${tableOf(stream)} ${from}
      order by ${order.join(', ')}
    ) r`;
  const { name } = stream;
  await source.query({ name: `rows of ${name}`, text }, name);
  const fetch = () =>
    source.query<[at: string | null, key: string | null, body: string | null, hash: string]>(
      { text: `fetch ${rowsPerFetch} from retention_rows`, rowMode: 'array' } as QueryConfig,
      name,
    );
  let lastKey: string | null = null;
  let next = fetch();
  for (;;) {
    const { rows } = await next;
    if (rows.length === 0) break;
    next = fetch();
    // Awaited in the next round, unless the reader has stopped.
    next.catch(() => {});
    yield rows.map(([stand, id, body, hash]): Row => {
      const line = (reading.rows += 1);
      reading.sum += BigInt(hash);
      if (stand !== null) reading.cursor = stand;
      const isRepeated = id !== null && id === lastKey;
      lastKey = id;
      if (isRepeated)
        return { line, problem: `${key.join(' and ')} is the same as in the row before` };
      if (body === null) return { line, problem: `the row is longer than ${maxRowBytes} bytes` };
      return jsonRow(line, body);
    });
  }
  await source.query({ text: 'close retention_rows' }, name);
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;
