import {
  type Stats,
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  statfsSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CommandError } from '../../errors.ts';

/** The embedded PostgreSQL's major version; it opens only databases of the same version. */
const postgresVersion = '18';

/** Our files in a data folder; `server.json.PID` is a record being written. */
const ownName = /^(?:db|db\.unfinished|lock(?:-journal)?|server\.json(?:\.\d+)?)$/;
/** Permission bits of group and others. */
const bitsOfOthers = 0o077;
/** Marks a folder that users share, such as /tmp. */
const stickyBit = 0o1000;

/**
 * Ensures that the data folder exists, belongs to this user and is private. A folder that holds only our
 * database, or nothing, is made private; any other is not changed.
 *
 * @throws CommandError if it cannot be used
 */
export function prepareFolder(folder: string): void {
  try {
    if (existsSync(folder) && !statSync(folder).isDirectory()) {
      throw new CommandError(`The data folder ${folder} is not a folder.`);
    }
    makeFolder(resolve(folder));
    checkOwner(folder, statSync(folder));
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    const foreign = checkContents(folder);
    checkDatabase(folder);
    closeFolder(folder, foreign);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(
      `Cannot use the data folder ${folder}: ${(error as Error).message}. Fix this, or set RETENTION_DATA_DIR to another folder.`,
      { cause: error },
    );
  }
}

/**
 * Creates one folder at a time: Node.js's recursive mkdir never returns where folders cannot be created,
 * such as in /proc.
 */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it first.
    if (!existsSync(folder)) throw error;
  }
}

/**
 * Makes our files in the folder, which this process has locked, private. They may have any mode if the
 * folder was copied or public before, and the embedded PostgreSQL creates world-writable files whatever
 * the umask.
 *
 * @throws CommandError if an entry is not a file or folder of this user
 */
export function closeContents(folder: string): void {
  for (const name of readdirSync(folder)) if (ownName.test(name)) close(join(folder, name));
}

function close(path: string): void {
  const found = lstatSync(path);
  checkEntry(path, found);
  // Close a folder before its contents, so that no one can replace them meanwhile.
  if ((found.mode & bitsOfOthers) !== 0) chmodSync(path, found.mode & 0o700);
  if (found.isDirectory()) for (const name of readdirSync(path)) close(join(path, name));
}

/**
 * @returns the names of entries that are not ours
 * @throws CommandError if the folder is used for something else
 */
function checkContents(folder: string): string[] {
  const names = readdirSync(folder);
  const own = names.filter((name) => ownName.test(name));
  const foreign = names.filter((name) => !ownName.test(name));
  const hasDatabase = own.includes('db') || own.includes('db.unfinished');
  if (foreign.length > 0 && !hasDatabase) {
    throw new CommandError(
      `The data folder ${folder} has no database but is not empty: it contains ${listSome(foreign)}. Set RETENTION_DATA_DIR to a new or empty folder.`,
    );
  }
  for (const name of own) {
    const path = join(folder, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    // The process that uses the folder now may have removed it.
    if (found) checkEntry(path, found);
  }
  return foreign;
}

function closeFolder(folder: string, foreign: readonly string[]): void {
  const { mode } = statSync(folder);
  if ((mode & bitsOfOthers) === 0) return;
  const shown = `(mode ${(mode & 0o7777).toString(8).padStart(4, '0')})`;
  if ((mode & stickyBit) !== 0) {
    throw new CommandError(
      `The data folder ${folder} is shared by all users ${shown}. Set RETENTION_DATA_DIR to a separate folder, for example one inside it.`,
    );
  }
  if (foreign.length > 0) {
    throw new CommandError(
      `The data folder ${folder} is open to other users ${shown}. It also contains ${listSome(foreign)}, so its mode was not changed. Move those elsewhere, or run: chmod 700 ${folder}`,
    );
  }
  chmodSync(folder, 0o700);
  if ((statSync(folder).mode & bitsOfOthers) !== 0) {
    throw new CommandError(
      `The data folder ${folder} remains open to other users ${shown}, because its file system does not support modes. Set RETENTION_DATA_DIR to a folder on a local disk.`,
    );
  }
}

/** Links lead out of the folder, and another user could always open their own files. */
function checkEntry(path: string, found: Stats): void {
  if (!found.isDirectory() && !found.isFile()) {
    throw new CommandError(
      `${path} is neither a file nor a folder. The data folder must contain its files directly, without links.`,
    );
  }
  checkOwner(path, found);
}

/** @throws CommandError unless it belongs to the user of this process, even for root, as in PostgreSQL */
function checkOwner(path: string, { uid }: Stats): void {
  const user = process.geteuid?.() ?? uid;
  if (uid === user) return;
  throw new CommandError(
    `${path} belongs to user ${uid}, but this process runs as user ${user}. Run it as user ${uid}, change the owner (chown -R ${user}), or set RETENTION_DATA_DIR to another folder.`,
  );
}

function listSome(names: readonly string[]): string {
  const shown = names.slice(0, 3).map((name) => JSON.stringify(name));
  return names.length > shown.length ? `${shown.join(', ')} and others` : shown.join(' and ');
}

/**
 * Rejects a database that the embedded PostgreSQL cannot open; it need not exist yet.
 *
 * @throws CommandError if another version created it, or if it is not a database
 */
function checkDatabase(folder: string): void {
  const path = join(folder, 'db');
  if (!existsSync(path) || existsSync(join(folder, 'db.unfinished'))) return;
  let version: string;
  try {
    version = readFileSync(join(path, 'PG_VERSION'), 'utf8').trim();
  } catch (error) {
    throw new CommandError(`${path} is not a PostgreSQL database: ${String(error)}`, {
      cause: error,
    });
  }
  if (version !== postgresVersion) {
    throw new CommandError(
      `${path} was created by PostgreSQL ${version}; this program needs version ${postgresVersion}.`,
    );
  }
}

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

const megabyte = 1024 * 1024;

/**
 * Nothing is written below this much free space. PostgreSQL crashes if it cannot extend its write-ahead
 * log, which grows in steps of 16 MB, and work that passed the check may need several.
 */
export const reserveBytes = 64 * megabyte;

/** Initial size of a new database; not created without this much free space. */
export const newDatabaseBytes = 48 * megabyte;

/**
 * @returns why nothing may be written to the folder now; undefined if there is enough space, or if the file
 * system does not report any
 */
export function findShortage(folder: string, reserve: number): string | undefined {
  const { bavail, blocks, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (blocks === 0 || free >= reserve) return undefined;
  return (
    `The disk is almost full: ${inMegabytes(free)} MB are free in ${folder}, and the embedded ` +
    `database needs ${inMegabytes(reserve)} MB to write. Free some space.`
  );
}

/** Rounded down, so that a shortage never looks sufficient. */
function inMegabytes(bytes: number): number {
  return Math.floor(bytes / megabyte);
}
