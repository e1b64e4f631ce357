import assert from 'node:assert/strict';
import { createShopWithKey } from '../cli/process.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';

export interface ServedDatabase {
  readonly database: PostgresServer;
  /** For commands that use it. */
  readonly env: Record<string, string>;
  /** Of its only shop. */
  readonly key: string;
}

/** A PostgreSQL server of its own with one shop, for processes of the command line to serve. */
export async function startServedDatabase(
  variables: Readonly<Record<string, string>> = {},
  scopes = 'read:plans',
): Promise<ServedDatabase> {
  const database = await startPostgres(['fsync=off']);
  assert.ok(database);
  const env = { DATABASE_URL: database.url, ...variables };
  return { database, env, key: await createShopWithKey(env, scopes) };
}
