import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Actor } from '../../acts.ts';
import type { Clock } from '../../clock.ts';
import type { UploadConfig } from '../../config/settings.ts';
import { importShopOf } from '../../ingest/apply.ts';
import { hasEmailAddress } from '../../records/values.ts';
import type { ImportCounts } from '../../ingest/import.ts';
import type { Log } from '../../log/log.ts';
import type { Sql } from '../../store/database.ts';
import { audited } from '../../store/owners/audit.ts';
import {
  type Upload,
  type UploadKey,
  beginUpload,
  deleteUpload,
  findRememberedAnswers,
  findUpload,
  forgetAnswers,
  rememberAnswers,
  stopUpload,
  updateUploadAnswers,
  upsertUpload,
} from '../../store/push/uploads.ts';
import type { Shop } from '../../store/shops.ts';
import { type Answers, parseAnswers } from './answers.ts';
import {
  type Received,
  type ReceivedFile,
  ArrivingFiles,
  receiveFile,
  unwritable,
} from './receive.ts';
import type { Examination, Unusable, ExamineRequest } from './jobs/examine.ts';
import { UploadFolder } from './folder.ts';
import { heapOfJob } from './jobs/limits.ts';
import { ImportRuns } from './import-runs.ts';
import { type Rehearsal, Rehearsals } from './rehearsals.ts';
import type { Figures } from '../../metrics/rehearse.ts';
import type { Refusals } from './refusals.ts';
import type { SyncRequest } from './jobs/rehearse-sync.ts';
import type { SuggestRequest } from './jobs/suggest-source.ts';
import { JobEnded, runJob } from './jobs/run-job.ts';
import { ShopTurns } from './shop-turns.ts';

/** The upload of a shop as its owner sees it. */
export interface UploadView extends Omit<Upload, 'answers' | 'counts' | 'refused' | 'figures'> {
  readonly answers: Answers;
  readonly counts: ImportCounts;
  readonly refused: Refusals;
  readonly figures: Figures | undefined;
  /** Whether this server has the file. */
  readonly hasFile: boolean;
}

type Examined = Examination | Unusable;

interface Looked {
  readonly upload: UploadView;
  readonly examined: Examined;
}

interface UploadsParts {
  readonly sql: Sql;
  /** Where the database is, for the processes that import. */
  readonly database: string;
  readonly limits: UploadConfig;
  readonly clock: Clock;
  readonly log: Log;
}

/** An import is noted this often; without notes for so long, its process has died. */
const deadMilliseconds = 60_000;
const sweepMilliseconds = 600_000;
/** How many times as large as the largest upload an archive may be when it is unpacked. */
const maxUnpacking = 16;
/** Examinations that are remembered. */
const maxExamined = 20;

/** Files that owners upload: received, looked at, and imported. */
export class Uploads {
  readonly maxBytes: number;
  readonly #parts: UploadsParts;
  readonly #folder: UploadFolder;
  readonly #heapMegabytes: number;
  readonly #runs: ImportRuns;
  readonly #sweep: NodeJS.Timeout;
  readonly #rehearsals: Rehearsals;
  readonly #arriving = new ArrivingFiles();
  /** The latest examination of a shop, since a form is about the page that was just shown. */
  readonly #examined = new Map<number, { readonly key: string; readonly result: Examined }>();

