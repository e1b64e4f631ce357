import { readdir, readFile } from 'node:fs/promises';
import type { Sql, Transaction } from './database.ts';

const folder = new URL('../../migrations/', import.meta.url);

/** Any number; the same in every version, so that all migrating processes wait for each other. */
const lockId = 7_370_110_274;

interface Migration {
  readonly version: number;
  readonly name: string;
}

/**
 * Brings the schema up to date: each migration in one transaction, under a lock, so that several
 * processes may start at once.
 * @param sql a connection that can write
 * @returns the names of the migrations that were applied now
 */
export async function migrate(sql: Sql): Promise<string[]> {
  const applied: string[] = [];
  for (const migration of await listMigrations()) {
    const text = await readFile(new URL(migration.name, folder), 'utf8');
    const isNew = await sql.begin(async (tx) => {
      await lockMigrations(tx);
      await tx`
        create table if not exists schema_migrations (
          version integer primary key, name text not null, applied_at timestamptz not null)`;
      const [done] = await tx`
        select from schema_migrations where version = ${migration.version}`;
      if (done) return false;
      await tx.script(text);
      await tx`
        insert into schema_migrations (version, name, applied_at)
        values (${migration.version}, ${migration.name}, now())`;
      return true;
    });
    if (isNew) applied.push(migration.name);
  }
  return applied;
}

/** Holds every process that changes the schema or who may use it, until the transaction ends. */
export async function lockMigrations(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(${lockId})`;
}

/** Names of the migrations that this program knows and the database lacks. */
export async function listMissingMigrations(sql: Sql): Promise<string[]> {
  const [table] = await sql<{ exists: boolean }[]>`
    select to_regclass('schema_migrations') is not null as exists`;
  const done = table?.exists
    ? await sql<{ version: number }[]>`select version from schema_migrations`
    : [];
  const versions = new Set(done.map((row) => row.version));
  return (await listMigrations())
    .filter((migration) => !versions.has(migration.version))
    .map((migration) => migration.name);
}

async function listMigrations(): Promise<Migration[]> {
  const names = await readdir(folder);
  return names
    .filter((name) => /^\d{4}_.*\.sql$/.test(name))
    .toSorted()
    .map((name) => ({ version: Number(name.slice(0, 4)), name }));
}
