import type { Clock } from '../../clock.ts';
import type { Route } from '../../http/shell.ts';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open.ts';
import { deleteShop } from '../../store/records/deletions.ts';
import { type PlatformsConfig, openPlatform } from '../open.ts';
import type { Platform } from '../platform.ts';
import { forgetShop, platforms } from '../registry.ts';
import { createFollower } from './follow.ts';
import type { JobQueue } from './queue.ts';
import { webhookRoute } from './route.ts';

interface WebhookParts {
  readonly config: PlatformsConfig;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly queue: JobQueue;
}

interface RunningWebhooks {
  readonly routes: readonly Route[];
  /** The names of the platforms' queues. */
  readonly queues: readonly string[];
  /** To be called once the queue is closed. */
  close(): void;
}

/** The platforms whose webhooks are received: those that have a secret. */
function listWebhookPlatforms({ platforms: configs }: PlatformsConfig): Platform[] {
  return platforms.filter(({ name }) => configs[name]?.webhookSecrets.length);
}

/** Receives the webhooks of each platform that has a secret, and runs their jobs. */
export async function startWebhooks({
  config,
  store,
  clock,
  log,
  queue,
}: WebhookParts): Promise<RunningWebhooks> {
  const configured = listWebhookPlatforms(config);
  const sql = store.jobs;
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
      deleteShop: (shopId, check) => deleteShop(sql, shopId, { check, forget: forgetShop }),
    });
    const follow = createFollower({ ...opened, sql, clock, log });
    queue.work(platform.queues.duties, 'duties', (job) => webhooks.doDuty(job));
    queue.work(platform.queues.hints, 'hints', follow);
    return webhookRoute(platform.name, webhooks, log);
  };
  const routes: Route[] = [];
  for (const platform of configured) routes.push(await start(platform));
  return {
    routes,
    queues: configured.flatMap(({ queues }) => Object.values(queues)),
    close: () => closing.abort(),
  };
}
