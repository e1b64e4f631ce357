import { createUnloggedKey } from '../../src/access/keys/keys.ts';
import type { Sql } from '../../src/store/database.ts';
import { openStore } from '../../src/store/open.ts';
import { insertShop } from '../../src/store/shops.ts';
import type { Scope } from '../../src/vocabulary.ts';

type Environment = Readonly<Record<string, string>>;

const shop = { id: 1, name: 'x', currency: 'USD' } as const;

/** Prepares the database of a command's environment. Commands would each open the embedded one. */
export async function inDatabase<T>(env: Environment, work: (sql: Sql) => Promise<T>): Promise<T> {
  const { DATABASE_URL: databaseUrl, RETENTION_DATA_DIR: dataDir = '' } = env;
  const store = await openStore({ databaseUrl, dataDir, role: 'command' });
  try {
    return await work(store.write);
  } finally {
    await store.close();
  }
}

/** Creates shop 1, on a tier without rate limits, and a key for it. */
export function createShopWithKey(env: Environment, ...scopes: readonly Scope[]): Promise<string> {
  return inDatabase(env, async (sql) => {
    const createdAt = new Date();
    await insertShop(sql, { ...shop, tier: 'enterprise_plus', createdAt });
    const request = { name: 'k', scopes, createdBy: 'test', createdAt };
    return (await createUnloggedKey(sql, shop.id, request)).key;
  });
}
