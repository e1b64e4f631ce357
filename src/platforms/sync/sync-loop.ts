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
  /** Prevents other processes from syncing the shop. @returns undefined if one already is */
  lock(store: Store, shopId: number): Promise<(() => Promise<void>) | undefined>;
}

/** The result of one shop's sync. */
export type SyncOutcome =
  | { readonly kind: 'synced'; readonly shop: number; readonly report: SyncReport }
  | { readonly kind: 'paused'; readonly shop: number; readonly reason: string }
  | { readonly kind: 'failed'; readonly shop: number; readonly reason: string };

/** Syncs shops with one platform, one after another. */
export class SyncLoop {
  readonly #parts: SyncParts;
  /** By shop id. Kept between rounds, because a connection remembers the platform's rate limits. */
  readonly #connections = new Map<number, Connection>();

  constructor(parts: SyncParts) {
    this.#parts = parts;
  }

  /**
   * Syncs each shop once. A failure of one does not stop the others.
   * @throws the signal's reason once it is aborted
   */
  async *round(
    store: Store,
    shops: readonly Credentials[],
    options: SyncOptions,
  ): AsyncGenerator<SyncOutcome> {
    for (const credentials of shops) {
      const { shop } = credentials;
      try {
        yield await this.#syncShop(store, credentials, options);
      } catch (error) {
        this.#parts.signal.throwIfAborted();
        yield { kind: 'failed', shop, reason: describeError(error) };
      }
      this.#parts.signal.throwIfAborted();
    }
  }

  async #syncShop(
    store: Store,
    credentials: Credentials,
    options: SyncOptions,
  ): Promise<SyncOutcome> {
    const { platform, code, clock, log, linesPerTransaction, signal, lock } = this.#parts;
    const { shop } = credentials;
    const found = await findShop(store.write, shop);
    if (!found) {
      throw new CommandError(`There is no shop ${shop}; "retention shops create" creates one.`);
    }
    const reason = await code.findPause(store.write, shop);
    if (reason !== undefined) return { kind: 'paused', shop, reason };
    const unlock = await lock(store, shop);
    if (!unlock) {
      throw new CommandError(
        `Another process is already syncing shop ${shop}; wait until it finishes.`,
      );
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
