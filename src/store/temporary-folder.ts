import { mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Lock, acquireLock } from './embedded/folder.ts';
import { CommandError } from '../errors.ts';

/** A folder for data that must not outlive its process. */
export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

type Kind = 'copy' | 'import' | 'socket' | 'sync';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** The folders of this process. The system releases their locks when it dies, even by kill -9. */
const locks = new Map<string, Lock | undefined>();

/**
 * Creates a folder in the system's temporary folder, and removes those of the same kind that processes left
 * behind. It is removed by `remove`, or when the process ends, unless it is killed.
 */
export function createTemporaryFolder(kind: Kind): TemporaryFolder {
  const prefix = `retention-${kind}-`;
  removeLeftovers(prefix);
  const unlocked = mkdtempSync(path.join(tmpdir(), `.${prefix}`));
  const lock = acquireLock(unlocked);
  // Only now can other processes find it: they would take one without a lock for a leftover.
  const folder = path.join(tmpdir(), path.basename(unlocked).slice(1));
  renameSync(unlocked, folder);
  if (locks.size === 0) {
    process.on('exit', removeAll);
    for (const signal of signals) process.on(signal, endBySignal);
  }
  locks.set(folder, lock);
  return { path: folder, remove: () => remove(folder) };
}

function remove(folder: string): void {
  // A thread of this process may still write to it.
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  locks.get(folder)?.release();
  locks.delete(folder);
  if (locks.size > 0) return;
  process.removeListener('exit', removeAll);
  for (const signal of signals) process.removeListener(signal, endBySignal);
}

function removeAll(): void {
  for (const folder of locks.keys()) remove(folder);
}

function endBySignal(signal: NodeJS.Signals): void {
  // Another listener ends the process in order.
  if (process.listenerCount(signal) > 1) return;
  removeAll();
  process.kill(process.pid, signal);
}

function removeLeftovers(prefix: string): void {
  for (const name of readdirSync(tmpdir())) {
    if (name.startsWith(prefix)) removeUnlocked(path.join(tmpdir(), name));
  }
}

/** Removes a folder whose process has ended. */
function removeUnlocked(folder: string): void {
  try {
    const isOurs = statSync(folder).uid === process.getuid?.();
    if (!isOurs || locks.has(folder)) return;
    const lock = acquireLock(folder);
    if (!lock) return;
    rmSync(folder, { recursive: true, force: true });
    lock.release();
  } catch {
    // Another process may remove it at the same time.
  }
}

/** No space left, or no more of it for this user. */
const codes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

export function isDiskFull(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && codes.has(error.code);
}

/**
 * Runs work that writes to the temporary folder.
 * @throws CommandError if its disk is full, with the folder and what to do
 */
export async function inTemporaryFolder<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isDiskFull(error) ? temporaryFolderFull(error) : error;
  }
}

export function temporaryFolderFull(cause: Error): CommandError {
  return new CommandError(
    `No space is left in the temporary folder ${tmpdir()}. Free some, or set TMPDIR to a folder on a larger disk.`,
    { cause },
  );
}
