import { randomBytes } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe } from 'node:test';
import { type Store, connectAll } from '../../../src/store/open.ts';
import { serverUrl } from '../../support/databases.ts';
import { type OwnDatabase, createServerDatabase } from '../../support/own-databases.ts';
import { type Source, createSource } from './source.ts';

/** What a test has: the service's database, which all share, and a merchant's of its own. */
export interface Merchant {
  store: Store;
  /** For commands of the service. */
  env: Readonly<Record<string, string>>;
  source: Source;
}

/** @param define the tests; what they are given is filled while they run */
export function onMerchant(title: string, define: (at: Merchant) => void): void {
  const skip = serverUrl === undefined && 'PostgreSQL is not available on this machine';
  describe(title, { skip }, () => {
    const at = {} as Merchant;
    let database: OwnDatabase;
    before(async () => {
      database = await createServerDatabase();
      at.store = connectAll(database.target);
      at.env = {
        DATABASE_URL: database.target,
        CREDENTIALS_KEY: randomBytes(32).toString('base64'),
        SOURCE_NETWORKS: '127.0.0.0/8,::1',
      };
    });
    after(async () => {
      await at.store.close();
      await database.drop();
    });
    beforeEach(async () => {
      at.source = await createSource();
    });
    afterEach(() => at.source.remove());
    define(at);
  });
}
