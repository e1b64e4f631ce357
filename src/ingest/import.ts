import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Log } from '../log/log.ts';
import type { Sql } from '../store/database.ts';
import { upsertFeed } from '../store/feeds/feeds.ts';
import type { FeedName } from '../vocabulary.ts';
import { type AppliedBatch, applyBatch } from './apply-batch.ts';
import type { ImportShop } from './apply.ts';
import { arrivalOf } from './arrival.ts';
import { Batch, type Entry, keyOf, waitsFor } from './batch.ts';
import { DeferredEntries } from './deferred.ts';
import type { Line } from './lines.ts';
import {
  type ImportRecord,
  type TargetType,
  createRecordSchema,
  parseRecord,
  recordTypes,
  targetTypeOf,
} from './record.ts';
import { type UsedSourceId, sourceIdsOf } from './source-ids.ts';

/** Enough to be quick, few enough that others hardly wait for the transaction. */
const linesPerTransaction = 1000;
/** On a server only importers of the same shop wait for a transaction; embedded, everybody does. */
export const linesPerServerTransaction = 12_000;
/** What ends a transaction besides its number of lines: JavaScript characters of their text. */
const charactersPerTransaction = 16 * 1024 * 1024;
const attempts = 5;
/** After so many lines the transaction under way may send its next statement: else the two take turns. */
const linesPerTurn = 100;

/**
 * Which records are refused first once waiting longer changes nothing. Parents come first: the one
 * that was held up behind a refused parent may be what a child waits for.
 */
const refusalOrder = ['subscription', 'payment', 'refund', 'cancellation', 'plan'] as const;

/** Where lines come from. */
export interface LineSource {
  readonly name: string;
  readonly lines: AsyncIterable<readonly Line[]>;
}

type ImportOutcome = 'stored' | 'replaced' | 'deleted' | 'unchanged' | 'stale' | 'refused';
type Counts = Record<ImportOutcome, number>;

/** Counts by type of record; lines whose type cannot be told count as "unknown". */
export type ImportCounts = Record<string, Counts>;

export interface ImportOptions {
  /** A connection that can write. */
  readonly sql: Sql;
  readonly shop: ImportShop;
  /** The way on which the records came: how fresh it is, is kept. */
  readonly feed: FeedName;
  readonly clock: Clock;
  readonly log: Log;
  /** Where more are good than what suits every database. */
  readonly linesPerTransaction?: number;
  /** Whether the records were made by a feed, which may say what they leave as it is, and source ids. */
  readonly isFromFeed?: boolean;
  /** Whether the source has more than these records, so that it is not complete with them. */
  readonly isPart?: boolean;
  /** Called for each line that is not taken in, in the order in which that is known. */
  refuse(source: string, line: Line, reason: string): void | Promise<void>;
  progress?(settled: number): void;
}

/**
 * Takes records in: each batch of lines in one transaction, the next one read meanwhile. What refers
 * to a record that has not come yet waits until the end of the run. Run again with the same lines,
 * it changes nothing; killed and run again, it ends in the same state.
 * @throws what the database or the source throws; what was committed by then stays
 */
export async function importRecords(
  sources: Iterable<LineSource>,
  options: ImportOptions,
): Promise<ImportCounts> {
  const run = new ImportRun(options);
  let deferred = new DeferredEntries();
  try {
    for (const { name, lines } of sources) {
      for await (const some of lines) {
        for (const line of some) await run.take(line.source ?? name, line, deferred);
      }
    }
    await run.flush(deferred);

    // Each round settles what waited only for what the last one stored.
    while (deferred.count > 0) {
      const next = new DeferredEntries();
      const waiting = deferred;
      try {
        for await (const some of waiting.read()) {
          for (const { source, line } of some) await run.take(source, line, next);
        }
        await run.flush(next);
      } finally {
        deferred = next;
        await waiting.dispose();
      }
      if (next.count === waiting.count) run.giveUp();
    }
    if (options.isPart !== true) await run.complete();
    return run.counts;
  } finally {
    await run.settled();
    await deferred.dispose();
  }
}

interface Parsed {
  readonly record: ImportRecord;
  readonly sourceIds: readonly UsedSourceId[];
}

class ImportRun {
  readonly counts: ImportCounts = {};
  readonly #options: ImportOptions;
  readonly #schema: ReturnType<typeof createRecordSchema>;
  #batch = new Batch();
  #inFlight: Promise<void> = Promise.resolve();
  #settled = 0;
  #taken = 0;
  /** What is refused, instead of waiting on, for what it lacks. */
  readonly #givenUp = new Set<TargetType>();
  #isAnyHeldUp = false;

  constructor(options: ImportOptions) {
    this.#options = options;
    this.#schema = createRecordSchema(options.shop.minorDigits, options.clock, options.isFromFeed);
  }

