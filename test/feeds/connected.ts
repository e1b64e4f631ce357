import { randomBytes } from 'node:crypto';
import { after, before } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Store, connectAll } from '../../src/store/open.ts';
import { launch, run } from '../cli/process.ts';
import { serverUrl } from '../support/databases.ts';
import { type OwnDatabase, createServerDatabase } from '../support/own-databases.ts';
import { kills } from '../support/seed.ts';
import { until } from '../support/until.ts';
import { createShop } from '../support/world.ts';
import { recordsOf, valuesOf } from './stripe/synced.ts';

/** Why such suites cannot run. */
export const skip = serverUrl === undefined && 'PostgreSQL is not available on this machine';

/** For a suite: the commands that connect shops to a platform and keep them in sync, in a database of their own. */
export function connectedShops(platform: string) {
  let database: OwnDatabase;
  let store: Store;
  const env: Record<string, string> = {};
  before(async () => {
    database = await createServerDatabase();
    env['DATABASE_URL'] = database.target;
    env['CREDENTIALS_KEY'] = randomBytes(32).toString('base64');
    store = connectAll(database.target);
  });
  after(async () => {
    await store.close();
    await database.drop();
  });
  const of = (shop: number) => [platform, '--shop', String(shop)];
  return {
    env,
    get store() {
      return store;
    },
    /** A shop for a test, whose account is there. */
    async newShop(baseUrl: string) {
      env[`${platform.toUpperCase()}_API_URL`] = baseUrl;
      return (await createShop(store)).id;
    },
    connect: (shop: number, credentials: object, ...options: string[]) =>
      run(['platforms', 'connect', ...of(shop), ...options], {
        env,
        input: JSON.stringify(credentials),
      }),
    disconnect: (shop: number) => run(['platforms', 'disconnect', ...of(shop)], { env }),
    sync: (shop: number, ...options: string[]) =>
      run(['sync', ...of(shop), '--once', ...options], { env }),
    /**
     * Kills syncs: each at another one of the first requests, every other one a little later, when what it brought is
     * being stored.
     * @param asked what the platform was asked
     * @returns whether any of them was still running
     */
    async killSyncs(shop: number, asked: readonly unknown[], requests: number): Promise<boolean> {
      let isKilled = false;
      for (let number = 1; number <= kills; number += 1) {
        const running = launch(['sync', ...of(shop), '--once'], { env });
        const sent = asked.length;
        const next = Math.ceil((number * requests) / kills);
        await until(
          async () => asked.length - sent >= next,
          (isThere) => isThere || running.child.exitCode !== null,
        );
        if (number % 2 === 0) await sleep(40);
        running.child.kill('SIGKILL');
        isKilled ||= (await running.ended).signal === 'SIGKILL';
      }
      return isKilled;
    },
    /** What a shop has, and what its subscriptions were worth, without the times at which it was read. */
    async records(shop: number) {
      const values = await valuesOf(store, shop);
      const past = values.map((all) => all.map((each) => each.replace(/^\S+ /, '')));
      return { ...(await recordsOf(store, shop, new Date())), past };
    },
  };
}
