import cluster from 'node:cluster';
import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import { loginOf } from '../database-url.ts';
import { CommandError } from '../errors.ts';
import type { Log } from '../log.ts';
import { type Service, startService } from '../service.ts';
import { migrate } from '../store/migrate.ts';
import { type Store, openStore } from '../store/open.ts';
import { prepareServingLogin } from '../store/serving-login.ts';
import { type Command, exitStatus, listWarnings, print } from './command.ts';
import { stopSignal } from './stop-signal.ts';
import { parseWorkers, reportReady, superviseWorkers } from './workers.ts';

export const serveCommand: Command = {
  name: 'serve',
  synopsis: '[--workers N]',
  summary: 'serves REST, MCP and the reference on one port, until it is told to stop',
  details: ['--workers  how many processes share the port (1); several need REDIS_URL'],
  options: { workers: { type: 'string', default: '1' } },
  async run({ config, log, options }) {
    const count = parseWorkers(String(options['workers']), config);
    if (cluster.isWorker) {
      try {
        return await serve(config, log, async ({ baseUrl }) => reportReady(baseUrl));
      } finally {
        // Else what it hears of its supervisor through would keep it from ending.
        cluster.worker?.disconnect();
      }
    }
    if (count === 1) return serve(config, log, async ({ baseUrl }) => sayAddress(baseUrl));
    try {
      await superviseWorkers(count, { config, log, stopped: stopSignal(), greet: sayAddress });
    } finally {
      log.flush();
    }
    return exitStatus.done;
  },
};

function sayAddress(baseUrl: string): void {
  print(`Retention Data Service listens on ${baseUrl}`);
}

const lingerMilliseconds = 200;
/** Most clients ask again within it, and learn that the connection ends. */
const drainMilliseconds = 1_000;

/**
 * Opens and migrates the store, listens, and stays until a signal comes or the database is lost.
 * @param prepare runs before the first request can come; fills the store, say
 * @param greet runs once requests are answered
 */
export async function serve(
  config: Config,
  log: Log,
  greet: (service: Service, store: Store) => Promise<void>,
  prepare: (store: Store) => Promise<void> = async () => {},
): Promise<number> {
  const store = await openStore({
    ...config,
    role: 'serve',
    serveUrl: config.databaseServeUrl,
    replication: { standbys: config.databaseReadUrls, log },
  });
  try {
    const applied = await migrate(store.write, { onWait: (text) => log.warn(text) });
    if (applied.length > 0) log.info({ applied }, 'schema migrated');
    if (config.databaseServeUrl !== undefined) {
      await prepareServingLogin(store, loginOf(config.databaseServeUrl));
    }
    for (const { detail } of listWarnings(config)) log.warn(detail);
    await prepare(store);
    const service = await startService({ config, store, clock: systemClock, log });
    const { baseUrl, metricsUrl } = service;
    log.info({ baseUrl, metricsUrl, pid: process.pid, node: process.version }, 'listening');
    // Before the greeting: a supervisor that reads it may send a signal at once.
    const stopped = stopSignal();
    await greet(service, store);

    const reason = await Promise.race([stopped, store.failed]);
    if (reason instanceof Error) {
      // Else what it listens on would keep the process alive, answering nothing.
      await service.close();
      throw new CommandError(`The embedded database stopped: ${reason.message}`, { cause: reason });
    }
    log.info({ signal: reason }, 'stopping');
    await service.close(drainMilliseconds);
    return exitStatus.done;
  } finally {
    await store.close();
    log.flush();
    // An attempt to send traces to a collector that does not answer would go on.
    if (config.tracing) setTimeout(() => process.exit(), lingerMilliseconds).unref();
  }
}
