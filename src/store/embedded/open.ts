import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

import { CommandError } from '../../errors.ts';
import {
  findShortage,
  newDatabaseBytes,
  reserveBytes as defaultReserveBytes,
} from './disk-space.ts';
import { closeContents, prepareFolder } from './folder.ts';
import { acquireLock, type Lock } from './lock.ts';
import type { WorkerOptions, WorkerOrder, WorkerReport } from './worker.ts';

/** The embedded PostgreSQL of a data folder, run by this process or by another one. */
export interface EmbeddedServer {
  /** Where any driver connects, or psql: its folder is their host, 5432 their port. */
  socketPath: string;
  /** Whether this process runs the database. */
  owned: boolean;
  /** The process that runs it, and what it is doing: 'serve' or 'command'. */
  holder: { pid: number; role: string };
  /** Resolves if a database run by this process stops by itself; stays pending otherwise. */
  failed: Promise<Error>;
  /** Stops the database if this process runs it; open transactions are rolled back. */
  close(): Promise<void>;
}

export interface OpenOptions {
  role: string;
  /** How long a client may keep the database to itself without a word; 10 seconds by default. */
  holdTimeoutMilliseconds?: number;
  /** How long to wait for another process that is starting or stopping; 15 seconds by default. */
  waitMilliseconds?: number;
  /** Free bytes of the disk below which nothing is written; 64 MB by default. */
  reserveBytes?: number;
}

interface ServerRecord {
  pid: number;
  role: string;
  socketPath: string;
}

const pollMilliseconds = 50;
const stopMilliseconds = 30_000;
/** As the server itself would name it. */
const socketName = '.s.PGSQL.5432';
const socketFolderPrefix = 'retention-';
/** The shortest limit among the systems we run on is 104 bytes (macOS), with a final zero. */
const maximumSocketPathBytes = 103;

/**
 * Opens the embedded database kept in `folder`, which is created if need be. If another process has
 * it open, answers how to connect to that one; the caller decides whether this will do.
 *
 * @throws CommandError when the folder cannot be used, with the reason
 */
export async function openEmbedded(folder: string, options: OpenOptions): Promise<EmbeddedServer> {
  prepareFolder(folder);
  const attempts = Math.ceil((options.waitMilliseconds ?? 15_000) / pollMilliseconds);
  for (let attempt = 0; attempt < attempts; attempt++) {
    const lock = acquireLock(folder);
    if (lock) return await start(folder, lock, options);

    const record = readRecord(folder);
    if (record && (await answers(record.socketPath))) return joined(record);
    await sleep(pollMilliseconds);
  }
  const record = readRecord(folder);
  const holder = record ? `process ${record.pid} (${record.role})` : 'another process';
  throw new CommandError(
    `The data folder ${folder} is in use by ${holder}, which does not answer.`,
  );
}

function joined({ pid, role, socketPath }: ServerRecord): EmbeddedServer {
  return {
    socketPath,
    owned: false,
    holder: { pid, role },
    failed: new Promise(() => {}),
    close: async () => {},
  };
}

async function start(folder: string, lock: Lock, options: OpenOptions): Promise<EmbeddedServer> {
  let socketPath: string | undefined;
  try {
    closeContents(folder);
    clearRemains(folder);
    const { role, holdTimeoutMilliseconds, reserveBytes = defaultReserveBytes } = options;
    const isNew = !existsSync(join(folder, 'db')) || existsSync(join(folder, 'db.unfinished'));
    const shortage = isNew && findShortage(folder, reserveBytes + newDatabaseBytes);
    if (shortage) throw new CommandError(shortage);
    socketPath = createSocketPath();
    const worker = startWorker({
      folder,
      socketPath,
      reserveBytes,
      ...(holdTimeoutMilliseconds === undefined ? {} : { holdTimeoutMilliseconds }),
    });
    const reason = await Promise.race([worker.ready, worker.failed]);
    if (reason) {
      throw new CommandError(`Cannot open the database in ${folder}: ${reason.message}`, {
        cause: reason,
      });
    }
    const record = { pid: process.pid, role, socketPath };
    writeRecord(folder, record);

    let closing: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      // First, so that nobody new finds a server that is about to stop.
      rmSync(recordPath(folder), { force: true });
      // Other commands may have joined this one; a server's guests must not keep it from stopping.
      await worker.stop(role === 'command' ? 'drain' : 'close');
      rmSync(dirname(record.socketPath), { recursive: true, force: true });
      lock.release();
    };
    return {
      socketPath,
      owned: true,
      holder: { pid: process.pid, role },
      failed: worker.failed,
      close: () => (closing ??= close()),
    };
  } catch (error) {
    if (socketPath) rmSync(dirname(socketPath), { recursive: true, force: true });
    lock.release();
    throw error;
  }
}

