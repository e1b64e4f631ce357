import type { Intake } from '../intake.ts';
import type { Clock } from '../../clock.ts';
import type { Route } from '../../http/shell.ts';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open.ts';
import { deleteShop } from '../../store/shop-deletion.ts';
import { type PlatformsConfig, type OpenPlatform, mayHaveShops, openPlatform } from '../open.ts';
import type { Platform, Hint } from '../platform.ts';
import { findWhyNotTaken } from '../keeper.ts';
import { platforms, feedsOf } from '../registry.ts';
import type { JobQueue, Job } from './queue.ts';
import { webhookRoute } from './route.ts';
import { CommandError } from '../../errors.ts';
import { importShopOf } from '../../ingest/apply.ts';
import { deleteJobsOfShop } from '../../store/feeds/jobs.ts';
import type { RecordType } from '../../records/records.ts';
import { findSyncState } from '../../store/feeds/platforms.ts';
import { findShop } from '../../store/shops.ts';
import { NonRetryableError, PlatformError } from '../errors.ts';

interface WebhookParts {
  readonly config: PlatformsConfig;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly queue: JobQueue;
}

/**
 * Receives the webhooks of each platform that has a secret, and runs their jobs, and those of webhooks that come to the
 * push door.
 */
export async function startWebhooks({ config, store, clock, log, queue }: WebhookParts) {
  const secretsOf = ({ name }: Platform) => config.platforms[name]?.webhookSecrets ?? [];
  const configured = platforms.flatMap((platform) =>
    platform.webhooks && secretsOf(platform).length > 0 ? { platform, ...platform.webhooks } : [],
  );
  const sql = store.jobs;
  const closing = new AbortController();
  const { signal } = closing;
  const followHints = async (platform: Platform, name: string): Promise<OpenPlatform> => {
    const opened = await openPlatform(platform, { config, clock, log, signal });
    queue.work(name, 'hints', (job, stopping) =>
      follow(opened, { sql, clock, log, signal: stopping }, job),
    );
    return opened;
  };
  const start = async ({ platform, queues, open }: (typeof configured)[number]): Promise<Route> => {
    const { shops } = await followHints(platform, queues.hints);
    const webhooks = await open({
      secrets: secretsOf(platform),
      findConnected: (account) => shops.findByAccount(sql, account),
      sql,
      queue,
      queues,
      clock,
      log,
      deleteShop: (shopId, check) =>
        deleteShop(sql, shopId, {
          check,
          at: new Date(clock.now()),
          by: { who: `platform ${platform.name}` },
        }),
    });
    queue.work(queues.duties, 'duties', (job) => webhooks.doDuty(job));
    return webhookRoute(platform.name, webhooks, log);
  };
  const routes: Route[] = [];
  for (const each of configured) routes.push(await start(each));
  const pushed = mayHaveShops(config)
    ? platforms.flatMap((platform) => (platform.pushed ? { platform, ...platform.pushed } : []))
    : [];
  const queues = configured.flatMap((each) => Object.values(each.queues));
  for (const { platform, queue: name } of pushed) {
    await followHints(platform, name);
    queues.push(name);
  }
  return {
    routes,
    /** The names of the platforms' queues. */
    queues,
    /** To be called once the queue is closed. */
    close: () => closing.abort(),
  };
}

/**
 * Fetches the current state of what a webhook was about, and stores it. The webhook's own content
 * is ignored, so neither order nor duplicates matter.
 */
async function follow(
  { platform, code, shops, connectionTo }: OpenPlatform,
  { sql, clock, log, signal }: Pick<Intake, 'sql' | 'clock' | 'log' | 'signal'>,
  { shopId, kind, id = 0, at }: Job & Partial<Hint>,
): Promise<void> {
  const shop = await findShop(sql, shopId);
  if (!shop) {
    // An instance may still receive webhooks for a deleted shop; nothing about it may remain.
    await deleteJobsOfShop(sql, shopId);
    return;
  }
  // What it misses meanwhile, the next sync brings.
  if ((await code.findPause?.(sql, shopId)) !== undefined) return;
  if ((await findSyncState(sql, shopId, platform.name))?.refusedAt) return;
  const connected = await shops.find(sql, shopId);
  if (!connected) {
    throw new NonRetryableError(`Shop ${shopId} is not connected to ${platform.title}.`);
  }
  const feed = feedsOf(platform).webhooks;
  const findReason = await findWhyNotTaken(sql, shopId, platform);
  let left = 0;
  const whyNotTaken = (type: RecordType) => {
    const reason = findReason(type);
    // Once for each record that is refused for it.
    if (reason !== undefined) left += 1;
    return reason;
  };
  const intake = { sql, shop: importShopOf(shop), feed, clock, log, signal, whyNotTaken };
  const refused =
    (await connectionTo(connected)
      .follow?.(intake, { kind, id, ...(at !== undefined && { at }) })
      .catch((error: unknown) => {
        const mayPass = error instanceof PlatformError && error.kind === 'unavailable';
        throw error instanceof CommandError && !mayPass
          ? new NonRetryableError(error.message)
          : error;
      })) ?? 0;
  // The job has nothing to do with what another platform keeps up.
  if (refused > left) {
    throw new NonRetryableError(`Some records of ${kind} ${id} were refused; the log says why.`);
  }
}
