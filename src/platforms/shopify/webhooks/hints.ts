import type { Clock } from '../../../clock.ts';
import { CommandError } from '../../../errors.ts';
import { ShopifyError } from '../api/answer.ts';
import { createShopifyClient } from '../api/client.ts';
import type { ShopifyCredentials } from '../api/credentials.ts';
import { fetchContract, fetchPlanGroup } from '../api/fetch.ts';
import { formatGid } from '../api/gid.ts';
import {
  type SyncedShop,
  countRefused,
  deletionOf,
  linesOfContracts,
  linesOfPlanGroup,
  takeNodes,
  takeRecords,
} from '../sync/intake.ts';
import { gonePlans } from '../sync/reconcile.ts';
import { ownedState } from '../sync/sync-shop.ts';
import { importShopOf } from '../../../ingest/apply.ts';
import type { Line } from '../../../ingest/lines.ts';
import type { Log } from '../../../log.ts';
import type { Sql } from '../../../store/database.ts';
import { deleteJobsOfShop } from '../../../store/feeds/jobs.ts';
import { findUninstall } from '../store/shops.ts';
import { findShop } from '../../../store/shops.ts';
import { Hopeless, type Job } from '../../queue.ts';
import type { Hint } from './topics.ts';

interface FollowerParts {
  readonly sql: Sql;
  readonly credentials: readonly ShopifyCredentials[];
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Asks Shopify how what a webhook was about is now, and stores that. What the webhook itself said does
 * not count, so neither order nor repetition matters. A shop that has left is left alone.
 */
export function createFollower({ sql, credentials, clock, log }: FollowerParts) {
  return async (job: Job<Hint>, signal: AbortSignal): Promise<void> => {
    const { shopId } = job;
    const shop = await findShop(sql, shopId);
    if (!shop) {
      // An instance may still take in webhooks of a shop that was deleted. Nothing of it is to stay.
      await deleteJobsOfShop(sql, shopId);
      return;
    }
    if (await findUninstall(sql, shopId)) return;
    const known = credentials.find((each) => each.shop === shopId);
    if (!known) {
      throw new Hopeless(`SHOPIFY_CREDENTIALS_FILE has nothing for shop ${shopId}.`);
    }
    const synced: SyncedShop = {
      client: createShopifyClient({ ...known, clock, log, signal }),
      sql,
      shop: importShopOf(shop),
      clock,
      log,
      feed: 'shopify-webhooks',
    };
    const refused = await follow(synced, job).catch((error: unknown) => {
      const mayPass = error instanceof ShopifyError && error.kind === 'unavailable';
      throw error instanceof CommandError && !mayPass ? new Hopeless(error.message) : error;
    });
    if (refused > 0) {
      throw new Hopeless(`Of ${job.kind} ${job.id} not all could be taken in; the log says why.`);
    }
  };
}

async function follow(synced: SyncedShop, { kind, id }: Hint): Promise<number> {
  // What is not in Shopify is deleted, so all that the shop has must be from there.
  await ownedState(synced, false);
  return followers[kind](synced, id);
}

type Follow = (synced: SyncedShop, id: number) => Promise<number>;

const followers: Readonly<Record<Hint['kind'], Follow>> = {
  async contract(synced, id) {
    const { client } = synced;
    const whole = await fetchContract(
      client,
      formatGid({ type: 'SubscriptionContract', key: `${id}` }),
    );
    const counts = whole
      ? await takeNodes(synced, [{ name: client.domain, lines: once(linesOfContracts([whole])) }])
      : await takeRecords(synced, once([deletionOf('subscription', id)]));
    return countRefused(counts);
  },

  // A plan does not say which group it was in, so all that are stored are looked for: there are few.
  async planGroup(synced, id) {
    const { client } = synced;
    const whole = await fetchPlanGroup(
      client,
      formatGid({ type: 'SellingPlanGroup', key: `${id}` }),
    );
    const taken = whole
      ? await takeNodes(synced, [{ name: client.domain, lines: once(linesOfPlanGroup(whole)) }])
      : {};
    const gone = await takeRecords(synced, gonePlans(synced, { has: () => false }));
    return countRefused(taken) + countRefused(gone);
  },
};

async function* once(lines: Iterable<Line>): AsyncGenerator<Line[]> {
  yield [...lines];
}
