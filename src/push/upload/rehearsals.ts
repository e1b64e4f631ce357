import type { ImportCounts } from '../../ingest/import.ts';
import type { Figures } from '../../metrics/rehearse.ts';
import type { Preview } from '../../mapping/suggest/preview.ts';
import type { ImportEnd, ImportRequest } from './jobs/import-file.ts';
import type { Request } from './jobs/job.ts';
import type { SyncEnd, SyncRequest } from './jobs/rehearse-sync.ts';
import type { Log } from '../../log/log.ts';
import { JobEnded, runJob } from './jobs/run-job.ts';
import type { Refusals } from './refusals.ts';
import { ShopTurns } from './shop-turns.ts';

/** What is known of what an import would do. */
export type Rehearsal =
  | { readonly kind: 'running' }
  /** It would take too much time or memory, or failed. */
  | { readonly kind: 'none'; readonly problem?: string; readonly preview?: Preview | undefined }
  | {
      readonly kind: 'done';
      /** What the first rows of a source become. */
      readonly preview?: Preview | undefined;
      readonly counts: ImportCounts;
      readonly refused: Refusals;
      readonly figures: Figures;
    };

/** Larger files and slower copies are not rehearsed. */
const maxBytes = 8 * 1024 * 1024;
const maxMilliseconds = 120_000;
/** The copy is a database of its own, which needs 300 MB; an eighth of the memory is the heap. */
const minHeapMegabytes = 128;
/** Results that are remembered. */
const maxKept = 20;

type RehearsalKind = 'rehearse' | 'rehearseSync';
type RehearsalEnd = ImportEnd & Partial<Pick<SyncEnd, 'preview'>>;

interface Run {
  readonly key: string;
  readonly stopping: AbortController;
  rehearsal: Rehearsal;
}

/** Imports and first syncs into copies of their shops, one a shop: the latest that was asked for. */
export class Rehearsals {
  readonly #heapMegabytes: number;
  readonly #log: Log;
  readonly #runs = new Map<number, Run>();
  readonly #ending = new Set<Promise<void>>();
  readonly #turns = new ShopTurns();

  constructor(heapMegabytes: number, log: Log) {
    this.#heapMegabytes = heapMegabytes;
    this.#log = log;
  }

  find(request: ImportRequest): Rehearsal {
    const { shop, file, bytes, answers } = request;
    const isLarge = bytes * (file.endsWith('.gz') ? 10 : 1) > maxBytes;
    if (isLarge || this.#heapMegabytes < minHeapMegabytes) return { kind: 'none' };
    return this.#find(shop.id, JSON.stringify([file, answers]), 'rehearse', request);
  }

  findSync(request: SyncRequest): Rehearsal {
    if (this.#heapMegabytes < minHeapMegabytes) return { kind: 'none' };
    const { shop, platform, version } = request;
    return this.#find(shop.id, JSON.stringify([platform, version]), 'rehearseSync', request);
  }

  #find<Kind extends RehearsalKind>(
    shopId: number,
    key: string,
    kind: Kind,
    request: Request<Kind>,
  ): Rehearsal {
    const known = this.#runs.get(shopId);
    if (known?.key === key) return known.rehearsal;
    this.stop(shopId);
    const stopping = new AbortController();
    const run: Run = { key, stopping, rehearsal: { kind: 'running' } };
    const end = this.#turns.run(shopId, async () => {
      run.rehearsal = await this.#run(shopId, kind, request, stopping.signal);
      this.#ending.delete(end);
    });
    this.#ending.add(end);
    this.#runs.set(shopId, run);
    const [oldest] = this.#runs.keys();
    if (this.#runs.size > maxKept && oldest !== undefined) this.stop(oldest);
    return run.rehearsal;
  }

  /** Stops that of a shop, whose answers are others now, or which is being imported. */
  stop(shopId: number): void {
    const run = this.#runs.get(shopId);
    this.#runs.delete(shopId);
    run?.stopping.abort();
  }

  async close(): Promise<void> {
    for (const shopId of this.#runs.keys()) this.stop(shopId);
    await Promise.all(this.#ending);
  }

  async #run<Kind extends RehearsalKind>(
    shop: number,
    kind: Kind,
    request: Request<Kind>,
    stopped: AbortSignal,
  ): Promise<Rehearsal> {
    if (stopped.aborted) return { kind: 'none' };
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(maxMilliseconds)]);
    const options = { heapMegabytes: this.#heapMegabytes, signal };
    const end: RehearsalEnd | undefined = await runJob(kind, request, options).catch(
      (error: unknown) => {
        // A process that needed too much has ended. Of any other error, too, only the figures are missing.
        if (!(error instanceof JobEnded)) {
          this.#log.error({ shop, err: error }, 'import not rehearsed');
        }
        return undefined;
      },
    );
    const { failure, counts = {}, refused = '', figures, preview } = end ?? {};
    if (failure) this.#log.warn({ shop, reason: failure.reason }, 'import not rehearsed');
    if (figures) return { kind: 'done', counts, refused: JSON.parse(refused), figures, preview };
    const problem = kind === 'rehearseSync' ? failure?.problem : undefined;
    return { kind: 'none', ...(problem !== undefined && { problem }), preview };
  }
}
