import type { Transaction } from '../../store/database.ts';
import {
  type KnownExport,
  type SeenSubscription,
  type StoredSightings,
  forgetSightings,
  listKnownExports,
  listSeen,
  updateKnownExports,
  upsertSightings,
} from '../../store/records/sightings.ts';
import {
  type ComparedSubscription,
  type StatusHistory,
  type SubscriptionRows,
  listHistories,
  listValues,
  updateHistories,
  updatePastValues,
} from '../../store/records/subscription-writes.ts';
import { isWritten } from '../../store/records/writing.ts';
import type { SeenValue } from '../../records/past-values.ts';
import type { RecordOf } from '../../records/records.ts';
import type { Entry } from '../batch.ts';
import {
  type StatusChange,
  historyRows,
  isUndated,
  statusChangesFrom,
  statusChangesOf,
} from '../rows.ts';
import { knownOf, pastAfterDeletion } from './past-values.ts';
import { type History, type Sighting, Sightings, inOrder, statusAfter } from './sightings.ts';
import { type SubscriptionStatus, endedStatuses } from '../../vocabulary.ts';

const idsPerStatement = 5_000;

export type SubscriptionEntry = Entry & { readonly record: RecordOf<'subscription'> };
type Stored = SeenSubscription & { readonly changes: readonly StatusChange[] };

/**
 * Dates the changes of subscriptions by all that exports showed of them. Lasts as long as a transaction, which is the
 * shop's only writer.
 */
export class Histories {
  readonly #tx: Transaction;
  readonly #shopId: number;
  readonly sightings: Sightings;
  #seen: StoredSightings[] = [];
  #changed: StatusHistory[] = [];
  #left: number[] = [];
  /** The sightings of subscriptions with those of their records. */
  readonly #texts = new Map<number, string>();

  private constructor(tx: Transaction, shopId: number, exports: readonly KnownExport[]) {
    this.#tx = tx;
    this.#shopId = shopId;
    this.sightings = new Sightings(exports);
  }

  static async open(tx: Transaction, shopId: number): Promise<Histories> {
    return new Histories(tx, shopId, await listKnownExports(tx, shopId));
  }

  /**
   * Dates the changes that records do not date. What is stale may change the history too.
   * @param now the time of the import
   * @returns the same subscriptions, with their whole history
   */
  async date(
    compared: readonly ComparedSubscription[],
    group: ReadonlyMap<number, SubscriptionEntry>,
    now: number,
  ): Promise<ComparedSubscription[]> {
    const entryOf = ({ id }: ComparedSubscription) => group.get(id) as SubscriptionEntry;
    const dependsOnHistory = (each: ComparedSubscription) =>
      each.before !== undefined &&
      (isSighting(each, entryOf(each))
        ? (each.exported?.sightings ?? null) === null
        : isUndated(entryOf(each).record));
    const histories = await listHistories(
      this.#tx,
      this.#shopId,
      compared.filter(dependsOnHistory).map(({ id }) => id),
    );
    return compared.map((each) => {
      const entry = entryOf(each);
      const changes = histories.get(each.id) ?? [];
      if (isSighting(each, entry)) return this.#see(each, entry, storedOf(each, changes));
      if (!each.before || !isUndated(entry.record)) return this.#leave(each);
      const dated = statusChangesOf(entry.record, now, changes);
      return this.#leave({ ...each, rows: withHistory(each.rows, dated) });
    });
  }

