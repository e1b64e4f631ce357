import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import type { Sql } from '../../src/store/database.ts';

const folder = new URL('../../migrations/', import.meta.url);

export const migrationText = (name: string) => readFileSync(new URL(name, folder), 'utf8');

/** Migrates an empty database to the schema just before a migration. */
export async function migrateBefore(sql: Sql, name: string): Promise<void> {
  await sql`
    create table schema_migrations (
      version integer primary key, name text not null, applied_at timestamptz not null)`;
  for (const each of readdirSync(folder).toSorted()) {
    if (each >= name) return;
    await sql.begin(async (tx) => {
      await tx.script(migrationText(each));
      await tx`insert into schema_migrations values (${Number(each.slice(0, 4))}, ${each}, now())`;
    });
  }
}

/** Runs a migration's SQL, lets others read before it is committed, and takes it back. */
export async function readWhileMigrating(
  sql: Sql,
  migration: string,
  read: () => Promise<unknown>,
): Promise<void> {
  const rollback = new Error('taken back');
  const migrating = sql.begin(async (tx) => {
    await tx.script(migration);
    await read();
    throw rollback;
  });
  await assert.rejects(migrating, rollback);
}
