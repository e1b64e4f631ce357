import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { CommandError } from '../../errors.ts';

/** Exclusive ownership of a data folder, until released or until the process ends, however it ends. */
export interface Lock {
  release(): void;
}

const sqliteBusy = 5;

/**
 * Takes the folder for this process, or answers undefined when another process has it.
 *
 * SQLite stores nothing here: it is the portable way to a file lock that the operating system itself
 * releases when its owner dies, even by kill -9. A file with a process id in it cannot promise that.
 *
 * @throws CommandError when the lock file cannot be opened
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
