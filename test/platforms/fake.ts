import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { FixedClock } from '../../src/clock.ts';
import { createLog } from '../../src/log/log.ts';
import { createConnections } from '../../src/platforms/open.ts';
import type {
  ConnectedShop,
  Platform,
  PlatformCode,
  SyncReport,
} from '../../src/platforms/platform.ts';
import { CredentialsRefused, PlatformError } from '../../src/platforms/errors.ts';
import type { Backoff } from '../../src/platforms/backoff.ts';
import { syncUntilIdle } from '../../src/platforms/sync/scheduler.ts';
import type { Store } from '../../src/store/open.ts';
import { findSyncState } from '../../src/store/feeds/platforms.ts';
import { ShopLocks } from '../../src/store/locks.ts';
import { throwawayFolder } from '../cli/process.ts';
import { serverUrl } from '../support/databases.ts';
import { createShop, now } from '../support/world.ts';
import { stub } from './stub.ts';

export const intervalSeconds = 120;
export const interval = intervalSeconds * 1000;
export const hour = 3_600_000;

const report: SyncReport = { kind: 'changes', read: {}, written: 0, refused: 0, deleted: 0 };

/** What happens when a shop is synced; by default it succeeds. @param signal the connection's */
type Behaviour = (signal: AbortSignal) => Promise<void>;

export const fail = async () => {
  throw new PlatformError('unavailable', 'The platform is down.');
};
export const refuse = async () => {
  throw new CredentialsRefused('The platform does not accept the token.');
};

/** A fake platform with some shops; `one` is the first. */
export async function begin(store: Store, database: string, count: number) {
  const fake = new FakePlatform(store, database === 'embedded' ? throwawayFolder() : undefined);
  const shops: number[] = [];
  for (let each = 0; each < count; each += 1) shops.push(await fake.addShop());
  return { fake, shops, one: shops[0] as number };
}

/** A platform of its own, whose syncs do what a test says, and processes that sync its shops. */
export class FakePlatform {
  readonly platform: Platform = { ...stub, name: `fake-${randomInt(2 ** 40)}` };
  readonly clock = new FixedClock(now);
  /** The shops that were synced, in order; those that failed too. */
  readonly synced: number[] = [];
  readonly behaviours = new Map<number, Behaviour>();
  readonly backoff = new Map<number, string>();
  readonly connected: ConnectedShop[] = [];
  /** Called whenever a process looks for shops that are due. */
  whenListed = () => {};
  /** Called whenever a process waits for syncs that are running. */
  whenWaiting = () => {};
  readonly #store: Store;
  readonly #dataDir: string;

  /** @param dataDir undefined if the store is a server */
  constructor(store: Store, dataDir: string | undefined) {
    this.#store = store;
    this.#dataDir = dataDir ?? '';
  }

  async addShop(): Promise<number> {
    const { id } = await createShop(this.#store);
    this.connect(id);
    return id;
  }

  /** @param version of its credentials */
  connect(shop: number, version = '1', origin: ConnectedShop['origin'] = 'file'): void {
    const at = this.connected.findIndex((each) => each.shop === shop);
    this.connected.splice(at === -1 ? this.connected.length : at, 1, {
      shop,
      account: `account-${shop}`,
      baseUrl: undefined,
      origin,
      version,
      credentials: { read: async () => ({ shop }), renew: async () => ({ shop }) },
    });
  }

  countOf(shop: number): number {
    return this.synced.filter((each) => each === shop).length;
  }

  stateOf(shop: number) {
    return findSyncState(this.#store.write, shop, this.platform.name);
  }

  /** One process that syncs. */
  async process({ random = 0.5 } = {}) {
    const stopping = new AbortController();
    const { signal } = stopping;
    const logged: { level: string; shop: number; reason?: string; msg: string }[] = [];
    const log = createLog('info', { write: (line) => void logged.push(JSON.parse(line)) });
    const code: PlatformCode = {
      ...(await stub.load()),
      findPause: async (_sql, shop) => this.backoff.get(shop),
      connect: ({ shop, account }) => ({
        account,
        usage: () => ({}),
        follow: async () => 0,
        sync: async () => {
          this.synced.push(shop);
          await this.behaviours.get(shop)?.(signal);
          return report;
        },
      }),
    };
    // Time passes only when a test says so.
    const backoff: Backoff = {
      wait: (_, ending) => {
        this.whenWaiting();
        return sleep(2, undefined, { signal: ending });
      },
      random: () => random,
    };
    const databaseUrl = this.#dataDir === '' ? serverUrl : undefined;
    const parts = {
      platform: this.platform,
      code,
      connectionTo: createConnections(code, {
        app: undefined,
        clock: this.clock,
        log,
        signal,
      }),
      shops: {
        list: async () => {
          this.whenListed();
          return this.connected;
        },
      },
      store: this.#store,
      locks: new ShopLocks(this.#store.write, { databaseUrl, dataDir: this.#dataDir }),
      clock: this.clock,
      log,
      linesPerTransaction: undefined,
      signal,
      intervalSeconds,
      backoff,
      leftAlone: new Map<number, number>(),
    };
    return { stopping, logged, sync: () => syncUntilIdle(parts) };
  }
}
