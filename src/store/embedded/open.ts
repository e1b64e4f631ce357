import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { CommandError } from '../../errors.ts';
import { type TemporaryFolder, createTemporaryFolder } from '../temporary-folder.ts';
import {
  type Lock,
  findShortage,
  newDatabaseBytes,
  reserveBytes as defaultReserveBytes,
  closeContents,
  prepareFolder,
  acquireLock,
} from './folder.ts';
import type { WorkerOptions, WorkerCommand, WorkerReport } from './worker.ts';

/** The embedded PostgreSQL of a data folder, run by this process or another. */
export interface EmbeddedServer {
  /** For any driver or psql: the host is its folder, the port 5432. */
  socketPath: string;
  /** Whether this process runs the database. */
  owned: boolean;
  /** The process that runs the database, and its role: 'serve' or 'command'. */
  holder: { pid: number; role: string };
  /** Resolves if this process runs the database and it stops unexpectedly; otherwise stays pending. */
  failed: Promise<Error>;
  /** Stops the database if this process runs it; open transactions are rolled back. */
  close(): Promise<void>;
}

export interface OpenOptions {
  role: string;
  /** How long a client may hold the database without sending anything; 10 seconds by default. */
  holdTimeoutMilliseconds?: number;
  /** How long to wait for another process that is starting or stopping; 15 seconds by default. */
  waitMilliseconds?: number;
  /** Free disk space in bytes below which nothing is written; 64 MB by default. */
  reserveBytes?: number;
  /** Called if other commands keep this one from closing the database. */
  onWait?: (() => void) | undefined;
}

interface ServerRecord {
  pid: number;
  role: string;
  socketPath: string;
}

const pollMilliseconds = 50;
const stopMilliseconds = 30_000;
/** PostgreSQL's own name for it. */
const socketName = '.s.PGSQL.5432';
const socketFolderPrefix = 'retention-';
/** The lowest limit of the systems we support is 104 bytes (macOS), including the terminating zero. */
const maxSocketPathBytes = 103;

/**
 * Opens the embedded database in `folder`, and creates it if needed. If another process has it open,
 * returns how to connect to that one; the caller decides whether that is acceptable.
 *
 * @throws CommandError if the folder cannot be used, with the reason
 */
export async function openEmbedded(folder: string, options: OpenOptions): Promise<EmbeddedServer> {
  prepareFolder(folder);
  const attempts = Math.ceil((options.waitMilliseconds ?? 15_000) / pollMilliseconds);
  for (let attempt = 0; attempt < attempts; attempt++) {
    const lock = acquireLock(folder);
    if (lock) return await start(folder, lock, options);

    const record = readRecord(folder);
    if (record && (await isListening(record.socketPath))) return joined(record);
    await sleep(pollMilliseconds);
  }
  const record = readRecord(folder);
  const holder = record ? `process ${record.pid} (${record.role})` : 'another process';
  throw new CommandError(
    `The data folder ${folder} is in use by ${holder}, which does not respond.`,
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
  let socketFolder: TemporaryFolder | undefined;
  try {
    closeContents(folder);
    removeLeftovers(folder);
    const { role, holdTimeoutMilliseconds, reserveBytes = defaultReserveBytes, onWait } = options;
    const isNew = !existsSync(join(folder, 'db')) || existsSync(join(folder, 'db.unfinished'));
    const shortage = isNew && findShortage(folder, reserveBytes + newDatabaseBytes);
    if (shortage) throw new CommandError(shortage);
    const created = (socketFolder = createTemporaryFolder('socket'));
    const socketPath = socketPathIn(created.path);
    const worker = startWorker(
      {
        folder,
        socketPath,
        reserveBytes,
        ...(holdTimeoutMilliseconds === undefined ? {} : { holdTimeoutMilliseconds }),
      },
      onWait,
    );
    const reason = await Promise.race([worker.ready, worker.failed]);
    if (reason) {
      throw new CommandError(`Cannot open the database in ${folder}: ${reason.message}`, {
        cause: reason,
      });
    }
    const record = { pid: process.pid, role, socketPath };
    try {
      writeRecord(folder, record);
    } catch (error) {
      await worker.stop('close');
      throw error;
    }

    let closing: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      // Before stopping, so that no one finds a server that is about to stop.
      rmSync(recordPath(folder), { force: true });
      // Wait for other commands that joined this one. Clients of a server must not keep it from stopping.
      await worker.stop(role === 'command' ? 'drain' : 'close');
      created.remove();
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
    socketFolder?.remove();
    lock.release();
    throw error;
  }
}

interface RunningWorker {
  ready: Promise<undefined>;
  failed: Promise<Error>;
  stop(command: WorkerCommand): Promise<void>;
}

function startWorker(workerData: WorkerOptions, onWait = () => {}): RunningWorker {
  // Flags for the main program (a debugger's port, the input type) do not apply to its thread.
  // PostgreSQL reports too deep recursion at 2 MB of its own stack. The engine's stack, 4 MB by default,
  // must not overflow first, because PGlite then never returns.
  const options = { workerData, execArgv: [], resourceLimits: { stackSizeMb: 64 } };
  const worker = new Worker(new URL('./worker.ts', import.meta.url), options);
  let stopping = false;
  const ready = Promise.withResolvers<undefined>();
  const failed = Promise.withResolvers<Error>();
  worker.on('message', (report: WorkerReport) => {
    if (report.kind === 'ready') ready.resolve(undefined);
    else if (report.kind === 'draining') onWait();
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
    stop: async (command) => {
      stopping = true;
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage(command);
      // A statement that never ends must not keep the process alive.
      const timer =
        command === 'close' && setTimeout(() => void worker.terminate(), stopMilliseconds);
      await exited;
      if (timer) clearTimeout(timer);
    },
  };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** Removes the record and socket of a process that was killed. */
function removeLeftovers(folder: string): void {
  const record = readRecord(folder);
  rmSync(recordPath(folder), { force: true });
  if (!record) return;
  const socketFolder = dirname(record.socketPath);
  if (dirname(socketFolder) === tmpdir() && basename(socketFolder).startsWith(socketFolderPrefix)) {
    rmSync(socketFolder, { recursive: true, force: true });
  }
}

/** @param folder a separate private one, since nothing else protects the socket */
function socketPathIn(folder: string): string {
  const path = join(folder, socketName);
  if (Buffer.byteLength(path) <= maxSocketPathBytes) return path;
  throw new CommandError(
    `The path of the temporary folder, ${tmpdir()}, is too long for a socket. Set TMPDIR to a shorter path.`,
  );
}

async function isListening(socketPath: string): Promise<boolean> {
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
