import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../clock.ts';
import type { Config } from '../../config/config.ts';
import { describeError } from '../../errors.ts';
import { linesPerServerTransaction } from '../../ingest/import.ts';
import { createLog } from '../../log/log.ts';
import { openStore } from '../../store/open.ts';
import { ShopLocks } from '../../store/locks.ts';
import { Sealing } from '../credentials/sealing.ts';
import { resealAll } from '../credentials/stored.ts';
import { openPlatform } from '../open.ts';
import { realBackoff } from '../backoff.ts';
import type { Platform } from '../platform.ts';
import { platforms } from '../registry.ts';
import { intervalSeconds, pollSeconds, syncUntilIdle } from './scheduler.ts';

/*
 * The thread in which a server syncs shops, so that a large result delays no request. It ends once it is sent a
 * message.
 */
const sent = workerData as Config;
// Buffers arrive as plain arrays.
const config = { ...sent, credentialsKeys: sent.credentialsKeys.map((key) => Buffer.from(key)) };
const log = createLog(config.logLevel);
const stopping = new AbortController();
const { signal } = stopping;
parentPort?.once('message', () => stopping.abort());

const store = await openStore({ ...config, role: 'command' });
const locks = new ShopLocks(store.write, config);

async function follow(platform: Platform): Promise<void> {
  const opened = await openPlatform(platform, { config, clock: systemClock, log, signal });
  const sealing = new Sealing(config.credentialsKeys);
  const resealed = await resealAll({ sql: store.write, platform: platform.name, sealing });
  if (resealed > 0)
    log.info({ platform: platform.name, shops: resealed }, 'credentials encrypted anew');
  const linesPerTransaction =
    config.databaseUrl === undefined ? undefined : linesPerServerTransaction;
  const parts = {
    ...opened,
    store,
    locks,
    clock: systemClock,
    log,
    linesPerTransaction,
    signal,
    intervalSeconds,
    backoff: realBackoff,
    leftAlone: new Map(),
  };
  for (;;) {
    // The database may be away for a while.
    await syncUntilIdle(parts).catch((error: unknown) => {
      signal.throwIfAborted();
      log.error({ platform: platform.name, reason: describeError(error) }, 'sync failed');
    });
    await realBackoff.wait(pollSeconds * 1000 * (0.9 + realBackoff.random() / 5), signal);
  }
}

try {
  await Promise.all(platforms.map(follow));
} catch (error) {
  if (!signal.aborted) throw error;
} finally {
  await store.close();
  log.flush();
}