  constructor(parts: UploadsParts) {
    this.#parts = parts;
    this.maxBytes = parts.limits.maxBytes;
    this.#folder = new UploadFolder(parts.limits.folder);
    this.#heapMegabytes = parts.limits.heapMegabytes ?? heapOfJob();
    this.#runs = new ImportRuns({
      ...parts,
      folder: this.#folder,
      heapMegabytes: this.#heapMegabytes,
      maxUnpackedBytes: this.maxBytes * maxUnpacking,
    });
    this.#rehearsals = new Rehearsals(this.#heapMegabytes, parts.log);
    const sweep = () =>
      this.#folder
        .sweep(parts.clock.now())
        .catch((error: unknown) => parts.log.warn({ err: error }, 'old uploads were not removed'));
    void sweep();
    this.#sweep = setInterval(sweep, sweepMilliseconds).unref();
  }

  /** Stops imports; their owners can begin them again. */
  async close(): Promise<void> {
    clearInterval(this.#sweep);
    await Promise.all([this.#rehearsals.close(), this.#runs.close()]);
  }

  /** Receives a file in place of the shop's earlier one. */
  async receive(
    { id: shopId }: Shop,
    { ownerId, by }: { readonly ownerId: string; readonly by: Actor },
    request: IncomingMessage,
    isToken: (token: string) => boolean,
  ): Promise<Received> {
    const key = { shopId, uploadId: randomUUID() };
    const replacing = new AbortController();
    const arrival = { ownerId, replace: () => replacing.abort() };
    const admit = async () => {
      const before = await this.find(shopId);
      if (before && isActive(before)) return { kind: 'importing' } as const;
      return this.#arriving.add(shopId, arrival) ?? this.#folder.placeFor(key);
    };
    const { maxBytes } = this;
    try {
      const options = { maxBytes, isToken, admit, replaced: replacing.signal };
      const received = await receiveFile(request, options);
      return received.kind === 'received' ? await this.#keep(key, received, by) : received;
    } finally {
      this.#arriving.remove(shopId, arrival);
    }
  }

  /** Makes a file that has arrived the shop's upload. */
  async #keep(key: UploadKey, received: ReceivedFile, by: Actor): Promise<Received> {
    const { sql, clock, log } = this.#parts;
    const { fileName, bytes } = received;
    const before = await this.find(key.shopId);
    const at = new Date(clock.now());
    const upload = { ...key, fileName, bytes, receivedAt: at };
    try {
      await this.#folder.settle(key);
      // Without the file's name, which may name a person.
      const happened = { at, by, what: 'file_uploaded', target: `${bytes} bytes` } as const;
      const isKept = await audited(sql, key.shopId, happened, (tx) =>
        upsertUpload(tx, upload, this.#deadBefore()),
      );
      if (!isKept) {
        await this.#folder.remove(key);
        return { kind: 'importing' };
      }
    } catch (error) {
      return unwritable(error);
    }
    if (before) await this.#folder.remove(before);
    log.info({ ...key, bytes }, 'file uploaded');
    return received;
  }

  async find(shopId: number): Promise<UploadView | undefined> {
    const found = await findUpload(this.#parts.sql, shopId);
    if (!found) return undefined;
    const { state, activeAt, answers, counts, refused, figures } = found;
    const isDead =
      (state === 'running' || state === 'stopping') &&
      (activeAt ?? new Date(0)) < this.#deadBefore();
    return {
      ...found,
      state: isDead ? 'interrupted' : state,
      answers: parseAnswers(answers),
      counts: JSON.parse(counts),
      refused: JSON.parse(refused),
      figures: JSON.parse(figures) ?? undefined,
      hasFile: (await this.#folder.find(found)) !== undefined,
    };
  }

  /**
   * Looks at a file, with the answers to an earlier one with the same headings if there are none yet.
   * @returns the upload with the answers that were used; undefined if the file was removed meanwhile
   */
  async look(shop: Shop, upload: UploadView): Promise<Looked | undefined> {
    const examined = await this.examine(shop, upload);
    if (!examined) return undefined;
    if (!('preview' in examined) || upload.answers.questions.length > 0) {
      return { upload, examined };
    }
    const { sql } = this.#parts;
    const known = await findRememberedAnswers(sql, shop.id, headingsOf(examined));
    if (known === undefined) return { upload, examined };
    const answers = { ...upload.answers, questions: JSON.parse(known), isRemembered: true };
    await this.answer(upload, answers);
    const remembered = { ...upload, answers };
    const again = await this.examine(shop, remembered);
    return again && { upload: remembered, examined: again };
  }

  /** Forgets what was said about files with these headings, and about this one. */
  async forget(upload: UploadView, examined: Examination): Promise<void> {
    await forgetAnswers(this.#parts.sql, upload.shopId, headingsOf(examined));
    const asked = { questions: [], isCorrected: false, isRemembered: false };
    await this.answer(upload, { ...upload.answers, ...asked });
  }

  /** What an import would do, as far as it is known: a rehearsal begins with the first question about it. */
  async rehearse(shop: Shop, upload: UploadView): Promise<Rehearsal> {
    const file = await this.#folder.find(upload);
    if (file === undefined) return { kind: 'none' };
    const { fileName, bytes, answers } = upload;
    const maxUnpackedBytes = this.maxBytes * maxUnpacking;
    const { database } = this.#parts;
    const request = { database, shop: importShopOf(shop), file, fileName, bytes };
    return this.#rehearsals.find({ ...request, maxUnpackedBytes, answers });
  }

  /** What the first sync of a source would do, likewise. */
  rehearseSync(shop: Shop, request: Omit<SyncRequest, 'database' | 'shop'>): Rehearsal {
    const { database } = this.#parts;
    return this.#rehearsals.findSync({ ...request, database, shop: importShopOf(shop) });
  }

  /** What a source has, looked at when it is the shop's turn. */
  suggestSource(shop: Shop, request: Omit<SuggestRequest, 'currency'>) {
    const work = { ...request, currency: shop.currency };
    const heapMegabytes = this.#heapMegabytes;
    return turns.run(shop.id, () => runJob('suggestSource', work, { heapMegabytes }));
  }

  async examine(shop: Shop, upload: UploadView): Promise<Examined | undefined> {
    const file = await this.#folder.find(upload);
    if (file === undefined) return undefined;
    const { fileName, answers } = upload;
    const { questions, asOf } = answers;
    const key = JSON.stringify([upload.uploadId, questions, asOf]);
    const known = this.#examined.get(shop.id);
    if (known?.key === key) return known.result;
    const request = { file, fileName, shop: importShopOf(shop), answers: questions, asOf };
    const result = await examineFile(request, this.#heapMegabytes);
    this.#examined.delete(shop.id);
    this.#examined.set(shop.id, { key, result });
    const [oldest] = this.#examined.keys();
    if (this.#examined.size > maxExamined && oldest !== undefined) this.#examined.delete(oldest);
    return result;
  }

  /** @returns false if it is no longer waiting for answers */
  async answer(key: UploadKey, answers: Answers): Promise<boolean> {
    const { sql, clock } = this.#parts;
    const isWaiting = await updateUploadAnswers(sql, key, JSON.stringify(answers));
    if (isWaiting) await this.#folder.touch(key, clock.now());
    return isWaiting;
  }

  /** Imports a file in this process, when it is the shop's turn. @returns false if it runs already */
  async start(shop: Shop, by: Actor, upload: UploadView, examined?: Examination): Promise<boolean> {
    const { sql, clock } = this.#parts;
    const at = new Date(clock.now());
    this.#rehearsals.stop(shop.id);
    if (examined && upload.answers.isCorrected) {
      const answers = JSON.stringify(worthRemembering(upload.answers, examined));
      await rememberAnswers(sql, shop.id, { headings: headingsOf(examined), answers, at });
    }
    const happened = { at, by, what: 'import_started', target: 'the uploaded file' } as const;
    const isBegun = await audited(sql, shop.id, happened, (tx) =>
      beginUpload(tx, upload, at, this.#deadBefore()),
    );
    if (!isBegun) return false;
    this.#examined.delete(shop.id);
    this.#runs.add(shop, upload);
    return true;
  }

  /** Stops the import of an upload, or removes the upload. */
  async cancel(key: UploadKey): Promise<void> {
    const { sql } = this.#parts;
    this.#examined.delete(key.shopId);
    this.#rehearsals.stop(key.shopId);
    if (await stopUpload(sql, key)) return this.#runs.check(key);
    if (await deleteUpload(sql, key, this.#deadBefore())) await this.#folder.remove(key);
  }

  #deadBefore(): Date {
    return new Date(this.#parts.clock.now() - deadMilliseconds);
  }
}

/** What was said of a file, and what its columns were taken for: guesses about the next one may differ. */
function worthRemembering({ questions }: Answers, { views }: Examination) {
  const uses = views.flatMap(({ use, name }): [string, string][] =>
    use === '' ? [] : [[use, name]],
  );
  const said = questions.filter(([id]) => !hasEmailAddress(id));
  return [...new Map([...said, ...uses])];
}

/** Which headings a file has, whatever their order. */
function headingsOf({ views }: Examination): string {
  const names = views.map(({ name }) => name).toSorted();
  return createHash('sha256').update(JSON.stringify(names)).digest('hex');
}

export function isActive({ state }: Pick<Upload, 'state'>): boolean {
  return state === 'running' || state === 'stopping';
}

const turns = new ShopTurns();

/** Examines a file in a process of its own, when it is the shop's turn. */
export function examineFile(
  request: ExamineRequest,
  heapMegabytes: number,
): Promise<Examination | Unusable> {
  return turns.run(request.shop.id, async () => {
    try {
      return await runJob('examine', request, { heapMegabytes });
    } catch (error) {
      if (!(error instanceof JobEnded)) throw error;
      return { problem: error.problemFor(request.fileName) };
    }
  });
}
