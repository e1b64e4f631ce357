import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';

import { CommandError } from '../../errors.ts';

/** The major version of the PostgreSQL we embed; it opens only what its own version has written. */
const postgresVersion = '18';

/** Everything that we put into a data folder; a record of a server is written under its process id. */
const ownName = /^(?:db|db\.unfinished|lock(?:-journal)?|server\.json(?:\.\d+)?)$/;
/** Permission bits of the group and of everybody else. */
const bitsOfOthers = 0o077;
/** Marks a folder that users share, such as /tmp. */
const stickyBit = 0o1000;

/**
 * Makes sure that the data folder exists, belongs to this user, and is closed to all others. A folder
 * that holds our database, or nothing, is closed if it was open; any other one is left alone.
 *
 * @throws CommandError when it cannot be used
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
      `Cannot use the data folder ${folder}: ${(error as Error).message}. RETENTION_DATA_DIR names another one.`,
      { cause: error },
    );
  }
}

/**
 * One folder at a time: where the system has no place for a folder, such as in /proc, Node.js's own
 * recursive way never ends.
 */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have been quicker.
    if (!existsSync(folder)) throw error;
  }
}

/**
 * Takes all that we keep in the folder, which this process has locked, away from other users. A copy of
 * it, or a folder that was open before, may have any modes; and the embedded PostgreSQL creates its
 * database with files that everybody may write, whatever the umask.
 *
 * @throws CommandError for what is not a file or folder of this user's
 */
export function closeContents(folder: string): void {
  for (const name of readdirSync(folder)) if (ownName.test(name)) close(join(folder, name));
}

function close(path: string): void {
  const found = lstatSync(path);
  checkEntry(path, found);
  // Before what is in it, so that nobody can exchange that meanwhile.
  if ((found.mode & bitsOfOthers) !== 0) chmodSync(path, found.mode & 0o700);
  if (found.isDirectory()) for (const name of readdirSync(path)) close(join(path, name));
}

/**
 * @returns the names of what is in the folder and not ours
 * @throws CommandError when the folder is used for something else
 */
function checkContents(folder: string): string[] {
  const names = readdirSync(folder);
  const own = names.filter((name) => ownName.test(name));
  const foreign = names.filter((name) => !ownName.test(name));
  const hasDatabase = own.includes('db') || own.includes('db.unfinished');
  if (foreign.length > 0 && !hasDatabase) {
    throw new CommandError(
      `The data folder ${folder} holds no database, but is not empty: it has ${some(foreign)}. Set RETENTION_DATA_DIR to a new or an empty folder.`,
    );
  }
  for (const name of own) {
    const path = join(folder, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    // A process that has the folder now may have removed it.
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
      `The data folder ${folder} is shared by all users ${shown}. Set RETENTION_DATA_DIR to a folder of its own, inside of it for example.`,
    );
  }
  if (foreign.length > 0) {
    throw new CommandError(
      `The data folder ${folder} is open to other users ${shown}. It also has ${some(foreign)}, so its mode was left alone. Move that elsewhere, or run: chmod 700 ${folder}`,
    );
  }
  chmodSync(folder, 0o700);
  if ((statSync(folder).mode & bitsOfOthers) !== 0) {
    throw new CommandError(
      `The data folder ${folder} stays open to other users ${shown}: its file system does not keep modes. Set RETENTION_DATA_DIR to a folder on a local disk.`,
    );
  }
}

/** A link would lead out of the folder, and what another user owns stays open to that user. */
function checkEntry(path: string, found: Stats): void {
  if (!found.isDirectory() && !found.isFile()) {
    throw new CommandError(
      `${path} is neither a file nor a folder. The data folder must hold its files itself, without links.`,
    );
  }
  checkOwner(path, found);
}

/** @throws CommandError unless it belongs to the user of this process, root included, as for PostgreSQL */
function checkOwner(path: string, { uid }: Stats): void {
  const user = process.geteuid?.() ?? uid;
  if (uid === user) return;
  throw new CommandError(
    `${path} belongs to user ${uid}, but this process runs as user ${user}. Run it as user ${uid}, change the owner (chown -R ${user}), or set RETENTION_DATA_DIR to another folder.`,
  );
}

function some(names: readonly string[]): string {
  const shown = names.slice(0, 3).map((name) => JSON.stringify(name));
  return names.length > shown.length ? `${shown.join(', ')} and others` : shown.join(' and ');
}

/**
 * Refuses a database that the embedded PostgreSQL cannot open. One that does not exist yet is fine.
 *
 * @throws CommandError when it was made by another version, or is not a database
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
      `${path} was made by PostgreSQL ${version}; this program needs ${postgresVersion}.`,
    );
  }
}
