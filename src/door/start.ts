import type { Route } from '../http/shell.ts';
import { listSourcesWithOpenBatches } from '../store/door/batches.ts';
import type { Store } from '../store/open.ts';
import { type DoorParts, doorRoutes } from './routes.ts';
import { resealSources } from './sources.ts';
import { createPushWorker, pushQueue, sendPushJob } from './work.ts';

type StartParts = Omit<DoorParts, 'sql'> & { readonly store: Store };

/** Receives pushed records, and stores them. Every instance does both. */
export async function startDoor(parts: StartParts): Promise<readonly Route[]> {
  const { store, clock, log, sealing, queue } = parts;
  const sql = store.write;
  if (queue) {
    // One at a time, so that the connections for jobs are never all in use.
    const work = createPushWorker({ sql: store.jobs, queue, clock, log });
    await queue.work(pushQueue, 'hints', work, 1);
    // The jobs of a process that died are taken over later than these.
    for (const source of await listSourcesWithOpenBatches(sql)) {
      await sendPushJob({ queue, clock }, source);
    }
  }
  if (sealing) {
    const count = await resealSources(sql, sealing);
    if (count > 0) log.info({ sources: count }, 'secrets of push sources encrypted anew');
  }
  return doorRoutes({ ...parts, sql });
}
