import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../clock.ts';
import type { UploadConfig } from '../../config/settings.ts';
import { importShopOf } from '../../ingest/apply.ts';
import type { ImportCounts } from '../../ingest/import.ts';
import type { Log } from '../../log/log.ts';
import type { Sql } from '../../store/database.ts';
import {
  type Upload,
  type UploadKey,
  beginUpload,
  deleteUpload,
  findUpload,
  stopUpload,
  updateUploadAnswers,
  upsertUpload,
} from '../../store/push/uploads.ts';
import type { Shop } from '../../store/shops.ts';
import { type Answers, parseAnswers, writeAnswers } from './answers.ts';
import { ArrivingFiles } from './arriving.ts';
import type { Examination, Unusable } from './jobs/examine.ts';
import { examineFile } from './examine-file.ts';
import { UploadFolder } from './folder.ts';
import { heapOfJob } from './jobs/heap.ts';
import { ImportRuns } from './import-runs.ts';
import { type Received, type ReceivedFile, receiveFile, unwritable } from './receive.ts';
import type { Refusals } from './refusals.ts';

/** The upload of a shop as its owner sees it. */
export interface UploadView extends Omit<Upload, 'answers' | 'counts' | 'refused'> {
  readonly answers: Answers;
  readonly counts: ImportCounts;
  readonly refused: Refusals;
  /** Whether this server has the file. */
  readonly hasFile: boolean;
}

type Examined = Examination | Unusable;

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
    await this.#runs.close();
  }

  /** Receives a file in place of the shop's earlier one. */
  async receive(
    { id: shopId }: Shop,
    ownerId: string,
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
      return received.kind === 'received' ? await this.#keep(key, received) : received;
    } finally {
      this.#arriving.remove(shopId, arrival);
    }
  }

  /** Makes a file that has arrived the shop's upload. */
  async #keep(key: UploadKey, received: ReceivedFile): Promise<Received> {
    const { sql, clock, log } = this.#parts;
    const { fileName, bytes } = received;
    const before = await this.find(key.shopId);
    const upload = { ...key, fileName, bytes, receivedAt: new Date(clock.now()) };
    try {
      await this.#folder.settle(key);
      if (!(await upsertUpload(sql, upload, this.#deadBefore()))) {
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
    const { state, activeAt, answers, counts, refused } = found;
    const isDead =
      (state === 'running' || state === 'stopping') &&
      (activeAt ?? new Date(0)) < this.#deadBefore();
    return {
      ...found,
      state: isDead ? 'interrupted' : state,
      answers: parseAnswers(answers),
      counts: JSON.parse(counts),
      refused: JSON.parse(refused),
      hasFile: (await this.#folder.find(found)) !== undefined,
    };
  }

  /** @returns undefined if the file was removed meanwhile */
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
    const isWaiting = await updateUploadAnswers(sql, key, writeAnswers(answers));
    if (isWaiting) await this.#folder.touch(key, clock.now());
    return isWaiting;
  }

  /** Imports a file in this process, when it is the shop's turn. @returns false if it runs already */
  async start(shop: Shop, upload: UploadView): Promise<boolean> {
    const { sql, clock } = this.#parts;
    const at = new Date(clock.now());
    if (!(await beginUpload(sql, upload, at, this.#deadBefore()))) return false;
    this.#examined.delete(shop.id);
    this.#runs.add(shop, upload);
    return true;
  }

  /** Stops the import of an upload, or removes the upload. */
  async cancel(key: UploadKey): Promise<void> {
    const { sql } = this.#parts;
    this.#examined.delete(key.shopId);
    if (await stopUpload(sql, key)) return this.#runs.check(key);
    if (await deleteUpload(sql, key, this.#deadBefore())) await this.#folder.remove(key);
  }

  #deadBefore(): Date {
    return new Date(this.#parts.clock.now() - deadMilliseconds);
  }
}

export function isActive({ state }: Pick<Upload, 'state'>): boolean {
  return state === 'running' || state === 'stopping';
}
