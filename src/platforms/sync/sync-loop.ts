import type { Clock } from '../../clock.ts';
import { CommandError, describeError } from '../../errors.ts';
import { importShopOf } from '../../ingest/apply.ts';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open.ts';
import { findShop } from '../../store/shops.ts';
import { feedsOf } from '../feeds.ts';
import { upsertFeed } from '../../store/feeds/feeds.ts';
import type {
  Connection,
  Credentials,
  Platform,
  PlatformCode,
  SyncOptions,
  SyncReport,
} from '../platform.ts';

interface SyncParts {
  readonly platform: Platform;
  readonly code: PlatformCode;
  readonly clock: Clock;
  readonly log: Log;
  readonly linesPerTransaction: number | undefined;
  readonly signal: AbortSignal;
  /** Keeps other processes from synchronising the shop. @returns undefined if one does already */
  lock(store: Store, shopId: number): Promise<(() => Promise<void>) | undefined>;
}

/** What became of one shop's turn. */
export type Turn =
  | { readonly kind: 'synced'; readonly shop: number; readonly report: SyncReport }
  | { readonly kind: 'paused'; readonly shop: number; readonly reason: string }
  | { readonly kind: 'failed'; readonly shop: number; readonly reason: string };

/** Synchronises shops with one platform, in turn. */
export class SyncLoop {
  readonly #parts: SyncParts;
  /** One for each shop, so that what it knows of the platform's limits stays. */
  readonly #connections = new Map<number, Connection>();

  constructor(parts: SyncParts) {
    this.#parts = parts;
  }

  /**
   * Each shop once. One that fails does not keep the others from their turn.
   * @throws the reason of the signal
   */
  async *round(
    store: Store,
    shops: readonly Credentials[],
    options: SyncOptions,
  ): AsyncGenerator<Turn> {
    for (const credentials of shops) {
      const { shop } = credentials;
      try {
        yield await this.#turn(store, credentials, options);
      } catch (error) {
        this.#parts.signal.throwIfAborted();
        yield { kind: 'failed', shop, reason: describeError(error) };
      }
      this.#parts.signal.throwIfAborted();
    }
  }

  async #turn(store: Store, credentials: Credentials, options: SyncOptions): Promise<Turn> {
    const { platform, code, clock, log, linesPerTransaction, signal, lock } = this.#parts;
    const { shop } = credentials;
    const found = await findShop(store.write, shop);
    if (!found) {
      throw new CommandError(`There is no shop ${shop}; "retention shops create" makes one.`);
    }
    const reason = await code.findPause(store.write, shop);
    if (reason !== undefined) return { kind: 'paused', shop, reason };
    const unlock = await lock(store, shop);
    if (!unlock) {
      throw new CommandError(`Another process synchronises shop ${shop}; wait until it ends.`);
    }
    try {
      const connection = this.#connect(credentials);
      const before = { usage: connection.usage(), at: clock.monotonic() };
      const feed = feedsOf(platform).sync;
      const report = await connection.sync(
        {
          sql: store.write,
          shop: importShopOf(found),
          feed,
          clock,
          log,
          signal,
          linesPerTransaction,
        },
        options,
      );
      await upsertFeed(store.write, shop, feed, { completedAt: new Date(clock.now()) });
      const { read, ...rest } = report;
      const usage = Object.entries(connection.usage()).map(([name, value]) => [
        name,
        value - (before.usage[name] ?? 0),
      ]);
      log.info(
        {
          shop,
          platform: platform.name,
          account: connection.account,
          ...rest,
          ...read,
          ...Object.fromEntries(usage),
          durationMs: Math.round(clock.monotonic() - before.at),
        },
        'shop synced',
      );
      return { kind: 'synced', shop, report };
    } finally {
      await unlock();
    }
  }

  #connect(credentials: Credentials): Connection {
    const { code, clock, log, signal } = this.#parts;
    let connection = this.#connections.get(credentials.shop);
    if (!connection) {
      connection = code.connect(credentials, { clock, log, signal });
      this.#connections.set(credentials.shop, connection);
    }
    return connection;
  }
}
