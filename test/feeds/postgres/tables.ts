import type { Source } from './source.ts';

/** Tables as their makers publish them: the columns of each type, by name. */
export type Tables = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Creates tables and fills them with rows, whose other columns are empty. */
export async function createTablesOf(
  { owner, reader }: Source,
  schema: string,
  tables: Tables,
  rows: Readonly<Record<string, readonly object[]>>,
): Promise<void> {
  await owner.script(
    `create schema if not exists ${schema}; grant usage on schema ${schema} to ${reader}`,
  );
  for (const [name, columns] of Object.entries(tables)) {
    const list = Object.entries(columns).flatMap(([type, names]) =>
      names
        .split(/\s+/)
        .filter(Boolean)
        .map((column) => `"${column}" ${type}`),
    );
    const table = `${schema}."${name}"`;
    const json = JSON.stringify(rows[name] ?? []).replaceAll("'", "''");
    await owner.script(`
      create table ${table} (${list.join(', ')});
      insert into ${table} select * from jsonb_populate_recordset(null::${table}, '${json}');
      grant select on ${table} to ${reader}`);
  }
}
