import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Sql } from '../store/database.ts';
import { upsertFeed } from '../store/feeds/feeds.ts';
import { insertEvent } from '../store/owners/events.ts';
import { beginWithRetries, planAgain } from '../store/records/writing.ts';
import type { FeedName } from '../vocabulary.ts';
import { type AppliedBatch, type ImportShop, applyBatch } from './apply.ts';
import { type Entry, arrivalOf, Batch, waitReason } from './batch.ts';
import { DeferredEntries } from './deferred.ts';
import { type Line, type ParsedRecord, type Unparsed, parseLine, recordNameOf } from './lines.ts';
import {
  type RecordType,
  type RecordSchema,
  recordSchema,
  targetTypeOf,
} from '../records/records.ts';
import type { Snapshot, SnapshotRun } from './snapshot.ts';

/** Enough to be fast, few enough that others barely wait for the transaction. */
const linesPerTransaction = 1000;
/**
 * More than by default, since on a database server only importers of the same shop wait for the
 * transaction. With the embedded database, everyone does.
 */
export const linesPerServerTransaction = 12_000;
/** Others who write to the shop wait for no longer transaction, if 1000 lines allow it. */
const transactionMilliseconds = 500;
/** While tables look empty, the database may read all of a batch for each of its lines. */
const linesOfFirstTransaction = 1000;
/** A transaction also ends when its lines have this many JavaScript characters. */
const charactersPerTransaction = 16 * 1024 * 1024;
/** How often reading yields, so that the current transaction can send its next statement. */
const linesPerYield = 100;

/**
 * The order in which types of waiting records are refused once another round would change nothing.
 * Parents come first: a record held up behind a refused parent may be what a child waits for.
 */
const refusalOrder = ['subscription', 'payment', 'refund', 'cancellation', 'plan'] as const;

/** Lines to import, with the name that messages give their source. */
export interface LineSource {
  readonly name: string;
  readonly lines: AsyncIterable<readonly Line[]>;
}

type ImportOutcome = 'stored' | 'replaced' | 'deleted' | 'unchanged' | 'stale' | 'refused';
type Counts = Record<ImportOutcome, number>;
const noCounts = { stored: 0, replaced: 0, deleted: 0, unchanged: 0, stale: 0, refused: 0 };

/** Counts by record type; lines without a known type count as "unknown". */
export type ImportCounts = Record<string, Counts>;

/** Notes how many records a file changed, if it changed any. */
export async function noteImport(
  sql: Sql,
  { id }: Pick<ImportShop, 'id'>,
  counts: ImportCounts,
  at: number,
): Promise<void> {
  const changed = Object.values(counts).reduce(
    (sum, { stored, replaced, deleted }) => sum + stored + replaced + deleted,
    0,
  );
  if (changed === 0) return;
  await insertEvent(sql, id, { at: new Date(at), kind: 'import', detail: String(changed) });
}

export interface ImportOptions {
  /** A connection that can write. */
  readonly sql: Sql;
  readonly shop: ImportShop;
  /** The feed that the records belong to. Its freshness is stored with them. */
  readonly feed: FeedName;
  readonly clock: Clock;
  readonly log: { warn(fields: object, text: string): void };
  /** Overrides the default, which suits every database. */
  readonly linesPerTransaction?: number;
  /** Whether a feed made the records. Only then are their `preserve` and `sourceIds` used. */
  readonly isFromFeed?: boolean;
  /** When records without a date of their own were exported, in epoch milliseconds, if that is known. */
  readonly asOf?: number | undefined;
  /** Whether the source has more records than these, so that they do not complete the feed. */
  readonly isPartial?: boolean;
  /** Why no record of this type, and no deletion of one, is taken; undefined if they are. */
  whyNotTaken?(type: RecordType): string | undefined;
  /** The input as a whole: what it does not contain is deleted at the end. */
  readonly snapshot?: Snapshot;
  /** Stops the run between two transactions; its reason is thrown. */
  readonly signal?: AbortSignal;
  /** Filled during the run. If it fails, this is what it had done by then. */
  readonly counts?: ImportCounts;
  /**
   * Called for each line when it is refused, which may be out of line order.
   * @param record names it, if its id is known
   * @param isEarly whether it could be taken later: it refers to a record that is not known yet, or deletes
   * one that is still in use
   */
  refuse(
    source: string,
    line: Line,
    reason: string,
    record: string | undefined,
    isEarly: boolean,
  ): void | Promise<void>;
  /** Called for what is unusual about a line that is still imported; by default it is logged. */
  warn?(source: string, line: number, text: string): void;
  /** Keys of records that wait from earlier runs: records with these keys wait behind them. */
  readonly waitingKeys?: ReadonlySet<string>;
  /** Takes the lines that still wait at the end. Without it, these are refused. */
  keepWaiting?(lines: readonly Line[]): void;
  progress?(settled: number): void;
}

