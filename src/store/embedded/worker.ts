/** The thread that runs the embedded database; each statement blocks the thread that it runs on. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { parentPort, workerData } from 'node:worker_threads';

import { findShortage } from './folder.ts';
import { Multiplexer } from './multiplexer.ts';
import { openDatabase, sessionOf } from './session.ts';

export interface WorkerOptions {
  folder: string;
  socketPath: string;
  holdTimeoutMilliseconds?: number;
  /** Free disk space in bytes below which nothing is written. */
  reserveBytes: number;
}

/** Sent once by the parent thread; 'drain' waits until all clients have disconnected. */
export type WorkerCommand = 'close' | 'drain';

/** Sent to the parent thread; 'draining' if clients are still there after two seconds. */
export type WorkerReport =
  | { kind: 'ready' }
  | { kind: 'draining' }
  | { kind: 'failed'; reason: string };

const printedLinesKept = 20;
/** Most commands take less. */
const waitMilliseconds = 2_000;

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
    // Remove the timestamp before it.
    const line = printedLine.replace(/^.*?(?=PANIC: )/, '');
    multiplexer?.abandon(`the embedded database stopped: ${line}`);
    report({ kind: 'failed', reason: line });
    process.exit(1);
  };
  const fail = (error: unknown): void => {
    // PGlite's file system throws errors without a message.
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

    const [command] = (await once(parentPort!, 'message')) as [WorkerCommand];
    const drained = new Promise<void>((resolve) => server.close(() => resolve()));
    if (command === 'drain') {
      // After what has arrived meanwhile: on a busy machine, that clients have left is seen late.
      const timer = setTimeout(
        () => setImmediate(() => report({ kind: 'draining' })),
        waitMilliseconds,
      );
      await drained;
      clearTimeout(timer);
    }
    await multiplexer.stop();
    await database.close();
    process.exit(0);
  } catch (error) {
    fail(error);
  }
}

await main();
