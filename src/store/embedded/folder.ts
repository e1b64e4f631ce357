import { accessSync, constants, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { CommandError } from '../../errors.ts';

/** The major version of the PostgreSQL we embed; it opens only what its own version has written. */
const postgresVersion = '18';

/**
 * Makes sure that the data folder is there, for this user only if it is new, and can be written.
 *
 * @throws CommandError when it cannot be used
 */
export function prepareFolder(folder: string): void {
  try {
    if (existsSync(folder) && !statSync(folder).isDirectory()) {
      throw new CommandError(`The data folder ${folder} is not a folder.`);
    }
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`Cannot use the data folder ${folder}: ${String(error)}`, {
      cause: error,
    });
  }
}

/**
 * Refuses a database that the embedded PostgreSQL cannot open. One that does not exist yet is fine.
 *
 * @throws CommandError when it was made by another version, or is not a database
 */
export function checkDatabase(folder: string): void {
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
