/** The thread that runs the embedded database, whose every statement stops whatever shares its thread. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { parentPort, workerData } from 'node:worker_threads';

import { findShortage } from './disk-space.ts';
import { Multiplexer } from './multiplexer.ts';
import { openDatabase, sessionOf } from './session.ts';

export interface WorkerOptions {
  folder: string;
  socketPath: string;
  holdTimeoutMilliseconds?: number;
  /** Free bytes of the disk below which nothing is written. */
  reserveBytes: number;
}

/** What the parent says, once: 'drain' lets clients that are still there end by themselves first. */
export type WorkerOrder = 'close' | 'drain';

/** What the thread tells its parent. */
export type WorkerReport = { kind: 'ready' } | { kind: 'failed'; reason: string };

const printedLinesKept = 20;

function report(message: WorkerReport): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort!.postMessage(message);
}

async function main(): Promise<void> {
  const { folder, socketPath, holdTimeoutMilliseconds, reserveBytes } = workerData as WorkerOptions;
  const printed: string[] = [];
  let multiplexer: Multiplexer | undefined;
  const print = (line: string): void => {
    printed.push(line);
    if (printed.length > printedLinesKept) printed.shift();
  };
  const crash = (printedLine: string): void => {
    // What stands before it is the time, in a process that has no other log.
    const line = printedLine.replace(/^.*?(?=PANIC: )/, '');
    multiplexer?.abandon(`the embedded database stopped: ${line}`);
    report({ kind: 'failed', reason: line });
    process.exit(1);
  };
  const fail = (error: unknown): void => {
    // What the file system of PGlite throws has no text of its own.
    const text = error instanceof Error ? String(error) : inspect(error);
    const reason = [text, ...printed.filter((line) => /FATAL|PANIC|ERROR/.test(line))];
    report({ kind: 'failed', reason: reason.join('\n') });
    process.exit(1);
  };

  try {
    const database = await openDatabase(folder, print, crash);
    const version = await database.query<{ server_version: string }>('SHOW server_version');
    multiplexer = new Multiplexer(sessionOf(database), {
      serverVersion: version.rows[0]!.server_version,
      ...(holdTimeoutMilliseconds === undefined ? {} : { holdTimeoutMilliseconds }),
      findShortage: () => findShortage(folder, reserveBytes),
      onFailure: fail,
    });
    const server = createServer({ allowHalfOpen: true }, (socket) => multiplexer?.serve(socket));
    server.listen(socketPath);
    await once(server, 'listening');
    report({ kind: 'ready' });

    const [order] = (await once(parentPort!, 'message')) as [WorkerOrder];
    const drained = new Promise<void>((resolve) => server.close(() => resolve()));
    if (order === 'drain') await drained;
    await multiplexer.stop();
    await database.close();
    process.exit(0);
  } catch (error) {
    fail(error);
  }
}

await main();
