import type { Clock } from './clock.ts';
import { startDoor } from './door/start.ts';
import { pushQueue } from './door/work.ts';
import type { Route } from './http/shell.ts';
import type { Log } from './log/log.ts';
import { type PlatformsConfig, sealingOf } from './platforms/open.ts';
import { JobQueue } from './platforms/webhooks/queue.ts';
import { listWebhookPlatforms, startWebhooks } from './platforms/webhooks/start.ts';
import type { Store } from './store/open.ts';

interface InboundParts {
  readonly config: PlatformsConfig;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

interface Inbound {
  readonly routes: readonly Route[];
  readonly receivesWebhooks: boolean;
  /** Lets jobs in progress finish, or go back to the queue. */
  close(): Promise<void>;
}

/** Receives what platforms and shops send, and runs the jobs that follow from it. Every instance does both. */
export async function startInbound({ config, store, clock, log }: InboundParts): Promise<Inbound> {
  const sealing = sealingOf(config.credentialsKeys);
  const configured = listWebhookPlatforms(config);
  const pushes = sealing !== undefined;
  const queue =
    pushes || configured.length > 0
      ? await JobQueue.open(store.jobs, log, [
          ...configured.map(({ queues }) => queues),
          ...(pushes ? [{ hints: pushQueue }] : []),
        ])
      : undefined;
  const webhooks = queue && (await startWebhooks({ config, store, clock, log, queue }));
  const door = { store, clock, log, sealing, queue: pushes ? queue : undefined };
  return {
    routes: [...(webhooks?.routes ?? []), ...(await startDoor(door))],
    receivesWebhooks: configured.length > 0,
    async close() {
      await queue?.close();
      webhooks?.close();
    },
  };
}