/**
 * Imports records. Stores each batch of lines in one transaction while reading the next one. A
 * record that refers to a missing one waits until the end of the run. Importing the same lines
 * again changes nothing; a run that was killed and repeated ends in the same state.
 * @throws any error of the database or the source; batches committed by then stay stored
 */
export async function importRecords(
  sources: Iterable<LineSource>,
  options: ImportOptions,
): Promise<ImportCounts> {
  const run = new ImportRun(options);
  let deferred = new DeferredEntries(options.waitingKeys);
  try {
    await run.begin();
    for (const { name, lines } of sources) {
      for await (const chunk of lines) {
        for (const line of chunk) await run.take(line.source ?? name, line, deferred);
      }
    }
    await run.flush(deferred);
    run.retry();

    // Each round settles the records that waited only for records stored in the round before.
    while (deferred.count > 0) {
      const next = new DeferredEntries(options.waitingKeys);
      const waiting = deferred;
      try {
        for await (const chunk of waiting.read()) {
          for (const { source, line } of chunk) await run.take(source, line, next);
        }
        await run.flush(next);
      } finally {
        deferred = next;
        await waiting.dispose();
      }
      if (next.count < waiting.count) continue;
      if (options.keepWaiting) {
        for await (const chunk of next.read()) options.keepWaiting(chunk.map(({ line }) => line));
        break;
      }
      run.giveUp();
    }
    await run.complete();
    return run.counts;
  } finally {
    await run.settled();
    await deferred.dispose();
  }
}

class ImportRun {
  readonly counts: ImportCounts;
  readonly #options: ImportOptions;
  readonly #schema: RecordSchema;
  readonly #snapshotRun: SnapshotRun;
  #batch = new Batch();
  #inFlight: Promise<void> = Promise.resolve();
  #settled = 0;
  #batches = 0;
  #maxLines = linesOfFirstTransaction;
  #taken = 0;
  /** Types of records that are refused instead of waiting any longer. */
  readonly #givenUp = new Set<RecordType>();
  #isAnyHeldUp = false;
  /** Whether lines come for the second time. */
  #isRetrying = false;

  constructor(options: ImportOptions) {
    this.#options = options;
    this.counts = options.counts ?? {};
    this.#schema = recordSchema(options.shop.minorDigits, options.clock, options.isFromFeed);
    const { sql, shop, signal, whyNotTaken } = options;
    const takes = (type: RecordType) => whyNotTaken?.(type) === undefined;
    const startedAt = options.clock.now();
    this.#snapshotRun = { sql, shopId: shop.id, startedAt, signal, takes };
  }

