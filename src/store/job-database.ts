import type { Sql } from './database.ts';

/** What the job library asks of a database. */
interface JobDatabase {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: object[] }>;
}

/** The jobs' own connections as the job library wants them. */
export function jobDatabase(sql: Sql): JobDatabase {
  return {
    async executeSql(text, values = []) {
      if (values.length > 0) {
        // Without its catalogue of types the driver cannot write arrays.
        const ready = values.map((value) => (Array.isArray(value) ? arrayLiteral(value) : value));
        return { rows: [...(await sql.unsafe<object[]>(text, ready as never[]))] };
      }
      return { rows: await runScript(sql, text) };
    },
  };
}

/** Some are transactions of several statements, which need a connection to themselves. */
async function runScript(sql: Sql, text: string): Promise<object[]> {
  if (!/^\s*begin\b/i.test(text)) return rowsOf(await sql.unsafe(text).simple());
  const connection = await sql.reserve();
  try {
    return rowsOf(await connection.unsafe(text).simple());
  } catch (error) {
    // What failed has left its transaction open.
    await connection`rollback`.catch(() => {});
    throw error;
  } finally {
    connection.release();
  }
}

/** Several statements give a list of lists. */
function rowsOf(result: readonly unknown[]): object[] {
  return result.flat() as object[];
}

function arrayLiteral(values: readonly unknown[]): string {
  const items = values.map((value) => {
    if (value === null || value === undefined) return 'null';
    return Array.isArray(value) ? arrayLiteral(value) : JSON.stringify(String(value));
  });
  return `{${items.join(',')}}`;
}
