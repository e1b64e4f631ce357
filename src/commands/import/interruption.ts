import { constants } from 'node:os';
import { CommandError } from '../../errors.ts';
import { isDiskFull, temporaryFolderFull } from '../../store/temporary-folder.ts';
import type { ImportCounts } from '../../ingest/import.ts';
import { type Io, tell } from '../framework/io.ts';

const noticeMilliseconds = 2_000;
const stoppingNotice = 'Stopping. Press Ctrl-C again to stop at once.';

/** The abort reason when the process is asked to stop. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  /** As a shell reports a process that a signal ended. */
  readonly exitStatus: number;

  constructor(signal: NodeJS.Signals) {
    super(signal);
    this.exitStatus = 128 + constants.signals[signal];
  }
}

/** Aborted with `Interrupted` by the first Ctrl-C or SIGTERM; the second one ends the process. */
export function onInterruption(io: Io): AbortSignal {
  const stopping = new AbortController();
  void io.stopSignal().then((signal) => {
    setTimeout(tell, noticeMilliseconds, io, stoppingNotice).unref();
    return stopping.abort(new Interrupted(signal));
  });
  return stopping.signal;
}

/** What an import has done that did not finish, and how to go on. */
export function describeUnfinished(counts: ImportCounts): string {
  const imported = Object.values(counts)
    .map((each) => each.stored + each.replaced + each.deleted + each.unchanged + each.stale)
    .reduce((sum, count) => sum + count, 0);
  const done =
    imported === 1
      ? '1 record was imported'
      : `${imported.toLocaleString('en')} records were imported`;
  return `${done}, the others were not. To go on, run the same command again: what is stored comes out as unchanged.`;
}

/** PostgreSQL's code for a full disk. */
const databaseDiskFull = '53100';

/**
 * Adds to an error of a full disk how far the import came; returns any other as it is.
 * @param counts undefined for an import into a copy in the temporary folder
 */
export function explainFullDisk(error: unknown, counts: ImportCounts | undefined): unknown {
  if (!(error instanceof Error)) return error;
  let explained: Error | undefined;
  if (isDiskFull(error)) explained = temporaryFolderFull(error);
  else if (isDiskFull(error.cause)) explained = error;
  else if ('code' in error && error.code === databaseDiskFull) {
    explained = counts
      ? new CommandError(`The database has no space left: ${error.message}`)
      : temporaryFolderFull(error);
  }
  if (!explained) return error;
  const result = counts ? describeUnfinished(counts) : 'Nothing was stored.';
  return new CommandError(`${explained.message} ${result}`, { cause: error });
}
