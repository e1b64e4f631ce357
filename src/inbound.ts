import type { Clock } from './clock.ts';
import { secretSealing } from './push/sources.ts';
import { startPush } from './push/routes.ts';
import { type UploadConfig, defaultUploads } from './config/settings.ts';
import { Uploads } from './push/upload/uploads.ts';
import { describeError } from './errors.ts';
import type { Log } from './log/log.ts';
import type { PlatformsConfig } from './platforms/open.ts';
import { jittered, realBackoff } from './platforms/backoff.ts';
import { JobQueue } from './platforms/webhooks/queue.ts';
import { startWebhooks } from './platforms/webhooks/start.ts';
import type { Store } from './store/open.ts';

interface InboundParts {
  readonly config: PlatformsConfig;
  /** Overridden by the configuration. */
  readonly uploads: UploadConfig | undefined;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

/** Receives what platforms and shops send, and runs the jobs that follow from it. Every instance does both. */
export async function startInbound(parts: InboundParts) {
  const { config, store, clock, log, uploads: limits = defaultUploads } = parts;
  const queue = new JobQueue(store.jobs, log);
  const webhooks = await startWebhooks({ config, store, clock, log, queue });
  const sealing = secretSealing(config.credentialsKeys);
  const push = startPush({ store, clock, log, sealing, queue });
  const database = store.address;
  const uploads = new Uploads({ sql: store.write, database, limits, clock, log });
  const closing = new AbortController();
  const { signal } = closing;

  async function openQueue(): Promise<void> {
    let problem: string | undefined;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        await push.reseal();
        await queue.open();
        await push.resume();
        if (problem !== undefined) log.info('job queue opened');
        return;
      } catch (error) {
        if (signal.aborted) return;
        const reason = describeError(error);
        if (reason !== problem) {
          log.error({ reason }, 'job queue not opened; trying again until it is');
        }
        problem = reason;
      }
      await realBackoff.wait(jittered(attempt, realBackoff.random()), signal).catch(() => {});
    }
  }

  return {
    routes: [...webhooks.routes, ...push.routes],
    /** The queues of the platforms whose webhooks are received. */
    webhookQueues: webhooks.queues,
    /** How many pushed records this process has refused after they were accepted. */
    refusedRecords: push.refusedRecords,
    /** How much of the queue of pushed batches a shop may use. */
    maxQueueUse: push.maxQueueUse,
    /** For the pages on which owners upload files. */
    uploads,
    /**
     * Begins to open the job queue, and returns at once. Until it is open, which the database may not allow yet, what
     * needs it is answered 503.
     */
    open: () => void openQueue(),
    /** Lets jobs in progress finish, or go back to the queue. */
    async close() {
      closing.abort();
      await Promise.all([queue.close(), uploads.close()]);
      webhooks.close();
    },
  };
}
