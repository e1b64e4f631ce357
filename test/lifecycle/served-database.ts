import type { Scope } from '../../src/vocabulary.ts';
import { type PostgresServer, requirePostgres } from '../support/postgres.ts';
import { createShopWithKey } from './shop-with-key.ts';

export interface ServedDatabase {
  readonly database: PostgresServer;
  /** For commands that use the database. */
  readonly env: Record<string, string>;
  /** A key of its only shop. */
  readonly key: string;
}

/** A separate PostgreSQL server with one shop, for command-line processes to serve. */
export async function startServedDatabase(
  variables: Readonly<Record<string, string>> = {},
  ...scopes: readonly Scope[]
): Promise<ServedDatabase> {
  const database = await requirePostgres(['fsync=off']);
  const env = { DATABASE_URL: database.url, ...variables };
  return { database, env, key: await createShopWithKey(env, 'read:plans', ...scopes) };
}
