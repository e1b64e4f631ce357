import { setMaxListeners } from 'node:events';
import { systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import { UsageError, describeError } from '../errors.ts';
import { linesPerServerTransaction } from '../ingest/import.ts';
import { type Log, redact } from '../log/log.ts';
import { type OpenPlatform, mayHaveShops, openPlatform } from '../platforms/open.ts';
import { realPauses } from '../platforms/pauses.ts';
import type { Platform, SyncOptions, SyncReport } from '../platforms/platform.ts';
import { platforms } from '../platforms/registry.ts';
import { intervalSeconds, pollSeconds, syncUntilIdle } from '../platforms/sync/scheduler.ts';
import { type SyncOutcome, syncShop } from '../platforms/sync/sync-shop.ts';
import type { Sql } from '../store/database.ts';
import type { Store } from '../store/open.ts';
import { ShopLocks } from '../store/shop-locks.ts';
import { type Command, exitStatus, parseId, print, tell, withStore } from './command.ts';
import { logLastResort, setLastResort } from './serve/last-resort.ts';
import { stopSignal } from './serve/stop-signal.ts';

const failures: ReadonlySet<SyncOutcome['kind']> = new Set(['unknown', 'failed', 'busy']);

export const syncCommands: readonly Command[] = platforms.map(syncCommand);

function syncCommand(platform: Platform): Command {
  const { name, title, settings } = platform;
  return {
    name: `sync ${name}`,
    synopsis: '[--shop ID] [--once] [--full] [--interval SECONDS] [--take-over]',
    summary: `keeps shops in sync with ${title} until stopped`,
    details: [
      `--shop       one shop; by default, all that are connected ("retention platforms list")`,
      '--once       syncs what changed, or everything the first time, and exits',
      `--full       syncs everything, deletes what ${title} does not have, and exits`,
      '--interval   seconds between two syncs of a shop (120)',
      `--take-over  also syncs shops with data that did not come from this ${title} shop`,
      `Everything is synced once a day in any case. See docs/${name}.md.`,
    ],
    options: {
      shop: { type: 'string' },
      once: { type: 'boolean' },
      full: { type: 'boolean' },
      interval: { type: 'string', default: String(intervalSeconds) },
      'take-over': { type: 'boolean' },
    },
    async run({ config, log, options }) {
      const interval = parseInterval(String(options['interval']));
      const requested = options['shop'];
      const shopId = typeof requested === 'string' ? parseId(requested, '--shop') : undefined;
      const full = options['full'] === true;
      const takeOver = options['take-over'] === true;
      const isOnce = options['once'] === true || full || takeOver;
      if (!mayHaveShops(config)) {
        throw new UsageError(
          `No shop can be connected to ${title}: set ${settings.credentialsFile}, which names the file with the shops and their credentials, or CREDENTIALS_KEY for those that are connected in the database.`,
        );
      }
      if (!isOnce) setLastResort(logLastResort(log));
      const stopping = new AbortController();
      void stopSignal().then((signal) => stopping.abort(new Stopped(signal)));
      const { signal } = stopping;
      // Each query of each shop listens.
      setMaxListeners(0, signal);
      try {
        const opened = await openPlatform(platform, { config, clock: systemClock, log, signal });
        const leftAlone = new Map<number, number>();
        const run = { config, log, opened, shopId, interval, signal, leftAlone };
        return isOnce ? await syncOnce(run, { full, takeOver }) : await syncContinuously(run);
      } catch (error) {
        if (!(error instanceof Stopped)) throw error;
        log.info({ signal: error.message }, 'stopping');
        return exitStatus.done;
      } finally {
        log.flush();
      }
    },
  };
}

/** The abort reason when the process is asked to stop. */
class Stopped extends Error {
  override readonly name = 'Stopped';
}

interface Run {
  readonly config: Config;
  readonly log: Log;
  readonly opened: OpenPlatform;
  /** Undefined means all that are connected. */
  readonly shopId: number | undefined;
  /** Seconds from one sync of a shop to the next. */
  readonly interval: number;
  readonly signal: AbortSignal;
  readonly leftAlone: Map<number, number>;
}

function partsOf(run: Run, store: Store) {
  const { config, log, opened, shopId, interval, signal, leftAlone } = run;
  return {
    ...opened,
    shops: { list: (sql: Sql) => listShops(opened, sql, shopId) },
    store,
    locks: new ShopLocks(store.write, config),
    clock: systemClock,
    log,
    linesPerTransaction: config.databaseUrl === undefined ? undefined : linesPerServerTransaction,
    signal,
    intervalSeconds: interval,
    random: realPauses.random,
    pauses: realPauses,
    leftAlone,
  };
}

async function listShops({ shops }: OpenPlatform, sql: Sql, shopId: number | undefined) {
  const all = await shops.list(sql);
  return shopId === undefined ? all : all.filter(({ shop }) => shop === shopId);
}

/** @returns the worst exit status */
async function syncOnce(run: Run, options: SyncOptions): Promise<number> {
  return withStore(run.config, async (store) => {
    const parts = partsOf(run, store);
    const shops = await parts.shops.list(store.write);
    if (shops.length === 0) {
      const { title } = run.opened.platform;
      const what = run.shopId === undefined ? 'No shop is' : `Shop ${run.shopId} is not`;
      throw new UsageError(`${what} connected to ${title}.`);
    }
    let [isAnyFailed, isAnyRefused] = [false, false];
    for (const shop of shops) {
      const outcome = await syncShop(parts, shop, options);
      run.signal.throwIfAborted();
      showOutcome(outcome);
      isAnyFailed ||= failures.has(outcome.kind);
      isAnyRefused ||= outcome.kind === 'synced' && outcome.report.refused > 0;
    }
    if (isAnyFailed) return exitStatus.failed;
    return isAnyRefused ? exitStatus.someRefused : exitStatus.done;
  });
}

/** The store is open only while shops are synced, so that other processes can use the embedded database. */
async function syncContinuously(run: Run): Promise<never> {
  const { config, log, signal } = run;
  const round = () => withStore(config, async (store) => syncUntilIdle(partsOf(run, store)));
  await round();
  for (;;) {
    await realPauses.wait(pollSeconds * 1000 * (0.9 + realPauses.random() / 5), signal);
    // The database may be down for a while.
    await round().catch((error: unknown) => {
      signal.throwIfAborted();
      log.error({ reason: describeError(error) }, 'sync failed');
    });
  }
}

/** Shows the result to a person who waits for it. */
function showOutcome(outcome: SyncOutcome): void {
  if (outcome.kind === 'synced') print(describe(outcome.shop, outcome.report));
  else if ('reason' in outcome) tell(redact(`retention: shop ${outcome.shop}: ${outcome.reason}`));
}

function describe(shop: number, { kind, read, written, refused, deleted }: SyncReport): string {
  const parts = Object.entries(read).map(([what, count]) =>
    kind === 'whole' ? `all ${count} ${what}` : `${count} changed ${what}`,
  );
  return `Shop ${shop}: read ${parts.join(', ')}; ${written} records written, ${deleted} deleted, ${refused} lines refused.`;
}

function parseInterval(text: string): number {
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (seconds < 1 || seconds > 86_400) {
    throw new UsageError(`--interval must be whole seconds from 1 to 86400, not "${text}".`);
  }
  return seconds;
}
