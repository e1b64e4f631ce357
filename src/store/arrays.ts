import type { Query } from './connections/query.ts';
import { type Sql, type Transaction, arrayText } from './database.ts';

/** Columns of new rows: the fields they come from, with their types in SQL, in order. */
export type Columns<Row> = Readonly<Partial<Record<keyof Row, string>>>;

/**
 * Rows as a table of a statement, an array for each column: PostgreSQL reads that in a fraction of the time of
 * rows as JSON. In the select list, as it would first write each column of a function in `from` to a table.
 * @param alias of the table; its columns have the names of the fields
 */
export function unnest<Row extends object>(
  sql: Sql | Transaction,
  alias: string,
  columns: Columns<Row>,
  rows: readonly Row[],
): Query<Record<string, unknown>[]> {
  const list = (Object.entries(columns) as [keyof Row & string, string][])
    .map(([field, type]) => {
      const elements = rows.map((row) => row[field]);
      return sql`unnest(${arrayOf(sql, type, elements)}) as ${sql.id(field)}`;
    })
    .reduce((before, column) => sql`${before}, ${column}`);
  return sql`(select ${list}) ${sql.id(alias)}`;
}

function arrayOf(
  sql: Sql | Transaction,
  type: string,
  elements: readonly unknown[],
): Query<Record<string, unknown>[]> {
  const bytes = binaryArray(type, elements);
  if (bytes) return sql`${bytes}::${sql.id(type)}[]`;
  const elementText = type === 'jsonb' ? quotedJson : String;
  const texts = elements.map((element) => (element == null ? 'NULL' : elementText(element)));
  return sql`${arrayText(texts)}::text::${sql.id(type)}[]`;
}

/** As an element of the text of a PostgreSQL array. */
function quotedJson(value: unknown): string {
  return `"${JSON.stringify(value).replace(/["\\]/g, '\\$&')}"`;
}

/** How the elements of an array of one type are sent. */
interface ElementType {
  readonly oid: number;
  /** The most bytes that an element takes. */
  maxBytes(element: unknown): number;
  /** @returns the number of bytes written */
  write(bytes: Buffer, element: never, at: number): number;
}

const byHalves = 2 ** 32;
/** PostgreSQL counts microseconds from 2000. */
const postgresEpoch = Date.UTC(2000, 0, 1);

/** https://www.postgresql.org/docs/18/protocol-overview.html#PROTOCOL-FORMAT-CODES */
const elementTypes: Readonly<Record<string, ElementType>> = {
  bigint: fixed(20, 8, (bytes, element: number, at) => {
    bytes.writeInt32BE(Math.floor(element / byHalves), at);
    bytes.writeInt32BE(element | 0, at + 4);
  }),
  int: fixed(23, 4, (bytes, element: number, at) => void bytes.writeInt32BE(element, at)),
  smallint: fixed(21, 2, (bytes, element: number, at) => void bytes.writeInt16BE(element, at)),
  timestamptz: fixed(
    1184,
    8,
    (bytes, element: number, at) =>
      void bytes.writeBigInt64BE(BigInt(element - postgresEpoch) * 1000n, at),
  ),
  uuid: fixed(
    2950,
    16,
    (bytes, element: string, at) => void bytes.write(element.replaceAll('-', ''), at, 'hex'),
  ),
  text: {
    oid: 25,
    maxBytes: (element) => 3 * String(element).length,
    write: (bytes, element, at) => bytes.write(element, at),
  },
};

function fixed<Element>(
  oid: number,
  size: number,
  writeElement: (bytes: Buffer, element: Element, at: number) => void,
): ElementType {
  return {
    oid,
    maxBytes: () => size,
    write(bytes, element, at) {
      writeElement(bytes, element, at);
      return size;
    },
  };
}

/**
 * An array in PostgreSQL's binary form, which it reads in a fifth of the time that it takes for text.
 * @returns undefined if the type is sent as text
 */
export function binaryArray(type: string, elements: readonly unknown[]): Buffer | undefined {
  const elementType = elementTypes[type];
  if (!elementType) return undefined;
  const { oid } = elementType;
  let size = 20;
  for (const element of elements) size += 4 + (element == null ? 0 : elementType.maxBytes(element));
  const bytes = Buffer.allocUnsafe(size);
  // One dimension, whose elements are counted from 1; an empty array has none.
  const header = elements.length === 0 ? [0, 0, oid] : [1, 0, oid, elements.length, 1];
  let at = 0;
  for (const word of header) at = bytes.writeInt32BE(word, at);
  for (const element of elements) {
    const length = element == null ? -1 : elementType.write(bytes, element as never, at + 4);
    bytes.writeInt32BE(length, at);
    at += 4 + Math.max(length, 0);
  }
  return bytes.subarray(0, at);
}
