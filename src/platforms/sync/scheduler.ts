import { describeError } from '../../errors.ts';
import { deleteSyncStates, listSyncStates } from '../../store/feeds/platforms.ts';
import type { ConnectedShops } from '../credentials/connected-shops.ts';
import type { ConnectedShop } from '../platform.ts';
import type { Backoff } from '../backoff.ts';
import { type SyncOutcome, type SyncParts, isDue, syncShop } from './sync-shop.ts';

interface SchedulerParts extends Omit<SyncParts, 'random'> {
  readonly shops: Pick<ConnectedShops, 'list'>;
  readonly backoff: Backoff;
  /**
   * Shops that this process cannot sync now, and until when it leaves them to others. They stay due, so that without
   * this they would be tried again and again, before any other. Kept from call to call.
   */
  readonly leftAlone: Map<number, number>;
}

/** From one sync of a shop to the next, unless asked otherwise. */
export const intervalSeconds = 120;

/** How often to look for shops that are due. */
export const pollSeconds = 5;

/** From when a shop was due; no pause is longer than an hour. */
const unattendedMilliseconds = 3_600_000;

/** So that a shop that waits for its platform does not delay the others. */
const maxAtOnce = 4;
/** A sync that takes longer leaves its place to another shop. */
const longMilliseconds = 5 * 60_000;
/** With those that have left their places. */
const maxInAll = 16;

interface Running {
  readonly work: Promise<void>;
  /** By the monotonic clock. */
  readonly startedAt: number;
}

const options = { full: false, takeOver: false, onlyIfDue: true } as const;

/**
 * Syncs every connected shop that is due, several at once, until none is. Several instances may do so at the same
 * time: each shop is synced by one of them, and when it is due next is stored.
 * @throws the signal's reason once it is aborted
 */
export async function syncUntilIdle(parts: SchedulerParts): Promise<void> {
  const { backoff, signal, log, platform, clock } = parts;
  const running = new Map<number, Running>();
  const works = () => [...running.values()].map(({ work }) => work);
  const isShort = ({ startedAt }: Running) => clock.monotonic() - startedAt < longMilliseconds;
  const countPlaces = () => {
    const taken = [...running.values()].filter(isShort).length;
    return Math.max(0, Math.min(maxAtOnce - taken, maxInAll - running.size));
  };
  const start = (shop: ConnectedShop) => {
    const work = syncShop({ ...parts, random: backoff.random }, shop, options)
      .then((outcome) => conclude(parts, outcome))
      .catch((error: unknown) => {
        if (signal.aborted) return;
        leaveAlone(parts, { kind: 'failed', shop: shop.shop });
        const reason = describeError(error);
        log.error({ shop: shop.shop, platform: platform.name, reason }, 'sync failed');
      })
      .finally(() => running.delete(shop.shop));
    running.set(shop.shop, { work, startedAt: clock.monotonic() });
  };
  let due: ConnectedShop[] = [];
  let listedAt = 0;
  const isOld = () => clock.monotonic() - listedAt >= pollSeconds * 1000;
  try {
    do {
      // Not after each sync: with thousands of shops, a list takes as long as a sync.
      if (due.length === 0 || isOld()) {
        listedAt = clock.monotonic();
        due = await listDue(parts, running);
      }
      signal.throwIfAborted();
      due.splice(0, countPlaces()).forEach(start);
      if (running.size === 0) continue;
      const over = new AbortController();
      const wait = backoff.wait(pollSeconds * 1000, AbortSignal.any([signal, over.signal]));
      await Promise.race([
        wait.catch(() => {}),
        ...(due.length > 0 ? works() : [Promise.all(works())]),
      ]);
      over.abort();
      signal.throwIfAborted();
    } while (running.size > 0 || due.length > 0);
  } finally {
    await Promise.all(works());
  }
}

/** Those that have waited longest first. */
async function listDue(
  { shops, platform, store, clock, leftAlone }: SchedulerParts,
  running: ReadonlyMap<number, unknown>,
): Promise<ConnectedShop[]> {
  const sql = store.write;
  const connected = await shops.list(sql);
  const now = clock.now();
  const states = new Map(
    (await listSyncStates(sql, platform.name)).map((state) => [state.shopId, state]),
  );
  const connectedIds = new Set(connected.map(({ shop }) => shop));
  // No process syncs these: they were removed from the credentials file. If one is added again, nothing is lost.
  const unattended = [...states.values()].filter(
    ({ shopId, dueAt }) =>
      !connectedIds.has(shopId) && now - dueAt.getTime() > unattendedMilliseconds,
  );
  const shopIds = unattended.map(({ shopId }) => shopId);
  await deleteSyncStates(sql, shopIds, platform.name);
  const dueAt = ({ shop }: ConnectedShop) => states.get(shop)?.dueAt.getTime() ?? 0;
  return connected
    .filter(({ shop }) => !running.has(shop) && (leftAlone.get(shop) ?? 0) <= now)
    .filter((each) => isDue(states.get(each.shop), each, now))
    .toSorted((a, b) => dueAt(a) - dueAt(b));
}

/** After an attempt that may have left the shop due. */
function leaveAlone(
  { leftAlone, clock, intervalSeconds: interval }: SchedulerParts,
  { kind, shop }: Pick<SyncOutcome, 'kind' | 'shop'>,
): void {
  if (kind === 'synced') leftAlone.delete(shop);
  else leftAlone.set(shop, clock.now() + (kind === 'unknown' ? interval : pollSeconds) * 1000);
}

/** `syncShop` itself logs shops that were synced; another process logs those that it syncs. */
function conclude(parts: SchedulerParts, outcome: SyncOutcome): void {
  const { log, platform } = parts;
  leaveAlone(parts, outcome);
  if (!('reason' in outcome) || outcome.kind === 'busy') return;
  const { shop, reason, kind } = outcome;
  const fields = { shop, platform: platform.name, reason };
  if (kind === 'paused') log.warn(fields, 'sync paused');
  else log.error(fields, 'sync failed');
}