  async take(source: string, line: Line, deferred: DeferredEntries): Promise<void> {
    this.#taken += 1;
    if (this.#taken % linesPerTurn === 0) await turn();
    const parsed = this.#parse(line);
    if ('problem' in parsed) return this.#refuse(source, line, parsed.type, parsed.problem);
    this.#batch.add({ source, line, ...parsed, key: keyOf(parsed.record) });
    const isFull =
      this.#batch.size >= (this.#options.linesPerTransaction ?? linesPerTransaction) ||
      this.#batch.characters >= charactersPerTransaction;
    if (isFull) await this.#store(deferred);
  }

  /** Stores what is left and waits until all is committed. */
  async flush(deferred: DeferredEntries): Promise<void> {
    await this.#store(deferred);
    await this.#inFlight;
  }

  /** Notes that the source was read to its end. */
  async complete(): Promise<void> {
    const { sql, shop, feed, clock } = this.#options;
    await upsertFeed(sql, shop.id, feed, { completedAt: new Date(clock.now()) });
  }

  /** Waits for a transaction under way, whatever becomes of it. */
  async settled(): Promise<void> {
    await this.#inFlight.catch(() => {});
  }

  /** Called when a round has settled nothing: from now on fewer records wait, in the end none. */
  giveUp(): void {
    const hopeful = refusalOrder.filter((type) => !this.#givenUp.has(type));
    for (const type of this.#isAnyHeldUp ? hopeful.slice(0, 1) : hopeful) this.#givenUp.add(type);
    this.#isAnyHeldUp = false;
  }

  #parse(line: Line): Parsed | { type: string; problem: string } {
    if (line.problem !== undefined) {
      return { type: line.countsAs ?? 'unknown', problem: line.problem };
    }
    let value: unknown = line.value;
    try {
      value ??= JSON.parse(line.text);
    } catch {
      return { type: 'unknown', problem: 'the line is not JSON' };
    }
    const parsed = parseRecord(this.#schema, value);
    if ('problem' in parsed) return { type: typeOf(value), ...parsed };
    const { record } = parsed;
    return { record, sourceIds: this.#options.isFromFeed ? sourceIdsOf(record, value) : [] };
  }

  async #refuse(source: string, line: Line, type: string, reason: string): Promise<void> {
    this.#count(type, 'refused');
    await this.#options.refuse(source, line, reason);
  }

  #count(type: string, what: ImportOutcome): void {
    this.counts[type] ??= {
      stored: 0,
      replaced: 0,
      deleted: 0,
      unchanged: 0,
      stale: 0,
      refused: 0,
    };
    this.counts[type][what] += 1;
    this.#settled += 1;
  }

  /** Starts storing the batch once the one before it is committed; reading goes on meanwhile. */
  async #store(deferred: DeferredEntries): Promise<void> {
    await this.#inFlight;
    const batch = this.#batch;
    this.#batch = new Batch();
    if (batch.size === 0) return;
    this.#inFlight = this.#commit(batch, deferred);
    // The next call that awaits it sees the failure; until then it must not count as unhandled.
    this.#inFlight.catch(() => {});
  }

  async #commit(batch: Batch, deferred: DeferredEntries): Promise<void> {
    const { applied, waiting, isAnyHeldUp } = await this.#inTransaction(batch, deferred);
    this.#isAnyHeldUp ||= isAnyHeldUp;
    const isGivenUp = ({ record }: Entry) => this.#givenUp.has(targetTypeOf(record));
    await deferred.add(waiting.filter((entry) => !isGivenUp(entry)));
    for (const { source, line, record } of waiting.filter(isGivenUp)) {
      await this.#refuse(source, line, record.type, waitsFor(record));
    }
    for (const { entry, reason } of applied.refused) {
      await this.#refuse(entry.source, entry.line, entry.record.type, reason);
    }
    for (const { entry, verdict } of applied.outcomes) {
      const { type } = entry.record;
      if (verdict !== 'waiting') {
        this.#count(type, type === 'delete' && verdict === 'stored' ? 'deleted' : verdict);
      }
    }
    for (const { entry, remark } of applied.remarks) {
      this.#options.log.warn({ source: entry.source, line: entry.line.number }, remark);
    }
    this.#options.progress?.(this.#settled);
  }

  async #inTransaction(batch: Batch, deferred: DeferredEntries): Promise<AppliedBatch> {
    const { sql, shop, feed, clock } = this.#options;
    const arrival = arrivalOf(batch.records, clock.now());
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await sql.begin(async (tx) => {
          const outcome = await applyBatch(tx, shop, batch, deferred, this.#givenUp);
          await upsertFeed(tx, shop.id, feed, arrival);
          return outcome;
        });
      } catch (error) {
        if (attempt === attempts || !isConflict(error)) throw error;
      }
    }
  }
}

/** Two writers that waited for each other, or for a row that changed: the database asks to retry. */
function isConflict(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === '40P01' || code === '40001';
}

function typeOf(value: unknown): string {
  const type =
    typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined;
  return recordTypes.find((known) => known === type) ?? 'unknown';
}
