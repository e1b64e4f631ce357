import { setMaxListeners } from 'node:events';
import { systemClock } from '../clock.ts';
import { UsageError, describeError } from '../errors.ts';
import { linesPerServerTransaction } from '../ingest/import.ts';
import { redact } from '../log/log.ts';
import { type OpenPlatform, mayHaveShops, openPlatform } from '../platforms/open.ts';
import { realBackoff } from '../platforms/backoff.ts';
import type { Platform, SyncOptions, SyncReport } from '../platforms/platform.ts';
import { platforms } from '../platforms/registry.ts';
import { intervalSeconds, pollSeconds, syncUntilIdle } from '../platforms/sync/scheduler.ts';
import { type SyncOutcome, syncShop } from '../platforms/sync/sync-shop.ts';
import type { Sql } from '../store/database.ts';
import type { Store } from '../store/open.ts';
import { ShopLocks } from '../store/locks.ts';
import {
  type Command,
  type Context,
  defineCommand,
  exitStatus,
  flag,
  id,
  optional,
  whole,
  withDefault,
} from './framework/command.ts';
import { type Io, print, tell } from './framework/io.ts';
import { Interrupted, onInterruption } from './import/interruption.ts';
import { logLastResort, setLastResort } from './serve/last-resort.ts';
import { withStore } from './store.ts';

const failures: ReadonlySet<SyncOutcome['kind']> = new Set(['unknown', 'failed', 'busy']);

export const syncCommands = platforms.map(syncCommand);

function syncCommand(platform: Platform): Command {
  const { name, title, settings } = platform;
  return defineCommand({
    name: `sync ${name}`,
    about: `keeps shops in sync with ${title} until stopped`,
    notes: [`Everything is synced regularly in any case. See docs/${name}.md.`],
    options: {
      shop: optional(
        id,
        'one shop; by default, all that are connected ("retention platforms list")',
      ),
      once: flag('syncs what changed, or everything the first time, and exits'),
      full: flag(`syncs everything, deletes what ${title} does not have, and exits`),
      interval: withDefault(
        whole('SECONDS', 1, 86_400, 'whole seconds'),
        String(intervalSeconds),
        'seconds between two syncs of a shop',
      ),
      takeOver: flag(`also syncs shops with data that did not come from this ${title} shop`),
    },
    async run({ shop, once, full, interval, takeOver }, context) {
      const { config, log, io } = context;
      const isOnce = once || full || takeOver;
      if (!mayHaveShops(config)) {
        throw new UsageError(
          `No shop can be connected to ${title}: set ${settings.credentialsFile === undefined ? '' : `${settings.credentialsFile}, which names the file with the shops and their credentials, or `}CREDENTIALS_KEY for those that are connected in the database.`,
        );
      }
      if (!isOnce) setLastResort(logLastResort(log));
      const signal = onInterruption(io);
      // Each query of each shop listens.
      setMaxListeners(0, signal);
      try {
        const opened = await openPlatform(platform, { config, clock: systemClock, log, signal });
        const leftAlone = new Map<number, number>();
        const run = { context, opened, shopId: shop, interval, signal, leftAlone };
        return isOnce ? await syncOnce(run, { full, takeOver }) : await syncContinuously(run);
      } catch (error) {
        if (!(error instanceof Interrupted)) throw error;
        log.info({ signal: error.message }, 'stopping');
        if (!isOnce) return exitStatus.done;
        tell(io, 'Interrupted: the next sync goes on from what is stored.');
        return error.exitStatus;
      } finally {
        log.flush();
      }
    },
  });
}

interface Run {
  readonly context: Context;
  readonly opened: OpenPlatform;
  /** Undefined means all that are connected. */
  readonly shopId: number | undefined;
  /** Seconds from one sync of a shop to the next. */
  readonly interval: number;
  readonly signal: AbortSignal;
  readonly leftAlone: Map<number, number>;
}

function partsOf(run: Run, store: Store) {
  const { context, opened, shopId, interval, signal, leftAlone } = run;
  const { config, log } = context;
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
    random: realBackoff.random,
    backoff: realBackoff,
    leftAlone,
  };
}

async function listShops({ shops }: OpenPlatform, sql: Sql, shopId: number | undefined) {
  const all = await shops.list(sql);
  return shopId === undefined ? all : all.filter(({ shop }) => shop === shopId);
}

/** @returns the worst exit status */
async function syncOnce(run: Run, options: SyncOptions): Promise<number> {
  return withStore(run.context, async (store) => {
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
      showOutcome(run.context.io, outcome);
      isAnyFailed ||= failures.has(outcome.kind);
      isAnyRefused ||= outcome.kind === 'synced' && outcome.report.refused > 0;
    }
    if (isAnyFailed) return exitStatus.failed;
    return isAnyRefused ? exitStatus.someRefused : exitStatus.done;
  });
}

/** The store is open only while shops are synced, so that other processes can use the embedded database. */
async function syncContinuously(run: Run): Promise<never> {
  const { context, signal } = run;
  const round = () => withStore(context, async (store) => syncUntilIdle(partsOf(run, store)));
  await round();
  for (;;) {
    await realBackoff.wait(pollSeconds * 1000 * (0.9 + realBackoff.random() / 5), signal);
    // The database may be down for a while.
    await round().catch((error: unknown) => {
      signal.throwIfAborted();
      context.log.error({ reason: describeError(error) }, 'sync failed');
    });
  }
}

/** Shows the result to a person who waits for it. */
function showOutcome(io: Io, outcome: SyncOutcome): void {
  if (outcome.kind === 'synced') print(io, describe(outcome.shop, outcome.report));
  else if ('reason' in outcome)
    tell(io, redact(`retention: shop ${outcome.shop}: ${outcome.reason}`));
}

function describe(shop: number, { kind, read, written, refused, deleted }: SyncReport): string {
  const parts = Object.entries(read).map(([what, count]) =>
    kind === 'whole' ? `all ${count} ${what}` : `${count} changed ${what}`,
  );
  return `Shop ${shop}: read ${parts.join(', ')}; ${written} records written, ${deleted} deleted, ${refused} lines refused.`;
}
