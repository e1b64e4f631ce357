import { describeError } from '../../errors.ts';
import type { Clock } from '../../clock.ts';
import { importShopOf } from '../../ingest/apply.ts';
import { noteImport } from '../../ingest/import.ts';
import type { Log } from '../../log/log.ts';
import type { Sql } from '../../store/database.ts';
import { type UploadKey, finishUpload, updateUploadProgress } from '../../store/push/uploads.ts';
import type { Shop } from '../../store/shops.ts';
import type { Answers } from './answers.ts';
import type { UploadFolder } from './folder.ts';
import type { ImportEnd, ImportProgress, Report } from './jobs/import-file.ts';
import { failedHere } from './jobs/limits.ts';
import { RefusalList } from './refusals.ts';
import { JobEnded, runJob } from './jobs/run-job.ts';
import { ShopTurns } from './shop-turns.ts';

interface RunParts {
  readonly sql: Sql;
  /** Where the database is. */
  readonly database: string;
  readonly folder: UploadFolder;
  readonly clock: Clock;
  readonly log: Log;
  readonly heapMegabytes: number;
  readonly maxUnpackedBytes: number;
}

interface RunUpload extends UploadKey {
  readonly fileName: string;
  readonly bytes: number;
  readonly answers: Answers;
}

/** Why an import ends before its file does. */
type StopReason = 'stopped' | 'interrupted';

const noteMilliseconds = 2_000;
const gone = 'The file is no longer on this server. Choose it again.';
const refusedNothing = JSON.stringify(new RefusalList().all);

/** Imports uploaded files, when it is their shop's turn. How far each is, is noted in the database. */
export class ImportRuns {
  readonly #parts: RunParts;
  readonly #running = new Map<string, { readonly run: ImportRun; readonly end: Promise<void> }>();
  readonly #turns = new ShopTurns();

  constructor(parts: RunParts) {
    this.#parts = parts;
  }

  add(shop: Shop, upload: RunUpload): void {
    const run = new ImportRun(this.#parts, shop, upload);
    const end = this.#turns.run(shop.id, async () => {
      await run.run();
      this.#running.delete(upload.uploadId);
    });
    this.#running.set(upload.uploadId, { run, end });
  }

  /** Has a run see at once that its owner has stopped it, if it is in this process. */
  async check({ uploadId }: UploadKey): Promise<void> {
    await this.#running.get(uploadId)?.run.note();
  }

  async close(): Promise<void> {
    const running = [...this.#running.values()];
    for (const { run } of running) run.stop('interrupted');
    await Promise.all(running.map(({ end }) => end));
  }
}

class ImportRun {
  readonly #parts: RunParts;
  readonly #shop: Shop;
  readonly #upload: RunUpload;
  readonly #stopping = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #progress: ImportProgress = { percent: 0, counts: {} };

  constructor(parts: RunParts, shop: Shop, upload: RunUpload) {
    this.#parts = parts;
    this.#shop = shop;
    this.#upload = upload;
    this.#timer = setInterval(() => void this.note(), noteMilliseconds).unref();
  }

  stop(reason: StopReason): void {
    this.#stopping.abort(reason);
  }

  /** Notes how far it is, and stops if the owner wants it to. */
  async note(): Promise<void> {
    const { sql, folder, clock, log } = this.#parts;
    const now = clock.now();
    const { percent, counts } = this.#progress;
    const progress = { at: new Date(now), percent, counts: JSON.stringify(counts) };
    try {
      await folder.touch(this.#upload, now);
      if (!(await updateUploadProgress(sql, this.#upload, progress))) this.stop('stopped');
    } catch (error) {
      log.warn({ shopId: this.#shop.id, err: error }, 'progress of an import was not stored');
    }
  }

  async run(): Promise<void> {
    const { log, folder } = this.#parts;
    const { shopId, uploadId } = this.#upload;
    const end = await this.#import().catch((error: unknown) => this.#endOf(error));
    clearInterval(this.#timer);
    if (end.failure) {
      const { reason } = end.failure;
      log.warn({ shopId, uploadId, reason }, 'uploaded file not imported');
    }
    const stopReason = this.#stopping.signal.reason as StopReason;
    const state = end.failure ? 'failed' : end.isStopped ? stopReason : 'done';
    try {
      // First, since the page then says that it is gone.
      if (state === 'done' || state === 'stopped') await folder.remove(this.#upload);
      await this.#finish(state, end);
    } catch (error) {
      log.error({ shopId, uploadId, err: error }, 'result of an import was not stored');
    }
  }

  async #finish(state: 'done' | 'failed' | StopReason, end: ImportEnd): Promise<void> {
    const { sql, clock, log } = this.#parts;
    const { answers, shopId } = this.#upload;
    const { counts, refused, skipped, failure, figures } = end;
    const isOver = state === 'done' || state === 'stopped';
    await finishUpload(sql, this.#upload, {
      state,
      counts: JSON.stringify(counts),
      refused,
      skipped,
      figures: JSON.stringify(figures ?? null),
      problem: failure?.problem ?? null,
      finishedAt: new Date(clock.now()),
      // They name columns and values of the file.
      answers: isOver ? '{}' : JSON.stringify(answers),
    });
    await noteImport(sql, this.#shop, counts, clock.now());
    log.info({ shopId, state, counts }, 'import of an uploaded file ended');
  }

  async #import(): Promise<ImportEnd> {
    const { folder, database, maxUnpackedBytes, heapMegabytes } = this.#parts;
    const { fileName, bytes, answers } = this.#upload;
    const { signal } = this.#stopping;
    const file = await folder.find(this.#upload);
    if (signal.aborted) return this.#end({ isStopped: true });
    if (file === undefined) return this.#end({ failure: { problem: gone, reason: gone } });
    const shop = importShopOf(this.#shop);
    const request = { database, shop, file, fileName, bytes, maxUnpackedBytes, answers };
    const receive = (report: Report) => this.#receive(report);
    return runJob('import', request, { heapMegabytes, signal, receive });
  }

  #receive(report: Report): void {
    if (report.kind === 'progress') this.#progress = report.progress;
    else this.#parts.log.warn({ shopId: this.#shop.id, ...report.fields }, report.text);
  }

  /** How it ended, if its process has not said it. */
  #endOf(error: unknown): ImportEnd {
    const { fileName } = this.#upload;
    const problem = error instanceof JobEnded ? error.problemFor(fileName) : failedHere;
    return this.#end({ failure: { problem, reason: describeError(error) } });
  }

  #end(how: { readonly isStopped?: true; readonly failure?: ImportEnd['failure'] }): ImportEnd {
    const { counts } = this.#progress;
    return {
      isStopped: false,
      failure: undefined,
      counts,
      refused: refusedNothing,
      skipped: 0,
      figures: undefined,
      ...how,
    };
  }
}
