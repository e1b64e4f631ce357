/*
 * SQL expressions that write a row as the text of a JSON object. For the database that is no more
 * work than sending the columns one by one; for the service it is far less: of a page of 50 rows,
 * taking 450 values apart and writing them again cost more than all the rest of the request.
 */
import type { Query } from '../connections/query.ts';
import { type Sql, answerOf } from '../database.ts';

/** SQL for the text of one JSON value; null where the value is null. */
type JsonSql = string;

export const integer = (column: string): JsonSql => column;

/** The shortest digits of an exact decimal. */
export const decimal = (column: string): JsonSql => `trim_scale(${column})`;

export const boolean = (column: string): JsonSql => `${column}::text`;

/** A word of the vocabulary, in which there is nothing to escape. */
export const word = (column: string): JsonSql => `'"' || ${column} || '"'`;

/** Any text. */
export const text = (column: string): JsonSql => `to_json(${column})::text`;

/** ISO 8601, UTC, milliseconds. */
export const instant = (column: string): JsonSql =>
  `to_char(${column} at time zone 'UTC', '\\"YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\\"')`;

export const nullable = (value: JsonSql): JsonSql => `coalesce(${value}, 'null')`;

/** An array of the values that a subquery's one column `json` gives, in their order. */
export const array = (subquery: string): JsonSql =>
  `'[' || coalesce((select string_agg(json, ',') from (${subquery}) items), '') || ']'`;

/** @param members none of them null, unless marked as nullable: else the whole would be */
export function object(members: Readonly<Record<string, JsonSql>>): JsonSql {
  const pairs = Object.entries(members).map(([name, value]) => `"${name}":' || ${value}`);
  return `'{${pairs.join(` || ',`)} || '}'`;
}

/** Rows as JSON texts, a line each: no JSON text holds a line break. */
export interface JsonLines {
  readonly lines: string;
  readonly count: number;
}

/** Such lines as the text of one JSON array. */
export function jsonArrayOf(lines: string): string {
  return `[${lines.replaceAll('\n', ',')}]`;
}

const none: JsonLines = { lines: '', count: 0 };

/**
 * The rows of a subquery. One long value is less work to receive than many short ones.
 * @param rows its one column is `json`
 */
export async function linesOf(sql: Sql, rows: Query<readonly object[]>): Promise<JsonLines> {
  const [found = none] = await answerOf(sql<JsonLines[]>`
    select coalesce(string_agg(json, chr(10)), '') as lines, count(*) from (${rows}) found`);
  return found;
}
