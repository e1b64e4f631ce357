import type { Sql } from '../database.ts';

/** The database interface of the job library. */
interface JobDatabase {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: object[] }>;
}

/** Adapts the connections for jobs to the job library. */
export function jobDatabase(sql: Sql): JobDatabase {
  return {
    async executeSql(text, values = []) {
      // Some texts are scripts with a transaction of several statements.
      if (values.length === 0) return { rows: await sql.script(text) };
      return { rows: [...(await sql.unsafe<object[]>(text, values.map(valueOf)))] };
    },
  };
}

function valueOf(value: unknown): string | number | boolean | Date | null {
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) return arrayLiteral(value);
  if (typeof value === 'object' && !(value instanceof Date)) return JSON.stringify(value);
  return value as string | number | boolean | Date;
}

function arrayLiteral(values: readonly unknown[]): string {
  const items = values.map((value) => {
    if (value === null || value === undefined) return 'null';
    return Array.isArray(value) ? arrayLiteral(value) : JSON.stringify(String(value));
  });
  return `{${items.join(',')}}`;
}
