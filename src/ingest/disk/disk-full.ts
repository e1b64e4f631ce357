import { tmpdir } from 'node:os';
import { CommandError } from '../../errors.ts';

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
