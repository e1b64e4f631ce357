import cluster from 'node:cluster';
import { systemClock } from '../../clock.ts';
import { loginOf } from '../../config/database-url.ts';
import { CommandError } from '../../errors.ts';
import type { Service } from '../../service.ts';
import { checkCredentialsFiles } from '../../platforms/open.ts';
import { type RunningSyncs, startSyncs } from '../../platforms/sync/start.ts';
import { migrate } from '../../store/migrate.ts';
import { type Store, openStore } from '../../store/open.ts';
import { upsertServiceAddress } from '../../store/owners/owners.ts';
import { prepareEmbeddedRole, prepareServingLogin } from '../../store/serving-login.ts';
import { listWarnings } from '../findings.ts';
import { type Context, defineCommand, exitStatus, withDefault } from '../framework/command.ts';
import { print, printJson } from '../framework/io.ts';
import { heapLimitMegabytes, limitHeap } from './heap.ts';
import { logLastResort, setLastResort } from './last-resort.ts';
import { StopDeadline } from './stop-deadline.ts';
import { checkWorkers, reportReady, superviseWorkers, workerCount } from './workers.ts';

export const serveCommand = defineCommand({
  name: 'serve',
  about: 'serves REST, MCP and the reference on one port until stopped',
  options: {
    workers: withDefault(
      workerCount,
      '1',
      'how many processes share the port; several need REDIS_URL',
    ),
  },
  async run({ workers }, context) {
    const { config, log, io } = context;
    checkWorkers(workers, config);
    if (cluster.isWorker) {
      cluster.worker?.on('error', () => {
        // The supervisor is gone, which ends a worker anyway.
      });
      try {
        return await serve(context, async ({ baseUrl }) => reportReady(baseUrl));
      } finally {
        // The channel to the supervisor would otherwise keep the process alive.
        cluster.worker?.disconnect();
      }
    }
    const greet = (baseUrl: string) => print(io, `Retention Data Service listens on ${baseUrl}`);
    if (workers === 1) {
      limitHeap(config);
      return serve(context, async ({ baseUrl }) => greet(baseUrl));
    }
    try {
      const parts = { config, log, stopped: io.stopSignal(), greet };
      return (await superviseWorkers(workers, parts)) ? exitStatus.done : exitStatus.failed;
    } finally {
      log.flush();
    }
  },
});

/** Most clients send another request within it, and learn that the connection is closing. */
const drainMilliseconds = 1_000;

/**
 * Opens and migrates the store, and serves until a signal arrives or the embedded database stops.
 * @param greet runs once requests are answered; it may fill the store, until the process is stopped
 */
export async function serve(
  { config, log, io }: Context,
  greet: (service: Service, store: Store) => Promise<void>,
): Promise<number> {
  setLastResort(logLastResort(log));
  if (config.syncs) await checkCredentialsFiles(config);
  const opening = openStore({
    ...config,
    role: 'serve',
    serveUrl: config.databaseServeUrl,
    ...(config.auditLog === 'stdout' && { audited: (entry) => printJson(io, entry) }),
    replication: { standbys: config.databaseReadUrls, log },
  });
  // Loaded while the database opens. What explains commands or supervises workers never needs it.
  const [store, { startService }] = await Promise.all([opening, import('../../service.ts')]);
  let deadline: StopDeadline | undefined;
  let syncs: RunningSyncs | undefined;
  try {
    const applied = await migrate(store.write, { onWait: (text) => log.warn(text) });
    if (applied.length > 0) log.info({ applied }, 'schema migrated');
    if (config.databaseServeUrl !== undefined) {
      await prepareServingLogin(store, loginOf(config.databaseServeUrl));
    } else if (config.databaseUrl === undefined) {
      await prepareEmbeddedRole(store.write);
    }
    for (const { detail } of listWarnings(config)) log.warn(detail);
    const service = await startService({ config, store, clock: systemClock, log });
    syncs = startSyncs(config, log);
    setLastResort(logLastResort(log, () => service.saveKeyUse()));
    const { baseUrl, metricsUrl } = service;
    const { pid, version: node } = process;
    const heapMegabytes = heapLimitMegabytes();
    log.info({ baseUrl, metricsUrl, pid, node, heapMegabytes }, 'listening');
    // Before the greeting: a supervisor that reads it may send a signal at once.
    const stopped = io.stopSignal();
    await upsertServiceAddress(store.write, baseUrl).catch((err: unknown) => {
      log.warn({ err }, 'could not store the address for links that commands print');
    });
    const ended = Promise.race([stopped, store.failed]);
    const greeted = greet(service, store).then(() => ended);
    const reason = await Promise.race([ended, greeted]).catch(async (error: unknown) => {
      await service.close();
      throw error;
    });
    deadline = new StopDeadline(config.stopSeconds, log);
    if (reason instanceof Error) {
      deadline.failure = new CommandError(`The embedded database stopped: ${reason.message}`, {
        cause: reason,
      });
      // Open ports would otherwise keep the process alive.
      await service.close(0, deadline.signal);
      throw deadline.failure;
    }
    log.info({ signal: reason }, 'stopping');
    await Promise.all([
      service.close(drainMilliseconds, deadline.signal),
      syncs?.close(deadline.signal),
    ]);
    return exitStatus.done;
  } catch (error) {
    deadline ??= new StopDeadline(config.stopSeconds, log);
    deadline.failure = error as Error;
    throw error;
  } finally {
    deadline ??= new StopDeadline(config.stopSeconds, log);
    await syncs?.close(deadline.signal);
    await store.close();
    deadline.release();
    log.flush();
  }
}
