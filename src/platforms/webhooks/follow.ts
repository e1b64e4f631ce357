import type { Clock } from '../../clock.ts';
import { CommandError } from '../../errors.ts';
import { importShopOf } from '../../ingest/apply.ts';
import type { Log } from '../../log/log.ts';
import type { Sql } from '../../store/database.ts';
import { deleteJobsOfShop } from '../../store/feeds/jobs.ts';
import { findSyncState } from '../../store/feeds/platforms.ts';
import { findShop } from '../../store/shops.ts';
import { NonRetryableError, PlatformError } from '../errors.ts';
import { feedsOf } from '../feeds.ts';
import type { OpenPlatform } from '../open.ts';
import type { Hint } from '../platform.ts';
import type { Job } from './job.ts';

interface FollowParts extends OpenPlatform {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Fetches the current state of what a webhook was about, and stores it. The webhook's own content
 * is ignored, so neither order nor duplicates matter.
 */
export function createFollower({
  platform,
  code,
  shops,
  connections,
  sql,
  clock,
  log,
}: FollowParts) {
  return async (job: Job & Partial<Hint>, signal: AbortSignal): Promise<void> => {
    const { shopId, kind, id = 0 } = job;
    const shop = await findShop(sql, shopId);
    if (!shop) {
      // An instance may still receive webhooks for a deleted shop; nothing about it may remain.
      await deleteJobsOfShop(sql, shopId);
      return;
    }
    // What it misses meanwhile, the next sync brings.
    if ((await code.findPause(sql, shopId)) !== undefined) return;
    if ((await findSyncState(sql, shopId, platform.name))?.refusedAt) return;
    const connected = await shops.find(sql, shopId);
    if (!connected) {
      throw new NonRetryableError(`Shop ${shopId} is not connected to ${platform.title}.`);
    }
    const connection = connections.get(connected);
    const feed = feedsOf(platform).webhooks;
    const intake = { sql, shop: importShopOf(shop), feed, clock, log, signal };
    const refused = await connection.follow(intake, { kind, id }).catch((error: unknown) => {
      const isTemporary = error instanceof PlatformError && error.kind === 'unavailable';
      throw error instanceof CommandError && !isTemporary
        ? new NonRetryableError(error.message)
        : error;
    });
    if (refused > 0) {
      throw new NonRetryableError(`Some records of ${kind} ${id} were refused; the log says why.`);
    }
  };
}
