import type { Sql, Transaction } from '../store/database.ts';
import { deletions } from '../store/records/deletions.ts';
import { listRecords, upsertSnapshotDates } from '../store/records/export-dates.ts';
import type { Gone } from '../store/records/sightings.ts';
import { deleteIdleCustomers } from '../store/records/subscription-writes.ts';
import { beginWithRetries, lockForWriting } from '../store/records/writing.ts';
import { Histories } from './histories/status-histories.ts';
import type { ParsedRecord, Unparsed } from './lines.ts';
import { type RecordType, deletionOrder } from '../records/records.ts';

const idsPerPage = 5_000;
const deletionsPerStatement = 1_000;
/** The share of a type's records that may be gone without `allowShrink`. */
const maxShare = 0.2;

export interface SnapshotOptions {
  /** What the input has everything of; by default, the types that it contains. */
  readonly types?: readonly RecordType[] | undefined;
  /** Whether more than a fifth of a type's records may be deleted. */
  readonly allowShrink: boolean;
  /** What becomes of subscriptions that the input does not have; by default, they are deleted. */
  readonly gone?: Gone;
}

/** Whose snapshot it is, and how to stop. */
export interface SnapshotRun {
  readonly sql: Sql;
  readonly shopId: number;
  /** In epoch milliseconds. */
  readonly startedAt: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether records of this type are taken at all. */
  takes(type: RecordType): boolean;
}

export type DeletedCounts = Partial<Record<RecordType, number>>;

export interface Shrinkage {
  readonly type: RecordType;
  readonly gone: number;
  readonly before: number;
}

/** What a snapshot led to. */
export type SnapshotOutcome =
  | {
      /** What becomes of subscriptions that are gone; of other records, always the former. */
      readonly kind: Gone;
      readonly deleted: DeletedCounts;
      /** Missing subscriptions that had not ended, if they are cancelled instead of deleted. */
      readonly cancelled?: number;
      /** Missing plans that subscriptions are on. */
      readonly plansInUse: number;
      /** Missing records that are known from later than the export. */
      readonly newer: number;
      /** Types of which more is gone than is allowed without `allowShrink`. */
      readonly shrunk: readonly Shrinkage[];
    }
  /** Nothing was deleted, because lines have no id. */
  | { readonly kind: 'unreadable'; readonly lines: number; readonly first: string }
  /** Nothing was deleted, because too much is gone. */
  | { readonly kind: 'shrunk'; readonly shrunk: readonly Shrinkage[] };

/**
 * An input that has everything of some types. Stored records that it does not contain are deleted at the end,
 * except those that were stored during the run, which came from elsewhere.
 */
export class Snapshot {
  /** Undefined until the end of the run. */
  outcome: SnapshotOutcome | undefined;
  readonly #options: SnapshotOptions;
  readonly #contained = new Map<RecordType, SortedIds>();
  readonly #before = new Map<RecordType, SortedIds>();
  /** How many had not ended before; all but subscriptions never do. */
  readonly #living = new Map<RecordType, number>();
  /** Subscriptions that it contains in a way that is not known. */
  readonly #refused: number[] = [];
  #unreadable = { lines: 0, first: '' };
  /** When the records were exported, in epoch milliseconds; undefined if it is not known. */
  #exported: { readonly first: number; readonly last: number } | undefined;

  constructor(options: SnapshotOptions) {
    this.#options = options;
  }

