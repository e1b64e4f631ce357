import { type Clock, systemClock } from '../../../clock.ts';
import { CommandError, describeError } from '../../../errors.ts';
import type { ImportShop } from '../../../ingest/apply.ts';
import { isDiskFull } from '../../../store/temporary-folder.ts';
import { type ReadOptions, ReadProgress, openBytes } from '../../../ingest/files.ts';
import { type ImportCounts, type LineSource, importRecords } from '../../../ingest/import.ts';
import { type MappedOptions, type SkippedRows, openMapped } from '../../../mapping/open.ts';
import { parseMapping } from '../../../mapping/read.ts';
import { listKeepers, whyNotTaken } from '../../../platforms/keeper.ts';
import { type Figures, rehearse, summariseAt } from '../../../metrics/rehearse.ts';
import type { Sql } from '../../../store/database.ts';
import { ensureCustomerKey } from '../../../store/records/customer-keys.ts';
import { withoutValues } from '../../../mapping/field-reader.ts';
import type { Answers } from '../answers.ts';
import { type Examination, examine, readRecords } from './examine.ts';
import { openDatabase } from './database.ts';
import { failedHere, reportMilliseconds, tooMuchMemory } from './limits.ts';
import { RefusalList } from '../refusals.ts';

export interface ImportRequest {
  /** Where the database is. */
  readonly database: string;
  readonly shop: ImportShop;
  readonly file: string;
  /** What messages call it. */
  readonly fileName: string;
  readonly bytes: number;
  readonly maxUnpackedBytes: number;
  readonly answers: Answers;
}

export interface ImportProgress {
  /** How much of the file was read. */
  readonly percent: number;
  readonly counts: ImportCounts;
}

export interface ImportEnd {
  readonly isStopped: boolean;
  /** Why it failed: in words for the owner, and for the log. */
  readonly failure: { readonly problem: string; readonly reason: string } | undefined;
  readonly counts: ImportCounts;
  /** `Refusals` as JSON, since the service only stores them. */
  readonly refused: string;
  readonly skipped: number;
  /** Before and after; undefined if it has not come to its end. */
  readonly figures: Figures | undefined;
}

/** What is said of an import that goes on. */
export type Report =
  | { readonly kind: 'progress'; readonly progress: ImportProgress }
  /** Something unusual in the file, for the log. */
  | { readonly kind: 'warning'; readonly fields: object; readonly text: string };

interface Running {
  /** Stops the import after the transaction in progress. */
  readonly signal: AbortSignal;
  report(report: Report): void;
}

/** Each is a line in the log. */
const maxWarnings = 100;
/** PostgreSQL's code for a full disk. */
const databaseDiskFull = '53100';

/** Imports an uploaded file. @param isRehearsal into a copy of the shop, so that nothing is stored */
export async function importFile(
  request: ImportRequest,
  running: Running,
  isRehearsal = false,
): Promise<ImportEnd> {
  const { signal, report } = running;
  const counts: ImportCounts = {};
  const refusals = new RefusalList();
  const skipped = { rows: 0 };
  const reading = new ReadProgress(request.bytes);
  const progress = () => {
    const percent = Math.floor((reading.share ?? 0) * 100);
    report({ kind: 'progress', progress: { percent, counts } });
  };
  const timer = setInterval(progress, reportMilliseconds);
  let logged = 0;
  const log = (fields: object, text: string) => {
    logged += 1;
    if (logged <= maxWarnings) report({ kind: 'warning', fields, text });
  };
  const warnings = new RefusalList();
  const { sql, isEmbedded, close } = openDatabase(request.database, 'upload');
  let isStopped = false;
  let failure: ImportEnd['failure'];
  let figures: Figures | undefined;
  try {
    const { shop, answers } = request;
    const examined = await examineAgain(request);
    const keepers = await listKeepers(sql, shop.id);
    const importInto = async (to: Sql, clock: Clock) => {
      const customerKey = await ensureCustomerKey(to, shop.id);
      const opening = { signal, progress: reading, skipped, customerKey };
      await importRecords([open(request, examined, opening)], {
        sql: to,
        shop,
        feed: examined.mapping === undefined ? 'records' : 'export',
        clock,
        log: { warn: log },
        // Ids differ from line to line.
        warn: (_source, line, text) => warnings.add(line, text.replaceAll(/ ?"[^"]*"/g, '')),
        signal,
        counts,
        isFromFeed: examined.mapping !== undefined,
        ...(!answers.takesOver && { whyNotTaken: whyNotTaken(keepers, shop.id, '') }),
        refuse: (_source, line, reason, record) =>
          refusals.add(line.number, withoutValues(reason), record),
        progress,
      });
    };
    if (isRehearsal) {
      figures = await rehearse(sql, shop, { isEmbedded, signal }, importInto);
    } else {
      const before = await summariseAt(sql, shop, systemClock.now());
      await importInto(sql, systemClock);
      figures = { before, after: await summariseAt(sql, shop, systemClock.now()) };
    }
  } catch (error) {
    isStopped = error === signal.reason;
    if (!isStopped) failure = { problem: explain(error, request), reason: describeError(error) };
  } finally {
    clearInterval(timer);
    await close();
  }
  const refused = JSON.stringify({ ...refusals.all, warnings: warnings.all.groups });
  return { isStopped, failure, counts, refused, skipped: skipped.rows, figures };
}

/** @throws CommandError if the file cannot be imported */
async function examineAgain({ file, fileName, shop, answers }: ImportRequest) {
  const { questions, asOf } = answers;
  const examined = await examine({ file, fileName, shop, answers: questions, asOf });
  if (!('preview' in examined)) throw new CommandError(examined.problem);
  if ('problem' in examined.preview) throw new CommandError(examined.preview.problem);
  return examined;
}

interface Reading extends Pick<MappedOptions, 'customerKey'>, ReadOptions {
  readonly skipped: SkippedRows;
}

function open(
  { file, shop, answers: { asOf }, maxUnpackedBytes }: ImportRequest,
  { mapping, input }: Examination,
  { skipped, ...options }: Reading,
): LineSource {
  const reading = { ...options, maxUnpackedBytes };
  if (mapping === undefined && input.format !== 'csv') {
    return { name: file, lines: readRecords(file, openBytes(file, reading), input) };
  }
  const rules = parseMapping('the mapping', mapping ?? '');
  return openMapped(file, rules, shop, systemClock, skipped, { ...reading, asOf });
}

/** In words for the owner. */
function explain(error: unknown, { file, fileName }: ImportRequest): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const isFull =
    isDiskFull(error) ||
    isDiskFull(cause) ||
    (error instanceof Error && 'code' in error && error.code === databaseDiskFull);
  if (isFull)
    return 'The disk of the server is full. Tell the operator of this service, then try again.';
  if (error instanceof RangeError) return tooMuchMemory(fileName);
  if (!(error instanceof CommandError)) return failedHere;
  return error.message.replaceAll(file, fileName);
}
