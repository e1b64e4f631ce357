import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import { CommandError, UsageError, describeError } from '../errors.ts';
import { createShopifyClient } from '../platforms/shopify/api/client.ts';
import {
  type ShopifyCredentials,
  readShopifyCredentials,
} from '../platforms/shopify/api/credentials.ts';
import { realPauses } from '../platforms/shopify/api/pauses.ts';
import { type SyncWish, syncShop } from '../platforms/shopify/sync/sync-shop.ts';
import type { SyncReport } from '../platforms/shopify/sync/whole-sync.ts';
import { importShopOf } from '../ingest/apply.ts';
import { linesPerServerTransaction } from '../ingest/import.ts';
import { type Log, redact } from '../log.ts';
import type { Store } from '../store/open.ts';
import { lockShop } from '../store/shop-lock.ts';
import { findUninstall } from '../platforms/shopify/store/shops.ts';
import { findShop } from '../store/shops.ts';
import { type Command, exitStatus, parseId, print, tell, withStore } from './command.ts';
import { logLastResort, setLastResort } from './serve/last-resort.ts';
import { stopSignal } from './serve/stop-signal.ts';

const failed = 1;

const syncShopify: Command = {
  name: 'sync shopify',
  synopsis: '[--shop ID] [--once] [--full] [--interval SECONDS] [--take-over]',
  summary: 'keeps shops as they are in Shopify, until it is told to stop',
  details: [
    '--shop       one shop; all of SHOPIFY_CREDENTIALS_FILE if left out',
    '--once       brings what changed, or everything the first time, and ends',
    '--full       brings everything, deletes what Shopify does not have, and ends',
    '--interval   seconds between two looks at a shop (120)',
    '--take-over  also where a shop has data that did not come from this Shopify shop',
    'Everything is brought once a day in any case. docs/shopify.md says more.',
  ],
  options: {
    shop: { type: 'string' },
    once: { type: 'boolean' },
    full: { type: 'boolean' },
    interval: { type: 'string', default: '120' },
    'take-over': { type: 'boolean' },
  },
  async run({ config, log, options }) {
    const interval = parseInterval(String(options['interval']));
    const shops = await chosenShops(config, options['shop']);
    const wish = { whole: options['full'] === true, takeOver: options['take-over'] === true };
    const isOnce = options['once'] === true || wish.whole;
    if (!isOnce) setLastResort(logLastResort(log));
    const stopping = new AbortController();
    void stopSignal().then((signal) => stopping.abort(new Stopped(signal)));
    const desk = new SyncDesk({ config, log, isLoop: !isOnce, signal: stopping.signal });
    try {
      const status = await desk.round(shops, wish);
      if (isOnce) return status;
      for (;;) {
        // Up to a tenth more or less, so that several do not look in step.
        const pause = interval * 1000 * (0.9 + realPauses.random() / 5);
        await realPauses.wait(pause, stopping.signal);
        // The database may be away for a while.
        await desk.round(shops, wish).catch((error: unknown) => {
          stopping.signal.throwIfAborted();
          log.error({ reason: describeError(error) }, 'not synchronised');
        });
      }
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      log.info({ signal: error.message }, 'stopping');
      return exitStatus.done;
    } finally {
      log.flush();
    }
  },
};

/** Whoever waits for something learns by it that the process is to end. */
class Stopped extends Error {
  override readonly name = 'Stopped';
}

interface Surroundings {
  readonly config: Config;
  readonly log: Log;
  /** Whether the log is all that anybody looks at. */
  readonly isLoop: boolean;
  readonly signal: AbortSignal;
}

