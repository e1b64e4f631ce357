/** The thread that runs the embedded database, whose every statement stops whatever shares its thread. */
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';

import { PGlite } from '@electric-sql/pglite';

import { closeContents } from './folder.ts';
import { Multiplexer, type Session } from './multiplexer.ts';

export interface WorkerOptions {
  folder: string;
  socketPath: string;
  holdTimeoutMilliseconds?: number;
}

/** What the parent says, once: 'drain' lets clients that are still there end by themselves first. */
export type WorkerOrder = 'close' | 'drain';

/** What the thread tells its parent. */
export type WorkerReport = { kind: 'ready' } | { kind: 'failed'; reason: string };

const printedLinesKept = 20;

/**
 * Opens the database. Writes go to the operating system before a commit is acknowledged, so that they
 * survive the death of the process; they are not forced to the disk against a loss of power.
 */
async function openDatabase(folder: string, printed: string[]): Promise<PGlite> {
  const path = join(folder, 'db');
  // Present while a database is being created: what an interrupted creation left is worthless.
  const unfinished = join(folder, 'db.unfinished');
  if (existsSync(unfinished)) rmSync(path, { recursive: true, force: true });
  const creating = !existsSync(path);
  if (creating) writeFileSync(unfinished, '');
  const keep = (line: string): boolean => {
    printed.push(line);
    if (printed.length > printedLinesKept) printed.shift();
    return false;
  };
  const database = await PGlite.create(path, { onStdout: keep, onStderr: keep });
  if (creating) {
    closeContents(folder);
    rmSync(unfinished);
  }
  return database;
}

/** Through the streaming call: the plain one also parses every answer and keeps what it parsed. */
function sessionOf(database: PGlite): Session {
  return {
    run: async (messages) => {
      const chunks: Buffer[] = [];
      // The bytes belong to the database's memory and are overwritten after the callback.
      const onRawData = (bytes: Uint8Array): void => void chunks.push(Buffer.from(bytes));
      await database.execProtocolRawStream(messages, { syncToFs: false, onRawData });
      return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    },
  };
}

function report(message: WorkerReport): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort!.postMessage(message);
}

async function main(): Promise<void> {
  const { folder, socketPath, holdTimeoutMilliseconds } = workerData as WorkerOptions;
  const printed: string[] = [];
  const fail = (error: unknown): void => {
    const reason = [String(error), ...printed.filter((line) => /FATAL|PANIC|ERROR/.test(line))];
    report({ kind: 'failed', reason: reason.join('\n') });
    process.exit(1);
  };

  try {
    const database = await openDatabase(folder, printed);
    const version = await database.query<{ server_version: string }>('SHOW server_version');
    const multiplexer = new Multiplexer(sessionOf(database), {
      serverVersion: version.rows[0]!.server_version,
      ...(holdTimeoutMilliseconds === undefined ? {} : { holdTimeoutMilliseconds }),
      onFailure: fail,
    });
    const server = createServer({ allowHalfOpen: true }, (socket) => multiplexer.serve(socket));
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
