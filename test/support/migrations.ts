import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Sql, Transaction } from '../../src/store/database.ts';

const folder = new URL('../../migrations/from-1.0.0/', import.meta.url);

/** The SQL of a migration that takes a database of version 1.0.0 to the first version. */
export const migrationText = (name: string) => readFileSync(new URL(name, folder), 'utf8');

/** How version 1.0.0 numbered its migrations, up to 45. */
const releasedVersions = Array.from({ length: 45 }, (_, index) => index + 1).filter(
  (version) => ![25, 26, 28, 34].includes(version),
);

/** Gives an empty database the schema that version 1.0.0 leaves. */
export async function createReleasedSchema(sql: Sql): Promise<void> {
  const schema = readFileSync(new URL('../released/schema-1.0.0.sql', import.meta.url), 'utf8');
  await sql.begin(async (tx) => {
    // They use what comes after them.
    await tx`set local check_function_bodies = off`;
    await tx.script(schema);
    for (const version of releasedVersions) await recordMigration(tx, version);
  });
}

/** Records a migration as applied. */
export async function recordMigration(sql: Sql | Transaction, version: number): Promise<void> {
  await sql`insert into schema_migrations values (${version}, ${`migration ${version}`}, now())`;
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
