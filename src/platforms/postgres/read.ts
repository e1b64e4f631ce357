import type { Client } from 'pg';
import { type Row, jsonRow } from '../../mapping/rows.ts';
import { columnsOf, createMakers } from '../../mapping/open.ts';
import { PlatformError } from '../errors.ts';
import type { Stream } from './streams.ts';

/** A longer row is refused. */
const maxRowBytes = 256 * 1024;
/** Together with the limit of a row, of which two fetches are held, what a stream may take of memory. */
const rowsPerFetch = 250;

/** A cursor's type, and how far back it is read again: rows become visible in another order than they were written. */
interface CursorType {
  readonly name: string;
  readonly overlap: string;
}

const [numbers, times] = [{ overlap: '1000' }, { overlap: "interval '10 minutes'" }];

/** By the OID of the type. */
const cursorTypes: Readonly<Record<number, CursorType>> = {
  20: { name: 'bigint', ...numbers },
  21: { name: 'bigint', ...numbers },
  23: { name: 'bigint', ...numbers },
  1700: { name: 'numeric', ...numbers },
  1082: { name: 'date', overlap: '1' },
  1114: { name: 'timestamp', ...times },
  1184: { name: 'timestamptz', ...times },
};

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** A stream's query as a table; a comment at its end does not hide the bracket. */
const tableOf = ({ query }: Stream) => `(${query.replace(/[\s;]+$/, '')}\n) q`;

/*
 * Queries are sent as prepared statements, which can be one statement only: what a query is wrapped in cannot be left.
 */

/** Names the stream in what the server says of its query. */
function named(stream: Stream) {
  return (error: unknown) => {
    if (error instanceof Error) error.message = `stream ${stream.name}: ${error.message}`;
    throw error;
  };
}

/**
 * Checks that a query has the columns that its stream needs.
 * @returns the type of its cursor, if it has one
 * @throws PlatformError that names the columns that are missing
 */
export async function checkColumns(
  client: Client,
  stream: Stream,
  currency: string,
): Promise<CursorType | undefined> {
  const { name, key, cursor, mapping } = stream;
  const { fields } = await client
    .query({ name: `columns of ${name}`, text: `select * from ${tableOf(stream)} limit 0` })
    .catch(named(stream));
  const has = new Set(fields.map((field) => field.name));
  const needed = [
    ...key,
    ...(cursor === undefined ? [] : [cursor]),
    ...mappedColumns(mapping, currency),
  ];
  const missing = [...new Set(needed)].filter((column) => !has.has(column));
  if (missing.length > 0) {
    throw new PlatformError(
      'refused',
      `stream ${name}: its query has no column ${missing.join(', ')}; it has ${[...has].join(', ')}.`,
    );
  }
  if (cursor === undefined) return undefined;
  const type = cursorTypes[fields.find((field) => field.name === cursor)?.dataTypeID ?? 0];
  if (type) return type;
  throw new PlatformError(
    'refused',
    `stream ${name}: the cursor ${cursor} must be a time or a number that grows with every change.`,
  );
}

/** The columns of a row that a mapping reads; a vendor's own forms leave out what is not set. */
function mappedColumns(mapping: Stream['mapping'], currency: string): readonly string[] {
  if (mapping.vendor !== undefined) return [];
  const clock = { now: () => 0, monotonic: () => 0 };
  const makers = createMakers(mapping, { shop: { id: 0, currency, minorDigits: 2 }, clock });
  return columnsOf(makers).required.map((column) => column.split('.')[0] ?? column);
}

export interface Reading {
  /** The highest value of the cursor that was read. */
  cursor: string | undefined;
  rows: number;
}

/**
 * Reads a stream's rows by a cursor of the server, in the order of the stream's cursor.
 * @param since reads only what has this value of the cursor, or nearly, or a higher one
 * @param reading filled while it is read
 */
export async function* readStream(
  client: Client,
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
  const at = cursor === undefined ? 'null' : `q.${quoted(cursor)}::text`;
  const text = `declare retention_rows no scroll cursor for
    select at, case when octet_length(body) <= ${maxRowBytes} then body end from (
      select ${at} as at, row_to_json(q)::text as body from ${tableOf(stream)} ${from}
      order by ${order.join(', ')}
    ) r`;
  await client.query({ name: `rows of ${stream.name}`, text }).catch(named(stream));
  const fetch = () =>
    client
      .query<[string | null, string | null]>({
        text: `fetch ${rowsPerFetch} from retention_rows`,
        rowMode: 'array',
      })
      .catch(named(stream));
  let next = fetch();
  for (;;) {
    const { rows } = await next;
    if (rows.length === 0) break;
    next = fetch();
    // Awaited in the next round, unless the reader has stopped.
    next.catch(() => {});
    yield rows.map(([value, body]): Row => {
      reading.rows += 1;
      if (value !== null) reading.cursor = value;
      return body === null
        ? { line: reading.rows, problem: `the row is longer than ${maxRowBytes} bytes` }
        : jsonRow(reading.rows, body);
    });
  }
  await client.query(`close retention_rows`);
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;
