import type { Clock } from '../../clock.ts';
import { describeError } from '../../errors.ts';
import { importShopOf } from '../../ingest/apply.ts';
import { type Log, redact } from '../../log/log.ts';
import { upsertFeed } from '../../store/feeds/feeds.ts';
import type { Store } from '../../store/open.ts';
import {
  type SyncState,
  findConnection,
  findSyncState,
  upsertSyncState,
} from '../../store/feeds/platforms.ts';
import type { ShopLocks } from '../../store/locks.ts';
import { type Shop, findShop } from '../../store/shops.ts';
import type { OpenPlatform } from '../open.ts';
import type { ConnectedShop, SyncOptions, SyncReport } from '../platform.ts';
import { CredentialsRefused, PlatformError } from '../errors.ts';
import { RefusalCounter } from '../intake.ts';
import { findWhyNotTaken } from '../keeper.ts';
import { feedsOf } from '../registry.ts';

export interface SyncParts extends Omit<OpenPlatform, 'shops'> {
  readonly store: Pick<Store, 'write'>;
  readonly locks: ShopLocks;
  readonly clock: Clock;
  readonly log: Log;
  readonly linesPerTransaction: number | undefined;
  readonly signal: AbortSignal;
  /** From one sync of a shop to the next. */
  readonly intervalSeconds: number;
  /** From 0 up to, but not including, 1. */
  random(): number;
}

/**
 * How one shop's sync ended. unknown: the shop does not exist here; paused: nothing will succeed until somebody does
 * something; current: another process has just synced it; busy: another process is at it.
 */
export type SyncOutcome = { readonly shop: number } & (
  | { readonly kind: 'synced'; readonly report: SyncReport }
  | { readonly kind: 'current' }
  | { readonly kind: 'unknown' | 'paused' | 'failed' | 'busy'; readonly reason: string }
);

const hourSeconds = 3600;

/** @param now epoch milliseconds */
export function isDue(
  state: SyncState | undefined,
  { version }: ConnectedShop,
  now: number,
): boolean {
  if (!state) return true;
  // Refused credentials have been replaced.
  const isRenewed = state.refusedAt !== null && state.refusedVersion !== version;
  return isRenewed || state.dueAt.getTime() <= now;
}

/**
 * Syncs one shop with its platform, and stores how it went and when the next sync is due.
 * @throws the signal's reason once it is aborted
 */
export async function syncShop(
  parts: SyncParts,
  connected: ConnectedShop,
  options: SyncOptions & { readonly onlyIfDue?: boolean },
): Promise<SyncOutcome> {
  const { platform, code, store, locks, clock, signal } = parts;
  const { shop } = connected;
  const shopRow = await findShop(store.write, shop);
  if (!shopRow) {
    const reason = `There is no shop ${shop}; "retention shops create" creates one.`;
    return { kind: 'unknown', shop, reason };
  }
  const unlock = await locks.lock('sync', shop);
  if (!unlock) {
    const reason = `Another process is already syncing shop ${shop}; wait until it finishes.`;
    return { kind: 'busy', shop, reason };
  }
  try {
    const state = await findSyncState(store.write, shop, platform.name);
    if (options.onlyIfDue && !isDue(state, connected, clock.now()))
      return { kind: 'current', shop };
    // The first sync since the shop was connected, or its entry in the file, reads everything.
    const requested = {
      ...options,
      full: options.full || !state,
      takeOver: options.takeOver || state?.takesOver === true,
    };
    const reason = await code.findPause?.(store.write, shop);
    if (reason !== undefined) {
      await settle(parts, connected, { problem: reason });
      return { kind: 'paused', shop, reason };
    }
    const refusals = new RefusalCounter();
    const report = await sync(parts, connected, shopRow, { ...requested, refusals });
    const isTold = report.refused > 0 || report.kind === 'whole';
    await settle(parts, connected, {
      takesOver: false,
      ...(isTold && {
        refused: report.refused,
        refusedRecordsAt: new Date(clock.now()),
        refusals: JSON.stringify(refusals.mostFrequent),
      }),
    });
    return { kind: 'synced', shop, report };
  } catch (error) {
    signal.throwIfAborted();
    const reason = describeError(error);
    // One line is stored, as it is shown to people; the log has the stack.
    const [problem = ''] = redact(reason).split('\n', 1);
    const forOwner = error instanceof PlatformError ? redact(error.reason) : null;
    // If the database is away, the next one is due when it was.
    await settle(parts, connected, { problem, reason: forOwner }, error).catch(() => {});
    return { kind: error instanceof CredentialsRefused ? 'paused' : 'failed', shop, reason };
  } finally {
    await unlock();
  }
}

async function sync(
  { platform, connectionTo, store, clock, log, linesPerTransaction, signal }: SyncParts,
  connected: ConnectedShop,
  shopRow: Shop,
  { refusals, ...options }: SyncOptions & { readonly refusals: RefusalCounter },
): Promise<SyncReport> {
  const { shop } = connected;
  const connection = connectionTo(connected);
  const before = { usage: connection.usage(), at: clock.monotonic() };
  const feed = feedsOf(platform).sync;
  const sql = store.write;
  const intake = {
    sql,
    shop: importShopOf(shopRow),
    feed,
    clock,
    log,
    signal,
    linesPerTransaction,
    whyNotTaken: await findWhyNotTaken(sql, shop, platform),
    refused: (problem: string) => refusals.add(problem),
  };
  const report = await connection.sync(intake, options);
  await upsertFeed(sql, shop, feed, { completedAt: new Date(clock.now()) });
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
  return report;
}

/**
 * Stores how it went.
 * @param end why it was paused or failed, and what it refused
 * @param error that it failed with
 */
async function settle(
  { platform, store, clock, intervalSeconds, random }: SyncParts,
  { shop, version, origin }: ConnectedShop,
  end: Partial<SyncState>,
  error?: unknown,
): Promise<void> {
  const isDisconnected =
    origin === 'database' && !(await findConnection(store.write, shop, platform.name));
  if (isDisconnected) return;
  const { failures: before = 0, refusedAt = null }: Partial<SyncState> =
    (await findSyncState(store.write, shop, platform.name)) ?? {};
  const isRefused = error instanceof CredentialsRefused;
  const failures = error !== undefined && !isRefused ? before + 1 : 0;
  const now = clock.now();
  const seconds = isRefused
    ? hourSeconds
    : Math.min(hourSeconds, intervalSeconds * 2 ** Math.min(failures, 10));
  // Varies by up to a tenth, so that shops do not sync in step.
  const pause = seconds * 1000 * (0.9 + random() / 5);
  await upsertSyncState(store.write, shop, platform.name, {
    problem: null,
    ...end,
    dueAt: new Date(now + pause),
    failures,
    refusedAt: isRefused ? (refusedAt ?? new Date(now)) : null,
    refusedVersion: isRefused ? version : null,
  });
}
