import type { Clock } from '../../clock.ts';
import type { Route } from '../../http/shell.ts';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open.ts';
import { deleteShop } from '../../store/shop-deletion.ts';
import { type PlatformsConfig, openPlatform } from '../open.ts';
import type { Platform } from '../platform.ts';
import { forgetShop, platforms } from '../registry.ts';
import { createFollower } from './follow.ts';
import { JobQueue } from './queue.ts';
import { webhookRoute } from './route.ts';

interface WebhookParts {
  readonly config: PlatformsConfig;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

export interface RunningWebhooks {
  readonly routes: readonly Route[];
  /** Lets jobs in progress finish, or go back to the queue. */
  close(): Promise<void>;
}

/**
 * Receives the webhooks of each platform that has a secret, and runs their jobs. Every instance
 * does both.
 * @returns undefined if no platform has a secret
 */
export async function startWebhooks({
  config,
  store,
  clock,
  log,
}: WebhookParts): Promise<RunningWebhooks | undefined> {
  const configured = platforms.filter(({ name }) => config.platforms[name]?.webhookSecrets.length);
  if (configured.length === 0) return undefined;
  const sql = store.jobs;
  const queue = await JobQueue.open(
    sql,
    log,
    configured.map(({ queues }) => queues),
  );
  const closing = new AbortController();
  const { signal } = closing;
  const start = async (platform: Platform): Promise<Route> => {
    const secrets = config.platforms[platform.name]?.webhookSecrets ?? [];
    const opened = await openPlatform(platform, { config, clock, log, signal });
    const { code, shops } = opened;
    const webhooks = await code.openWebhooks({
      secrets,
      findConnected: async (account) =>
        (await shops.list(sql)).find((each) => each.account === account)?.shop,
      sql,
      queue,
      queues: platform.queues,
      clock,
      log,
      deleteShop: (shopId, check) =>
        deleteShop(sql, shopId, { check, forget: (tx) => forgetShop(tx, shopId) }),
    });
    const follow = createFollower({ ...opened, sql, clock, log });
    await queue.work(platform.queues.duties, 'duties', (job) => webhooks.doDuty(job));
    await queue.work(platform.queues.hints, 'hints', follow);
    return webhookRoute(platform.name, webhooks, log);
  };
  const routes: Route[] = [];
  for (const platform of configured) routes.push(await start(platform));
  return {
    routes,
    async close() {
      await queue.close();
      closing.abort();
    },
  };
}
