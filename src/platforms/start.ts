import type { Clock } from '../clock.ts';
import type { ShopifyCredentials } from './shopify/api/credentials.ts';
import type { Route } from '../http/shell.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store/open.ts';
import { doDuty } from './shopify/webhooks/duties.ts';
import { createFollower } from './shopify/webhooks/hints.ts';
import { WebhookQueue } from './queue.ts';
import { webhookRoute } from './route.ts';
import { ShopDirectory } from './shop-directory.ts';

interface WebhookParts {
  /** What Shopify signs with: the client secret of the app, and while it is rotated the old one. */
  readonly secrets: readonly string[];
  readonly credentials: readonly ShopifyCredentials[];
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Webhooks {
  readonly route: Route;
  /** Lets what is under way come to its end, or go back. */
  close(): Promise<void>;
}

/** Takes webhooks in, and follows them: both in each instance. */
export async function startWebhooks(parts: WebhookParts): Promise<Webhooks> {
  const { secrets, credentials, store, clock, log } = parts;
  const sql = store.jobs;
  const queue = await WebhookQueue.open(sql, log);
  const shops = await ShopDirectory.open(
    sql,
    credentials.map(({ shop, domain }) => ({ shopId: shop, domain })),
  );
  await queue.work('duties', (job) => doDuty(sql, job));
  await queue.work('hints', createFollower({ sql, credentials, clock, log }));
  return {
    route: webhookRoute({ secrets, sql, shops, queue, clock, log }),
    close: () => queue.close(),
  };
}
