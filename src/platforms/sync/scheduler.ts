import { describeError } from '../../errors.ts';
import { listSyncStates } from '../../store/platforms/syncs.ts';
import type { ConnectedShops } from '../credentials/connected-shops.ts';
import type { ConnectedShop } from '../credentials/credentials.ts';
import type { Pauses } from '../pauses.ts';
import { type SyncOutcome, type SyncParts, isDue, syncShop } from './sync-shop.ts';

interface SchedulerParts extends Omit<SyncParts, 'random'> {
  readonly shops: Pick<ConnectedShops, 'list'>;
  readonly pauses: Pauses;
}

/** From one sync of a shop to the next, unless asked otherwise. */
export const intervalSeconds = 120;

/** How often to look for shops that are due. */
export const pollSeconds = 5;

/** So that a shop that waits for its platform does not delay the others. */
const maxAtOnce = 4;

const options = { full: false, takeOver: false, onlyIfDue: true } as const;

/**
 * Syncs every connected shop that is due, several at once, until none is. Several instances may do so at the same
 * time: each shop is synced by one of them, and when it is due next is stored.
 * @throws the signal's reason once it is aborted
 */
export async function syncUntilIdle(parts: SchedulerParts): Promise<void> {
  const { pauses, signal, log, platform } = parts;
  const running = new Map<number, Promise<void>>();
  const start = (shop: ConnectedShop) => {
    const work = syncShop({ ...parts, random: pauses.random }, shop, options)
      .then((outcome) => logOutcome(parts, outcome))
      .catch((error: unknown) => {
        if (signal.aborted) return;
        const reason = describeError(error);
        log.error({ shop: shop.shop, platform: platform.name, reason }, 'sync failed');
      })
      .finally(() => running.delete(shop.shop));
    running.set(shop.shop, work);
  };
  try {
    do {
      const due = await listDue(parts, running);
      due.slice(0, maxAtOnce - running.size).forEach(start);
      const isWaiting = due.length > running.size;
      if (running.size === 0) continue;
      const over = new AbortController();
      const wait = pauses.wait(pollSeconds * 1000, AbortSignal.any([signal, over.signal]));
      await Promise.race([
        wait.catch(() => {}),
        ...(isWaiting ? running.values() : [Promise.all(running.values())]),
      ]);
      over.abort();
      signal.throwIfAborted();
    } while (running.size > 0);
  } finally {
    await Promise.all(running.values());
  }
}

/** Those that have waited longest first. */
async function listDue(
  { shops, platform, store, clock }: SchedulerParts,
  running: ReadonlyMap<number, unknown>,
): Promise<ConnectedShop[]> {
  const sql = store.write;
  const states = new Map(
    (await listSyncStates(sql, platform.name)).map((state) => [state.shopId, state]),
  );
  const dueAt = ({ shop }: ConnectedShop) => states.get(shop)?.dueAt.getTime() ?? 0;
  return (await shops.list(sql))
    .filter((each) => !running.has(each.shop) && isDue(states.get(each.shop), each, clock.now()))
    .toSorted((a, b) => dueAt(a) - dueAt(b));
}

/** `syncShop` itself logs shops that were synced; another process logs those that it syncs. */
function logOutcome({ log, platform }: SchedulerParts, outcome: SyncOutcome): void {
  if (outcome.kind !== 'paused' && outcome.kind !== 'failed') return;
  const { shop, reason, kind } = outcome;
  const fields = { shop, platform: platform.name, reason };
  if (kind === 'paused') log.warn(fields, 'sync paused');
  else log.error(fields, 'sync failed');
}
