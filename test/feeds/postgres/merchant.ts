import { randomBytes } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe } from 'node:test';
import { migrate } from '../../../src/store/migrate.ts';
import { type Store, connectAll } from '../../../src/store/open.ts';
import { places } from '../../support/empty-database.ts';
import { type Source, createSource } from './source.ts';

const [, createPlace] = places[1];

/** What a test has: the service's database, which all share, and a merchant's of its own. */
export interface Merchant {
  store: Store;
  /** For commands of the service. */
  env: Readonly<Record<string, string>>;
  source: Source;
}

/** @param define the tests; what they are given is filled while they run */
export function onMerchant(title: string, define: (at: Merchant) => void): void {
  const skip = !createPlace && 'PostgreSQL is not available on this machine';
  describe(title, { skip }, () => {
    const at = {} as Merchant;
    const place = createPlace?.();
    before(async () => {
      const target = (await place?.target()) ?? '';
      at.store = { ...connectAll(target), failed: new Promise(() => {}) };
      await migrate(at.store.write);
      at.env = {
        DATABASE_URL: target,
        CREDENTIALS_KEY: randomBytes(32).toString('base64'),
        SOURCE_NETWORKS: '127.0.0.0/8,::1',
      };
    });
    after(async () => {
      await at.store.close();
      await place?.remove();
    });
    beforeEach(async () => {
      at.source = await createSource();
    });
    afterEach(() => at.source.remove());
    define(at);
  });
}