  async take(source: string, line: Line, deferred: DeferredEntries): Promise<void> {
    this.#taken += 1;
    if (this.#taken % linesPerYield === 0) await yieldToEventLoop();
    this.#options.signal?.throwIfAborted();
    if (line.warning !== undefined) this.#warn(source, line.number, line.warning);
    const parsed = this.#parse(line);
    const { snapshot } = this.#options;
    if (snapshot && !this.#isRetrying) {
      const noted = snapshot.note(source, line.number, parsed, this.#snapshotRun);
      if (noted) await noted;
    }
    if ('problem' in parsed) return this.#refuse(source, line, parsed, parsed.problem);
    this.#batch.add({ source, line, ...this.#dated(parsed) });
    const usualLines = this.#options.linesPerTransaction ?? linesPerTransaction;
    const isFull =
      this.#batch.size >= Math.min(usualLines, this.#maxLines) ||
      this.#batch.characters >= charactersPerTransaction;
    if (isFull) await this.#store(deferred);
  }

  /** Stores the remaining lines and waits until everything is committed. */
  async flush(deferred: DeferredEntries): Promise<void> {
    await this.#store(deferred);
    await this.#inFlight;
  }

  async begin(): Promise<void> {
    await this.#options.snapshot?.begin(this.#snapshotRun);
  }

  /** From now on, lines come again that have waited. */
  retry(): void {
    this.#isRetrying = true;
  }

  /** Deletes what a snapshot does not contain, and marks the feed as read to its end. */
  async complete(): Promise<void> {
    const { sql, shop, feed, clock, snapshot, isPartial, signal } = this.#options;
    signal?.throwIfAborted();
    const deleted = (await snapshot?.deleteMissing(this.#snapshotRun)) ?? {};
    for (const [type, count] of Object.entries(deleted)) this.#count(type, 'deleted', count);
    if (isPartial === true) return;
    await upsertFeed(sql, shop.id, feed, { completedAt: new Date(clock.now()) });
  }

  /** Waits for the current transaction to end, even if it fails. */
  async settled(): Promise<void> {
    await this.#inFlight.catch(() => {});
  }

  /** Called when a round has settled nothing. Fewer types wait after each call, until none do. */
  giveUp(): void {
    const remaining = refusalOrder.filter((type) => !this.#givenUp.has(type));
    for (const type of this.#isAnyHeldUp ? remaining.slice(0, 1) : remaining)
      this.#givenUp.add(type);
    this.#isAnyHeldUp = false;
  }

  #parse(line: Line): ParsedRecord | Unparsed {
    const { clock, isFromFeed = false, whyNotTaken, asOf } = this.#options;
    const parsed = parseLine(line, { schema: this.#schema, clock, isFromFeed });
    if ('problem' in parsed) return parsed;
    const { record } = parsed;
    const problem = whyNotTaken?.(targetTypeOf(record));
    if (problem !== undefined) return { type: record.type, id: record.id, problem };
    return asOf === undefined ? parsed : { ...parsed, exportedAt: parsed.exportedAt ?? asOf };
  }

  #warn(source: string, line: number, text: string): void {
    const { warn, log } = this.#options;
    if (warn) warn(source, line, text);
    else log.warn({ source, line }, text);
  }

  /** A mapped subscription is from an export, which was made now if nothing says when. */
  #dated(parsed: ParsedRecord): ParsedRecord & Pick<Entry, 'isDatedByImport'> {
    const { feed } = this.#options;
    const isUndated = feed === 'export' && parsed.exportedAt === undefined;
    if (!isUndated || parsed.record.type !== 'subscription') return parsed;
    return { ...parsed, exportedAt: this.#snapshotRun.startedAt, isDatedByImport: true };
  }

  async #refuse(
    source: string,
    line: Line,
    record: Pick<Unparsed, 'type' | 'id'> & Partial<Pick<ParsedRecord, 'sourceIds'>>,
    reason: string,
    isEarly = false,
  ): Promise<void> {
    this.#count(record.type, 'refused');
    this.#options.snapshot?.noteRefused(record);
    await this.#options.refuse(source, line, reason, recordNameOf(line, record), isEarly);
  }

  #count(type: string, what: ImportOutcome, count = 1): void {
    this.counts[type] ??= { ...noCounts };
    this.counts[type][what] += count;
    this.#settled += count;
  }

  /** Starts storing the batch once the one before it is committed; reading goes on meanwhile. */
  async #store(deferred: DeferredEntries): Promise<void> {
    await this.#inFlight;
    this.#options.signal?.throwIfAborted();
    const batch = this.#batch;
    this.#batch = new Batch();
    if (batch.size === 0) return;
    this.#inFlight = this.#commit(batch, deferred);
    // The next await sees the failure; until then it must not count as unhandled.
    this.#inFlight.catch(() => {});
  }

  async #commit(batch: Batch, deferred: DeferredEntries): Promise<void> {
    const { applied, waiting, isAnyHeldUp } = await this.#inTransaction(batch, deferred);
    this.#isAnyHeldUp ||= isAnyHeldUp;
    const isGivenUp = ({ record }: Entry) => this.#givenUp.has(targetTypeOf(record));
    await deferred.add(waiting.filter((entry) => !isGivenUp(entry)));
    for (const { source, line, record, sourceIds } of waiting.filter(isGivenUp)) {
      await this.#refuse(source, line, { ...record, sourceIds }, waitReason(record), true);
    }
    for (const { entry, reason } of applied.refused) {
      const { source, line, record, sourceIds } = entry;
      await this.#refuse(source, line, { ...record, sourceIds }, reason);
    }
    for (const { entry, verdict } of applied.outcomes) {
      const { type } = entry.record;
      if (verdict !== 'waiting') {
        this.#count(type, type === 'delete' && verdict === 'stored' ? 'deleted' : verdict);
      }
    }
    for (const { entry, message } of applied.warnings) {
      this.#options.log.warn({ source: entry.source, line: entry.line.number }, message);
    }
    this.#options.progress?.(this.#settled);
  }

  async #inTransaction(batch: Batch, deferred: DeferredEntries): Promise<AppliedBatch> {
    const { sql, shop, feed, clock } = this.#options;
    this.#batches += 1;
    const arrival = arrivalOf(batch.records, clock.now());
    const began = clock.monotonic();
    const applied = await beginWithRetries(sql, async (tx) => {
      const outcome = await applyBatch(tx, shop, feed, batch, deferred, this.#givenUp, clock.now());
      await upsertFeed(tx, shop.id, feed, arrival);
      const hasGrown = batch.size >= linesOfFirstTransaction && isPowerOfTwo(this.#batches);
      if (hasGrown) await planAgain(tx);
      return outcome;
    });
    const share = transactionMilliseconds / (clock.monotonic() - began);
    this.#maxLines = Math.max(linesOfFirstTransaction, batch.size * share);
    return applied;
  }
}

/** Each time that as much again has been stored. */
const isPowerOfTwo = (count: number) => (count & (count - 1)) === 0;