interface RunningWorker {
  ready: Promise<undefined>;
  failed: Promise<Error>;
  stop(order: WorkerOrder): Promise<void>;
}

function startWorker(workerData: WorkerOptions): RunningWorker {
  // Flags meant for the program (a debugger's port, the kind of its input) are not for its thread.
  // PostgreSQL reports recursion that goes too deep at 2 MB of its own stack; the engine's own, of 4 MB
  // by default, must not be exhausted before that, as PGlite then never answers.
  const options = { workerData, execArgv: [], resourceLimits: { stackSizeMb: 64 } };
  const worker = new Worker(new URL('./worker.ts', import.meta.url), options);
  let stopping = false;
  const ready = Promise.withResolvers<undefined>();
  const failed = Promise.withResolvers<Error>();
  worker.on('message', (report: WorkerReport) => {
    if (report.kind === 'ready') ready.resolve(undefined);
    else failed.resolve(new Error(report.reason));
  });
  worker.on('error', (error) => failed.resolve(asError(error)));
  const exited = once(worker, 'exit').catch(() => {});
  worker.on('exit', (code) => {
    if (!stopping) failed.resolve(new Error(`the embedded database stopped with code ${code}`));
  });
  return {
    ready: ready.promise,
    failed: failed.promise,
    stop: async (order) => {
      stopping = true;
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage(order);
      // A statement that never ends must not keep the process from ending.
      const timer =
        order === 'close' && setTimeout(() => void worker.terminate(), stopMilliseconds);
      await exited;
      if (timer) clearTimeout(timer);
    },
  };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** Removes what a holder that was killed could not: its record and its socket. */
function clearRemains(folder: string): void {
  const record = readRecord(folder);
  rmSync(recordPath(folder), { force: true });
  if (!record) return;
  const socketFolder = dirname(record.socketPath);
  if (dirname(socketFolder) === tmpdir() && basename(socketFolder).startsWith(socketFolderPrefix)) {
    rmSync(socketFolder, { recursive: true, force: true });
  }
}

/** In a folder of its own, open to this user only, as nothing else guards the socket. */
function createSocketPath(): string {
  const path = join(mkdtempSync(join(tmpdir(), socketFolderPrefix)), socketName);
  if (Buffer.byteLength(path) <= maximumSocketPathBytes) return path;
  rmSync(dirname(path), { recursive: true, force: true });
  throw new CommandError(
    `The folder for temporary files, ${tmpdir()}, has too long a name; set TMPDIR.`,
  );
}

async function answers(socketPath: string): Promise<boolean> {
  const socket = connect(socketPath);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

function recordPath(folder: string): string {
  return join(folder, 'server.json');
}

function readRecord(folder: string): ServerRecord | undefined {
  try {
    return JSON.parse(readFileSync(recordPath(folder), 'utf8')) as ServerRecord;
  } catch {
    return undefined;
  }
}

function writeRecord(folder: string, record: ServerRecord): void {
  const path = recordPath(folder);
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, JSON.stringify(record), { mode: 0o600 });
  renameSync(unfinished, path);
}