class SyncDesk {
  readonly #around: Surroundings;
  /** One client a shop, so that what it knows of the shop's limits stays. */
  readonly #clients = new Map<number, ReturnType<typeof createShopifyClient>>();

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /**
   * Each shop once; that one fails does not keep the others from their turn. The store is opened for
   * the round only: the embedded one is there for others in between, and may be run by others the next
   * time.
   * @returns the worst exit status of all
   * @throws the reason of the signal
   */
  round(shops: readonly ShopifyCredentials[], wish: SyncWish): Promise<number> {
    return withStore(this.#around.config, (store) => this.#turns(store, shops, wish));
  }

  async #turns(
    store: Store,
    shops: readonly ShopifyCredentials[],
    wish: SyncWish,
  ): Promise<number> {
    const { log, signal, isLoop } = this.#around;
    let [isAnyFailed, isAnyRefused] = [false, false];
    for (const credentials of shops) {
      try {
        const refused = await this.#turn(store, credentials, wish);
        isAnyRefused ||= refused > 0;
      } catch (error) {
        signal.throwIfAborted();
        isAnyFailed = true;
        const reason = describeError(error);
        if (isLoop) log.error({ shop: credentials.shop, reason }, 'not synchronised');
        else tell(redact(`retention: shop ${credentials.shop}: ${reason}`));
      }
    }
    if (isAnyFailed) return failed;
    return isAnyRefused ? exitStatus.someRefused : exitStatus.done;
  }

  /** @returns how many records were refused */
  async #turn(store: Store, credentials: ShopifyCredentials, wish: SyncWish): Promise<number> {
    const { config, log, isLoop, signal } = this.#around;
    const found = await findShop(store.write, credentials.shop);
    if (!found) {
      throw new CommandError(
        `There is no shop ${credentials.shop}; "retention shops create" makes one.`,
      );
    }
    if (await findUninstall(store.write, found.id)) {
      const why = `The app is uninstalled from ${credentials.domain}; once it is back, "retention shopify reinstalled --shop ${found.id}" says so.`;
      if (isLoop) log.warn({ shop: found.id }, why);
      else tell(`retention: shop ${found.id}: ${why}`);
      return 0;
    }
    const unlock = await lockShop(store.write, config, 'sync', found.id);
    if (!unlock) {
      throw new CommandError(`Another process synchronises shop ${found.id}; wait until it ends.`);
    }
    try {
      const client = this.#clientOf(credentials);
      const before = { ...client.usage, at: systemClock.monotonic() };
      const report = await syncShop(
        {
          client,
          sql: store.write,
          shop: importShopOf(found),
          clock: systemClock,
          log,
          linesPerTransaction:
            config.databaseUrl === undefined ? undefined : linesPerServerTransaction,
        },
        wish,
      );
      log.info(
        {
          shop: found.id,
          domain: client.domain,
          ...report,
          queries: client.usage.queries - before.queries,
          cost: client.usage.cost - before.cost,
          durationMs: Math.round(systemClock.monotonic() - before.at),
        },
        'synchronised',
      );
      if (!isLoop) print(sentence(found.id, report));
      signal.throwIfAborted();
      return report.refused;
    } finally {
      await unlock();
    }
  }

  #clientOf({ shop, domain, accessToken, baseUrl }: ShopifyCredentials) {
    const { log, signal } = this.#around;
    const known = this.#clients.get(shop);
    if (known) return known;
    const client = createShopifyClient({
      domain,
      accessToken,
      baseUrl,
      clock: systemClock,
      log,
      signal,
    });
    this.#clients.set(shop, client);
    return client;
  }
}

function sentence(
  shop: number,
  { kind, contracts, written, refused, deleted }: SyncReport,
): string {
  const read = kind === 'whole' ? `all ${contracts} contracts` : `${contracts} changed contracts`;
  return `Shop ${shop}: read ${read}; ${written} records written, ${deleted} deleted, ${refused} lines refused.`;
}

function parseInterval(text: string): number {
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (seconds < 1 || seconds > 86_400) {
    throw new UsageError(`--interval must be whole seconds from 1 to 86400, not "${text}".`);
  }
  return seconds;
}

async function chosenShops(
  { shopifyCredentialsFile: file }: Config,
  wanted: string | boolean | undefined,
): Promise<readonly ShopifyCredentials[]> {
  const id = typeof wanted === 'string' ? parseId(wanted, '--shop') : undefined;
  if (file === undefined) {
    throw new UsageError(
      'SHOPIFY_CREDENTIALS_FILE is not set: it names the file with the shops and their access tokens.',
    );
  }
  const all = await readShopifyCredentials(file);
  const chosen = all.filter(({ shop }) => id === undefined || shop === id);
  if (chosen.length === 0) throw new UsageError(`Shop ${id} is not in ${file}.`);
  return chosen;
}

export const syncCommands: readonly Command[] = [syncShopify];
