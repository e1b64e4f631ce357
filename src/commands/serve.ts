import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import { CommandError } from '../errors.ts';
import type { Log } from '../log.ts';
import { type Service, startService } from '../service.ts';
import { migrate } from '../store/migrate.ts';
import { type Store, openStore } from '../store/open.ts';
import { type Command, exitStatus, print } from './command.ts';

export const serveCommand: Command = {
  name: 'serve',
  synopsis: '',
  summary: 'serves REST, MCP and the reference on one port, until it is told to stop',
  options: {},
  run: ({ config, log }) =>
    serve(config, log, async ({ baseUrl }) =>
      print(`Retention Data Service listens on ${baseUrl}`),
    ),
};

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
    replication: { standbys: config.databaseReadUrls, log },
  });
  try {
    const applied = await migrate(store.write);
    if (applied.length > 0) log.info({ applied }, 'schema migrated');
    await prepare(store);
    const service = await startService({ config, store, clock: systemClock, log }).catch((error) =>
      explain(error, `${config.host}:${config.port}`),
    );
    log.info({ baseUrl: service.baseUrl, pid: process.pid, node: process.version }, 'listening');
    await greet(service, store);

    const reason = await Promise.race([stopSignal(), store.failed]);
    if (reason instanceof Error) {
      throw new CommandError(`The embedded database stopped: ${reason.message}`, { cause: reason });
    }
    log.info({ signal: reason }, 'stopping');
    await service.close();
    return exitStatus.done;
  } finally {
    await store.close();
    log.flush();
  }
}

const repeatMilliseconds = 500;

/**
 * The first signal asks for a clean end; a later one ends the process at once. One that comes with the
 * first is the same wish: npm passes on what the terminal has sent to all of its processes already.
 */
function stopSignal(): Promise<NodeJS.Signals> {
  const signals = ['SIGINT', 'SIGTERM'] as const;
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      resolve(signal);
      setTimeout(() => {
        for (const each of signals) process.removeListener(each, stop);
      }, repeatMilliseconds).unref();
    };
    for (const signal of signals) process.on(signal, stop);
  });
}

function explain(error: NodeJS.ErrnoException, where: string): never {
  switch (error.code) {
    case 'EADDRINUSE':
      throw new CommandError(`Another process listens on ${where}; choose another PORT.`);
    case 'EACCES':
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      throw new CommandError(
        `${where} cannot be listened on: ${error.message}; choose another HOST or PORT.`,
      );
    default:
      throw error;
  }
}
