import { createUnloggedKey } from '../../src/access/keys/create-key.ts';
import { openStore } from '../../src/store/open.ts';
import { insertShop } from '../../src/store/shops.ts';
import type { Scope } from '../../src/vocabulary.ts';

/**
 * Creates shop 1, on a tier without rate limits, and a key for it. Not by commands: each would open the
 * embedded database, which takes longer than what the tests are about.
 * @param env says which database, as for a command
 */
export async function createShopWithKey(
  env: Readonly<Record<string, string>>,
  ...scopes: readonly Scope[]
): Promise<string> {
  const { DATABASE_URL: databaseUrl, RETENTION_DATA_DIR: dataDir = '' } = env;
  const store = await openStore({ databaseUrl, dataDir, role: 'command' });
  try {
    const createdAt = new Date();
    const shop = { id: 1, name: 'x', currency: 'USD', tier: 'enterprise_plus', createdAt } as const;
    await insertShop(store.write, shop);
    const key = { name: 'k', scopes, createdBy: 'test', createdAt };
    return (await createUnloggedKey(store.write, shop.id, key)).key;
  } finally {
    await store.close();
  }
}