  /** Must be called before anything is stored. */
  async begin(run: SnapshotRun): Promise<void> {
    for (const type of this.#options.types ?? []) await this.#beginType(type, run);
  }

  /**
   * Notes which record a line is, refused or not.
   * @returns a promise if the record must not be stored before it resolves
   */
  note(
    source: string,
    line: number,
    parsed: ParsedRecord | Unparsed,
    run: SnapshotRun,
  ): Promise<void> | undefined {
    if ('record' in parsed && parsed.exportedAt !== undefined) {
      const { first, last } = this.#exported ?? { first: Infinity, last: 0 };
      const { exportedAt } = parsed;
      this.#exported = { first: Math.min(first, exportedAt), last: Math.max(last, exportedAt) };
    }
    const { type, id } = 'record' in parsed ? parsed.record : parsed;
    if (id === undefined || type === 'unknown') {
      // It may be any record.
      if (this.#unreadable.lines === 0) this.#unreadable.first = `${source}:${line}`;
      this.#unreadable.lines += 1;
      return undefined;
    }
    const contained = deletionOrder.find((each) => each === type);
    return contained && this.#add(contained, id, run);
  }

  /** Notes that a line was refused. */
  noteRefused({ type, id }: Pick<Unparsed, 'type' | 'id'>): void {
    if (type === 'subscription' && id !== undefined) this.#refused.push(id);
  }

  #add(type: RecordType, id: number, run: SnapshotRun): Promise<void> | undefined {
    const ids = this.#contained.get(type);
    if (ids) return void ids.add(id);
    if (this.#options.types) return undefined;
    return this.#beginType(type, run).then(() => this.#contained.get(type)?.add(id));
  }

  /**
   * Deletes what is stored but not contained, in one transaction. Call it once everything is stored.
   * @returns how many records of each type were deleted; `outcome` says more
   */
  async deleteMissing(run: SnapshotRun): Promise<DeletedCounts> {
    this.outcome = await this.#settle(run);
    return 'deleted' in this.outcome ? this.outcome.deleted : {};
  }

  async #settle(run: SnapshotRun): Promise<SnapshotOutcome> {
    if (this.#unreadable.lines > 0) return { kind: 'unreadable', ...this.#unreadable };
    const types = deletionOrder.filter((type) => this.#contained.has(type) && run.takes(type));
    try {
      return await beginWithRetries(run.sql, (tx) => this.#deleteIn(tx, types, run));
    } catch (error) {
      if (error instanceof Shrunk) return { kind: 'shrunk', shrunk: error.shrunk };
      throw error;
    }
  }

  async #beginType(type: RecordType, { sql, shopId, takes }: SnapshotRun): Promise<void> {
    const ids = new SortedIds();
    let living = 0;
    if (takes(type)) {
      for await (const page of pagesOf(sql, shopId, type)) {
        for (const { id, hasEnded } of page) {
          ids.add(id);
          if (!hasEnded) living += 1;
        }
      }
    }
    this.#before.set(type, ids);
    this.#living.set(type, living);
    this.#contained.set(type, new SortedIds());
  }

  async #deleteIn(
    tx: Transaction,
    types: readonly RecordType[],
    run: SnapshotRun,
  ): Promise<SnapshotOutcome> {
    // What is missing now stays missing until it is deleted.
    if (!(await lockForWriting(tx, run.shopId))) throw new Error(`There is no shop ${run.shopId}.`);
    const shrunk: Shrinkage[] = [];
    const check = (type: RecordType, gone: number) => {
      const before = this.#living.get(type) ?? 0;
      if (gone > before * maxShare) shrunk.push({ type, gone, before });
    };
    const { gone = 'deleted' } = this.#options;
    const cancels = gone === 'cancelled' && types.includes('subscription');
    const missing = new Map<RecordType, readonly number[]>();
    let newer = 0;
    let cancelled = 0;
    for (const type of types) {
      const found = await this.#findMissing(tx, type, run);
      if (type === 'subscription') {
        const stay = cancels ? [...found.ids, ...found.newer] : found.newer;
        const done = await this.#endIn(tx, stay, gone, run);
        cancelled = done.cancelled;
        if (cancels) {
          check(type, done.ended);
          continue;
        }
      }
      newer += found.newer.length;
      missing.set(type, found.ids);
      // Only the deletion finds out which plans are still in use.
      if (type !== 'plan') check(type, found.living);
    }
    if (shrunk.length > 0 && !this.#options.allowShrink) throw new Shrunk(shrunk);

    const deleted: DeletedCounts = {};
    const touchedCustomerIds = new Set<number>();
    let plansInUse = 0;
    for (const [type, ids] of missing) {
      let count = 0;
      for (let begin = 0; begin < ids.length; begin += deletionsPerStatement) {
        run.signal?.throwIfAborted();
        const some = ids.slice(begin, begin + deletionsPerStatement);
        const { judged, touchedCustomerIds: touched } = await deletions[type](tx, run.shopId, some);
        count += judged.filter(({ verdict }) => verdict === 'stored').length;
        if (type === 'plan') {
          plansInUse += judged.filter(({ verdict }) => verdict === 'waiting').length;
        }
        for (const id of touched) touchedCustomerIds.add(id);
      }
      if (count > 0) deleted[type] = count;
      if (type === 'plan') check(type, count);
    }
    if (shrunk.length > 0 && !this.#options.allowShrink) throw new Shrunk(shrunk);
    if (touchedCustomerIds.size > 0) {
      await deleteIdleCustomers(tx, run.shopId, [...touchedCustomerIds]);
    }
    if (this.#exported) {
      const deletes = types.filter((type) => type !== 'subscription' || !cancels);
      await upsertSnapshotDates(tx, run.shopId, deletes, this.#exported.first);
    }
    const kind = cancels ? 'cancelled' : 'deleted';
    return { kind, deleted, ...(cancels && { cancelled }), plansInUse, newer, shrunk };
  }

  /** Dates what it means for subscriptions that they are missing, or only refused. */
  async #endIn(
    tx: Transaction,
    missing: readonly number[],
    gone: Gone,
    { shopId, startedAt }: SnapshotRun,
  ) {
    // Without a date, a deletion leaves no trace.
    if (!this.#exported && gone === 'deleted') return { ended: 0, cancelled: 0 };
    const { first: since, last: at } = this.#exported ?? { first: startedAt, last: startedAt };
    const histories = await Histories.open(tx, shopId);
    await histories.keep(this.#refused, { since, at, gone });
    const ended = await histories.end(missing, { since, at, gone });
    await histories.store();
    return ended;
  }

  async #findMissing(tx: Transaction, type: RecordType, run: SnapshotRun) {
    const ids: number[] = [];
    const newer: number[] = [];
    let living = 0;
    for await (const page of pagesOf(tx, run.shopId, type)) {
      run.signal?.throwIfAborted();
      for (const { id, knownAt, hasEnded } of page) {
        if (this.#contained.get(type)?.has(id) || !this.#before.get(type)?.has(id)) continue;
        const isNewer = this.#exported && knownAt !== null && knownAt > this.#exported.last;
        (isNewer ? newer : ids).push(id);
        if (!isNewer && !hasEnded) living += 1;
      }
    }
    return { ids, newer, living };
  }
}

/** Rolls the transaction back. */
class Shrunk extends Error {
  override readonly name = 'Shrunk';
  readonly shrunk: readonly Shrinkage[];

  constructor(shrunk: readonly Shrinkage[]) {
    super('more is gone than is allowed');
    this.shrunk = shrunk;
  }
}

async function* pagesOf(sql: Sql | Transaction, shopId: number, type: RecordType) {
  for (let after = 0; ;) {
    const page = await listRecords(sql, shopId, type, { after, limit: idsPerPage });
    yield page;
    const last = page.at(-1);
    if (!last || page.length < idsPerPage) return;
    after = last.id;
  }
}

/** A compact set of numbers, 8 bytes each. Add all of them before looking any up. */
export class SortedIds {
  #ids = new Float64Array(1024);
  #count = 0;
  #isSorted = true;

  get count(): number {
    return this.#count;
  }

  add(id: number): void {
    if (this.#count === this.#ids.length) {
      const larger = new Float64Array(Math.ceil(this.#count * 1.5));
      larger.set(this.#ids);
      this.#ids = larger;
    }
    this.#ids[this.#count] = id;
    this.#count += 1;
    this.#isSorted = false;
  }

  has(id: number): boolean {
    if (!this.#isSorted) {
      this.#ids = this.#ids.subarray(0, this.#count).toSorted();
      this.#isSorted = true;
    }
    let [low, high] = [0, this.#count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ids[middle] as number) < id) low = middle + 1;
      else high = middle;
    }
    return low < this.#count && this.#ids[low] === id;
  }
}
