import type { Route } from '../http/shell.ts';
import { listSourcesWithOpenBatches } from '../store/push/batches.ts';
import type { Store } from '../store/open.ts';
import { type PushParts, pushRoutes } from './routes.ts';
import { resealSources } from './sources.ts';
import { createPushWorker, pushQueue, sendPushJob } from './work.ts';

type StartParts = Omit<PushParts, 'sql'> & { readonly store: Store };

interface Push {
  readonly routes: readonly Route[];
  /** Encrypts secrets that are plain, or were encrypted with an older key. */
  reseal(): Promise<void>;
  /** Has the batches of earlier processes stored. To be called once the queue is open. */
  resume(): Promise<void>;
  /** How many pushed records this process has refused. */
  refusedRecords(): number;
}

/** Receives pushed records, and stores them. Every instance does both. */
export function startPush(parts: StartParts): Push {
  const { store, clock, log, sealing, queue } = parts;
  const sql = store.write;
  let refusedRecords = 0;
  const countRefused = (records: number) => void (refusedRecords += records);
  const worker = createPushWorker({ sql: store.jobs, queue, clock, log, countRefused });
  // One at a time, so that the connections for jobs are never all in use.
  queue.work(pushQueue, 'hints', worker, 1);
  return {
    routes: pushRoutes({ ...parts, sql }),
    async reseal() {
      const count = await resealSources(sql, sealing);
      if (count > 0) log.info({ sources: count }, 'secrets of push sources encrypted anew');
    },
    refusedRecords: () => refusedRecords,
    async resume() {
      // The jobs of a process that died are taken over later than these.
      for (const source of await listSourcesWithOpenBatches(sql)) {
        await sendPushJob({ queue, clock }, source);
      }
    },
  };
}
