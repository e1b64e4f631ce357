import { CommandError, describeError } from '../../errors.ts';
import type { Clock } from '../../clock.ts';
import { importShopOf } from '../../ingest/apply.ts';
import { isDiskFull } from '../../ingest/disk/disk-full.ts';
import { ReadProgress, openBytes } from '../../ingest/files.ts';
import { type ImportCounts, type LineSource, importRecords } from '../../ingest/import.ts';
import type { Log } from '../../log/log.ts';
import { openMapped } from '../../mapping/open.ts';
import { parseMapping } from '../../mapping/read.ts';
import { findKeeper, whyNotTaken } from '../../platforms/keeper.ts';
import type { Sql } from '../../store/database.ts';
import { type UploadKey, finishUpload, updateUploadProgress } from '../../store/door/uploads.ts';
import type { Shop } from '../../store/shops.ts';
import { withoutValues } from '../mappings.ts';
import { type Answers, writeAnswers } from './answers.ts';
import type { Examination } from './examine.ts';
import { examineFile } from './examine-file.ts';
import type { UploadFolder } from './folder.ts';
import { readRecords } from './records.ts';
import { RefusalList } from './refusals.ts';
import { ShopTurns } from './shop-turns.ts';

interface RunParts {
  readonly sql: Sql;
  readonly folder: UploadFolder;
  readonly clock: Clock;
  readonly log: Log;
}

interface RunUpload extends UploadKey {
  readonly fileName: string;
  readonly bytes: number;
  readonly answers: Answers;
}

/** Why an import ends before its file does. */
class Stopped extends Error {
  readonly state: 'stopped' | 'interrupted';

  constructor(state: Stopped['state']) {
    super(state);
    this.state = state;
  }
}

const noteMilliseconds = 2_000;
/** PostgreSQL's code for a full disk. */
const databaseDiskFull = '53100';

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
  readonly #reading: ReadProgress;
  readonly #counts: ImportCounts = {};
  readonly #refusals = new RefusalList();
  readonly #skipped = { rows: 0 };
  readonly #timer: NodeJS.Timeout;

  constructor(parts: RunParts, shop: Shop, upload: RunUpload) {
    this.#parts = parts;
    this.#shop = shop;
    this.#upload = upload;
    this.#reading = new ReadProgress(upload.bytes);
    this.#timer = setInterval(() => void this.note(), noteMilliseconds).unref();
  }

  stop(state: Stopped['state']): void {
    this.#stopping.abort(new Stopped(state));
  }

  /** Notes how far it is, and stops if the owner wants it to. */
  async note(): Promise<void> {
    const { sql, folder, clock, log } = this.#parts;
    const now = clock.now();
    const percent = Math.floor((this.#reading.share ?? 0) * 100);
    const progress = { at: new Date(now), percent, counts: JSON.stringify(this.#counts) };
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
    let state: 'done' | 'failed' | Stopped['state'] = 'done';
    let problem: string | null = null;
    try {
      await this.#import();
    } catch (error) {
      if (error instanceof Stopped) ({ state } = error);
      else {
        state = 'failed';
        problem = this.#explain(error);
        log.warn({ shopId, uploadId, reason: describeError(error) }, 'uploaded file not imported');
      }
    }
    clearInterval(this.#timer);
    try {
      // First, since the page then says that it is gone.
      if (state === 'done' || state === 'stopped') await folder.remove(this.#upload);
      await this.#finish(state, problem);
    } catch (error) {
      log.error({ shopId, uploadId, err: error }, 'result of an import was not stored');
    }
  }

  async #finish(state: 'done' | 'failed' | Stopped['state'], problem: string | null) {
    const { sql, clock, log } = this.#parts;
    const { answers, shopId } = this.#upload;
    const isOver = state === 'done' || state === 'stopped';
    await finishUpload(sql, this.#upload, {
      state,
      counts: JSON.stringify(this.#counts),
      refused: JSON.stringify(this.#refusals.all),
      skipped: this.#skipped.rows,
      problem,
      finishedAt: new Date(clock.now()),
      // They name columns and values of the file.
      answers: isOver ? '{}' : writeAnswers(answers),
    });
    log.info({ shopId, state, counts: this.#counts }, 'import of an uploaded file ended');
  }

  async #import(): Promise<void> {
    const { sql, folder, clock, log } = this.#parts;
    const { fileName, answers } = this.#upload;
    const { signal } = this.#stopping;
    signal.throwIfAborted();
    const file = await folder.find(this.#upload);
    if (file === undefined) {
      throw new CommandError('The file is no longer on this server. Choose it again.');
    }
    const shop = importShopOf(this.#shop);
    const { questions, asOf } = answers;
    const examined = await examineFile({ file, fileName, shop, answers: questions, asOf });
    if (!('preview' in examined)) throw new CommandError(examined.problem);
    if ('problem' in examined.preview) throw new CommandError(examined.preview.problem);
    const keeper = await findKeeper(sql, shop.id);
    await importRecords([this.#open(file, examined)], {
      sql,
      shop,
      feed: examined.mapping === undefined ? 'records' : 'export',
      clock,
      log,
      signal,
      counts: this.#counts,
      isFromFeed: examined.mapping !== undefined,
      ...(keeper && !answers.takesOver && { whyNotTaken: whyNotTaken(keeper, shop.id, '') }),
      refuse: (_source, line, reason) => this.#refusals.add(line.number, withoutValues(reason)),
    });
  }

  #open(file: string, { mapping, input }: Examination): LineSource {
    const { clock } = this.#parts;
    const reading = { signal: this.#stopping.signal, progress: this.#reading };
    if (mapping === undefined && input.format !== 'csv') {
      return { name: file, lines: readRecords(file, openBytes(file, reading), input) };
    }
    const { asOf } = this.#upload.answers;
    const rules = parseMapping('the mapping', mapping ?? '');
    const shop = importShopOf(this.#shop);
    return openMapped(file, rules, shop, clock, this.#skipped, { ...reading, asOf });
  }

  /** In words for the owner. */
  #explain(error: unknown): string {
    const { fileName, shopId, uploadId } = this.#upload;
    const cause = error instanceof Error ? error.cause : undefined;
    const isFull =
      isDiskFull(error) ||
      isDiskFull(cause) ||
      (error instanceof Error && 'code' in error && error.code === databaseDiskFull);
    if (isFull)
      return 'The disk of the server is full. Tell the operator of this service, then try again.';
    if (!(error instanceof CommandError)) {
      return 'Something failed on our side. Try again; if it keeps failing, tell the operator of this service.';
    }
    const place = new RegExp(String.raw`\S*${shopId}-${uploadId}(?:\.gz)?`, 'g');
    return error.message.replaceAll(place, fileName);
  }
}
