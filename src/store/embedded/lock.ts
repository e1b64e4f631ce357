import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { CommandError } from '../../errors.ts';

/** Exclusive use of a data folder, until released or until the process exits for any reason. */
export interface Lock {
  release(): void;
}

const sqliteBusy = 5;

/**
 * Locks the folder for this process; returns undefined if another process has it.
 *
 * SQLite stores nothing here. It provides a portable file lock that the operating system releases when its
 * owner dies, even by kill -9; a PID file cannot guarantee that.
 *
 * @throws CommandError if the lock file cannot be opened
 */
export function acquireLock(folder: string): Lock | undefined {
  const path = join(folder, 'lock');
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    database.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
  } catch (error) {
    database?.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy) {
      return undefined;
    }
    throw new CommandError(`Cannot lock the data folder: ${path}: ${String(error)}`, {
      cause: error,
    });
  }
  const held = database;
  return { release: () => held.close() };
}
