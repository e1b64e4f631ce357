import type { Clock } from '../../clock.ts';
import { CommandError } from '../../errors.ts';
import { importShopOf } from '../../ingest/apply.ts';
import type { Log } from '../../log/log.ts';
import type { Sql } from '../../store/database.ts';
import { deleteJobsOfShop } from '../../store/feeds/jobs.ts';
import { findShop } from '../../store/shops.ts';
import { NonRetryableError, PlatformError } from '../errors.ts';
import { feedsOf } from '../feeds.ts';
import type { Credentials, Hint, Platform, PlatformCode } from '../platform.ts';
import type { Job } from './job.ts';

interface FollowParts {
  readonly platform: Platform;
  readonly code: PlatformCode;
  readonly credentials: readonly Credentials[];
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Fetches what a webhook was about as it is now, and stores that. What the webhook itself said does not
 * count, so neither order nor repetition matters.
 */
export function createFollower({ platform, code, credentials, sql, clock, log }: FollowParts) {
  return async (job: Job & Partial<Hint>, signal: AbortSignal): Promise<void> => {
    const { shopId, kind, id = 0 } = job;
    const shop = await findShop(sql, shopId);
    if (!shop) {
      // An instance may still receive webhooks of a shop that was deleted. Nothing of it may stay.
      await deleteJobsOfShop(sql, shopId);
      return;
    }
    if (await code.findPause(sql, shopId)) return;
    const known = credentials.find((each) => each.shop === shopId);
    if (!known) {
      const { credentialsFile } = platform.settings;
      throw new NonRetryableError(`${credentialsFile} has nothing for shop ${shopId}.`);
    }
    const connection = code.connect(known, { clock, log, signal });
    const feed = feedsOf(platform).webhooks;
    const intake = { sql, shop: importShopOf(shop), feed, clock, log, signal };
    const refused = await connection.follow(intake, { kind, id }).catch((error: unknown) => {
      const mayPass = error instanceof PlatformError && error.kind === 'unavailable';
      throw error instanceof CommandError && !mayPass
        ? new NonRetryableError(error.message)
        : error;
    });
    if (refused > 0) {
      throw new NonRetryableError(
        `Of ${kind} ${id} not everything could be stored; the log says why.`,
      );
    }
  };
}