  /** A subscription whose record does not come from an export, or says all of its dates. */
  #leave(compared: ComparedSubscription): ComparedSubscription {
    const { id, verdict, rows, before } = compared;
    // A complete export that lacked it had ended it.
    const isBack = verdict === 'unchanged' && before?.status !== rows.subscription.status;
    const left = isBack ? { ...compared, verdict: 'replaced' as const } : compared;
    if (before && isWritten(left)) this.#left.push(id);
    return left;
  }

  #see(
    compared: ComparedSubscription,
    { record, exportedAt: at = 0 }: SubscriptionEntry,
    stored: Stored | undefined,
  ): ComparedSubscription {
    const { id, verdict, rows } = compared;
    const { status, statusEvents } = record;
    const since =
      statusEvents.length > 0 ? statedBy(statusEvents) : (record.updatedAt ?? undefined);
    const before = stored && this.#textOf(stored);
    const text = this.#add({ at, status, since }, verdict === 'stale', before, stored);
    this.#texts.set(id, text);
    const { changes, changesText, last } = this.sightings.historyOf(text);
    if (text !== stored?.sightings) this.#seen.push({ id, exportedAt: last.at, sightings: text });
    const isChanged =
      before !== undefined && changesText !== this.sightings.historyOf(before).changesText;
    if (verdict === 'stale') {
      if (stored && isChanged) this.#change(stored, changes);
      return compared;
    }
    if (verdict === 'unchanged' && !isChanged) return compared;
    return {
      ...compared,
      verdict: verdict === 'unchanged' ? 'replaced' : verdict,
      rows: withHistory(rows, statusChangesFrom(changes, rows.subscription.createdAt)),
    };
  }

  /** When exports showed a subscription that did not say when it changed, also the one that its record is from. */
  exportTimesOf(compared: ComparedSubscription, entry: SubscriptionEntry): readonly number[] {
    const times = this.sightings.undatedTimesOf(compared.exported?.sightings ?? null);
    const { record, exportedAt } = entry;
    const isOwn = record.updatedAt === null && isSighting(compared, entry);
    return isOwn && exportedAt !== undefined ? [...times, exportedAt] : times;
  }

  /** When a complete export that lacked a stored subscription deleted it last; -Infinity if none did. */
  deletedAtOf({ id, exported }: ComparedSubscription): number {
    const text = this.#texts.get(id) ?? exported?.sightings ?? null;
    return (text === null ? undefined : this.sightings.historyOf(text).deletedAt) ?? -Infinity;
  }

  #add(sighting: Sighting, isStale: boolean, before?: string, stored?: Stored): string {
    if (before === undefined) return this.sightings.add(null, sighting);
    const { last } = this.sightings.historyOf(before);
    if (isStale && inOrder(sighting, last) >= 0) return before;
    // What it replaces may be older, since nothing says how old that is.
    const isLast = isStale || stored?.sightings !== null || sighting.at > last.at;
    const at = isLast ? sighting.at : last.at + 1;
    return this.sightings.add(before, { ...sighting, at }, isLast);
  }

  #change({ id, createdAt }: Stored, changes: History['changes']): void {
    this.#changed.push({
      id,
      ...historyRows(id, statusChangesFrom(changes, createdAt), createdAt),
    });
  }

  async #read(ids: readonly number[]): Promise<ReadonlyMap<number, Stored>> {
    const stored = await listSeen(this.#tx, this.#shopId, ids);
    const unseen = [...stored.values()].filter(({ sightings }) => sightings === null);
    const changes = await listHistories(
      this.#tx,
      this.#shopId,
      unseen.map(({ id }) => id),
    );
    return new Map(
      [...stored].map(([id, each]) => [id, { ...each, changes: changes.get(id) ?? [] }]),
    );
  }

  /** What is known of a stored subscription: without sightings, that it has been what it is until now. */
  #textOf(
    { sightings, status, knownAt, createdAt, changes }: Stored,
    { exports } = this.sightings,
  ): string {
    if (sightings !== null) return sightings;
    const stated = statedBy(changes);
    const complete = exports.map(({ at, gone }) => (gone ? at : 0));
    const at = Math.max(knownAt ?? 0, createdAt, stated.at(-1)?.[0] ?? 0, ...complete);
    const since = stated.length > 0 ? stated : undefined;
    return this.sightings.add(null, { at, status, since }, false);
  }

  /**
   * Notes that an export had all subscriptions, and dates what that means for those that it lacked.
   * @returns how many of those that had not ended it ends, at its time; and how many are cancelled now
   */
  async end(missing: readonly number[], complete: Required<KnownExport>) {
    const before = new Sightings(this.sightings.exports);
    this.sightings.complete(complete);
    let [ended, cancelled] = [0, 0];
    for (let first = 0; first < missing.length; first += idsPerStatement) {
      const stored = await this.#read(missing.slice(first, first + idsPerStatement));
      const deleted: number[] = [];
      for (const each of stored.values()) {
        const text = this.#textOf(each, before);
        const [old, now] = [before.historyOf(text), this.sightings.historyOf(text)];
        if (old.deletedAt !== now.deletedAt) deleted.push(each.id);
        if (old.changesText === now.changesText) continue;
        this.#change(each, now.changes);
        const { id } = each;
        if (each.sightings === null) {
          this.#seen.push({ id, exportedAt: now.last.at, sightings: text });
        }
        const status = statusAfter(old.changes);
        if (now.gone <= old.gone || endedStatuses.includes(status)) continue;
        ended += 1;
        if (statusAfter(now.changes) !== status) cancelled += 1;
      }
      await this.#forgetValues(deleted, complete.at);
    }
    return { ended, cancelled };
  }

  /** Forgets what subscriptions were worth before an export deleted them. */
  async #forgetValues(ids: readonly number[], deletedAt: number): Promise<void> {
    const changed: { id: number; pastValues: readonly SeenValue[] | null }[] = [];
    for (const row of await listValues(this.#tx, this.#shopId, ids)) {
      if (row.pastValues === null) continue;
      const { id, sightings } = row;
      const dated = sightings === null ? [] : this.sightings.datedTimesOf(sightings);
      const known = knownOf(row, this.sightings.undatedTimesOf(sightings));
      const isAfter = (at: number) => at > deletedAt || dated.includes(at);
      changed.push({ id, pastValues: pastAfterDeletion(known, isAfter) });
    }
    await updatePastValues(this.#tx, this.#shopId, changed);
  }

  /** Notes that subscriptions were in an export, although it is not known as what. */
  async keep(ids: readonly number[], { since, at }: Required<KnownExport>): Promise<void> {
    for (let first = 0; first < ids.length; first += idsPerStatement) {
      const stored = await this.#read(ids.slice(first, first + idsPerStatement));
      for (const { id, sightings } of stored.values()) {
        if (sightings === null || this.sightings.hasBetween(sightings, since, at)) continue;
        const { changes } = this.sightings.historyOf(sightings);
        const status = statusAfter(changes.filter((change) => (change.at ?? 0) <= at));
        const text = this.sightings.add(sightings, { at, status });
        const { last } = this.sightings.historyOf(text);
        this.#seen.push({ id, exportedAt: last.at, sightings: text });
      }
    }
    await this.store();
  }

  /** Stores what has changed, after the subscriptions themselves. */
  async store(): Promise<void> {
    const [tx, shopId] = [this.#tx, this.#shopId];
    const { exports, isChanged } = this.sightings;
    if (isChanged) await updateKnownExports(tx, shopId, exports);
    if (exports.length > 0 && this.#left.length > 0) await forgetSightings(tx, shopId, this.#left);
    await upsertSightings(tx, shopId, this.#seen);
    await updateHistories(tx, shopId, this.#changed);
    this.sightings.isChanged = false;
    [this.#seen, this.#changed, this.#left] = [[], [], []];
  }
}

/** Whether a record is to be dated by what exports showed. */
function isSighting(
  { verdict, before, exported }: ComparedSubscription,
  { exportedAt, isDatedByImport = false, record }: SubscriptionEntry,
): boolean {
  if (exportedAt === undefined || verdict === 'waiting') return false;
  // A newer complete export no longer had it.
  if (verdict === 'stale' && !before) return false;
  // It says its dates itself, and nothing is newer.
  const needsNone = isDatedByImport && record.statusEvents.length > 0;
  return !needsNone || typeof exported?.sightings === 'string';
}

function storedOf(
  { id, before, exported }: ComparedSubscription,
  changes: readonly StatusChange[],
): Stored | undefined {
  if (!before) return undefined;
  const { status, createdAt, updatedAt } = before;
  const knownAt = Math.max(updatedAt ?? 0, exported?.exportedAt ?? 0);
  return { id, status, createdAt, knownAt, sightings: exported?.sightings ?? null, changes };
}

function withHistory(rows: SubscriptionRows, changes: readonly StatusChange[]): SubscriptionRows {
  const { id, createdAt } = rows.subscription;
  const { events, ...status } = historyRows(id, changes, createdAt);
  return { ...rows, subscription: { ...rows.subscription, ...status }, events };
}

function statedBy(
  changes: readonly { readonly at: number | null; readonly to: SubscriptionStatus }[],
): (readonly [at: number, to: SubscriptionStatus])[] {
  return changes.flatMap(({ at, to }) => (at === null ? [] : [[at, to] as const]));
}
