import { CommandError } from '../errors.ts';
import { shopDigitsOf } from '../money.ts';
import { deletions } from '../store/records/deletions.ts';
import { listRedacted, anonymousCustomerId } from '../store/records/customers.ts';
import type { Transaction } from '../store/database.ts';
import {
  type ComparedSubscription,
  compareSubscriptions,
  deleteIdleCustomers,
  storeSubscriptions,
} from '../store/records/subscription-writes.ts';
import {
  type Judged,
  type Verdict,
  isWritten,
  lockForWriting,
  upsertRecords,
} from '../store/records/writing.ts';
import { type Entry, type Batch, keyOf } from './batch.ts';
import {
  type RecordOf,
  type RecordType,
  type ImportRecord,
  deletionOrder,
  targetTypeOf,
} from '../records/records.ts';
import {
  cancellationRow,
  isUsualTransition,
  paymentRow,
  planRow,
  refundRow,
  statusChangesOf,
  subscriptionRows,
} from './rows.ts';
import { withStoredLines } from './stored-lines.ts';
import { upsertExportDates } from '../store/records/export-dates.ts';
import { Histories } from './histories/status-histories.ts';
import {
  correctPastIntervals,
  findWrongValues,
  withPastValues,
} from './histories/value-histories.ts';
import { storeValueSightings } from './histories/value-sightings.ts';
import type { FeedName } from '../vocabulary.ts';
import type { DeferredEntries } from './deferred.ts';
import { checkSourceIds, storeSourceIds } from './source-id-check.ts';

export interface ImportShop {
  readonly id: number;
  /** ISO 4217 code. */
  readonly currency: string;
  readonly minorDigits: number;
}

export function importShopOf({ id, currency }: Pick<ImportShop, 'id' | 'currency'>): ImportShop {
  return { id, currency, minorDigits: shopDigitsOf(currency) };
}

/** What a transaction did. */
interface Applied {
  readonly outcomes: { readonly entry: Entry; readonly verdict: Verdict }[];
  readonly refused: { readonly entry: Entry; readonly reason: string }[];
  /** Unusual changes, which are stored as reported. */
  readonly warnings: { readonly entry: Entry; readonly message: string }[];
  readonly touchedCustomerIds: Set<number>;
}

type EntryOf<Type extends ImportRecord['type']> = Entry & {
  readonly record: Extract<ImportRecord, { type: Type }>;
};

/** Entries of one type by the ids of their records, which are in the database's results. */
type Group<Type extends ImportRecord['type']> = ReadonlyMap<number, EntryOf<Type>>;

function groupOf<Type extends ImportRecord['type']>(
  entries: readonly Entry[],
  type: Type,
): Group<Type> {
  const ofType = entries.filter((entry): entry is EntryOf<Type> => entry.record.type === type);
  return new Map(ofType.map((entry) => [entry.record.id, entry]));
}

/** A record's row, with the date of its export. */
function dated<NewRow extends object>(
  row: NewRow,
  { exportedAt }: Entry,
): NewRow & Pick<Entry, 'exportedAt'> {
  return exportedAt === undefined ? row : { ...row, exportedAt };
}

interface StepContext {
  readonly tx: Transaction;
  readonly feed: FeedName;
  readonly shop: ImportShop;
  readonly applied: Applied;
  /** The time of the import, in epoch milliseconds. */
  readonly now: number;
  readonly histories: Histories;
}

/** @param entries of one step without deletions: no duplicate keys */
async function applyRecords(entries: readonly Entry[], context: StepContext): Promise<void> {
  const { tx, shop, applied } = context;
  const plans = groupOf(entries, 'plan');
  const subscriptions = groupOf(entries, 'subscription');
  const sessions = groupOf(entries, 'cancellation');
  const payments = groupOf(entries, 'payment');
  const refunds = groupOf(entries, 'refund');

  // Parents first: within a step, a child may come before its parent.
  if (plans.size > 0) {
    const rows = rowsOf(plans, (record) => planRow(record, shop.currency, shop.minorDigits));
    const judged = await upsertRecords(tx, shop.id, 'plan', rows);
    await correctPastIntervals(tx, shop.id, judged);
    settle(judged, plans, applied);
  }
  const compared =
    subscriptions.size > 0 ? await compareSubscriptionsOf(subscriptions, context) : [];
  const known = new Set(compared.filter(willBeStored).map(({ id }) => id));
  // Sessions before new subscriptions, which are then stored with the time at which they were last saved.
  const judgedSessions =
    sessions.size > 0
      ? await upsertRecords(tx, shop.id, 'cancellation', rowsOf(sessions, cancellationRow), known)
      : [];
  const savedAt = savedAtOf(sessions, judgedSessions);
  await storeSubscriptions(tx, shop.id, compared, savedAt, context.feed);
  await context.histories.store();
  await storeValueSightings(tx, shop.id, entries, context);
  if (payments.size > 0) {
    const rows = rowsOf(payments, paymentRow);
    settle(await upsertRecords(tx, shop.id, 'payment', rows, known), payments, applied);
  }
  if (refunds.size > 0) {
    settle(
      await upsertRecords(tx, shop.id, 'refund', rowsOf(refunds, refundRow)),
      refunds,
      applied,
    );
  }
  settle(judgedSessions, sessions, applied);
  warnOfOutcomes(judgedSessions, sessions, applied);
}

const willBeStored = (judged: Judged) => isWritten(judged) || judged.verdict === 'unchanged';

function rowsOf<Type extends ImportRecord['type'], NewRow extends object>(
  group: Group<Type>,
  toRow: (record: EntryOf<Type>['record']) => NewRow,
) {
  return [...group.values()].map((entry) => dated(toRow(entry.record), entry));
}

function settle(
  judged: readonly Judged[],
  group: ReadonlyMap<number, Entry>,
  { outcomes }: Applied,
): void {
  for (const { id, verdict } of judged) {
    outcomes.push({ entry: group.get(id) as Entry, verdict });
  }
}

/** Judges subscriptions, without storing them yet. */
async function compareSubscriptionsOf(
  group: Group<'subscription'>,
  { tx, shop, applied, now, histories }: StepContext,
): Promise<ComparedSubscription[]> {
  const stated = [...group.values()].map(({ record }) => record);
  const wrong = await findWrongValues(tx, shop, stated);
  for (const [id, reason] of wrong) {
    applied.refused.push({ entry: group.get(id) as Entry, reason });
  }
  const all = stated.filter(({ id }) => !wrong.has(id));
  const records = await withStoredLines(await withoutRedacted(all, tx, shop.id), tx, shop.id);
  const rows = new Map(
    records.map((record) => {
      const made = subscriptionRows(record, now);
      const entry = group.get(record.id) as Entry;
      return [record.id, { ...made, subscription: dated(made.subscription, entry) }];
    }),
  );
  const judged = await compareSubscriptions(tx, shop.id, rows);
  const withDates = await histories.date(judged, group, now);
  const compared = await withPastValues(tx, shop.id, withDates, { histories, group, now });
  settle(compared, group, applied);

  for (const { id, rows: stored, before } of compared.filter(isWritten)) {
    const entry = group.get(id) as EntryOf<'subscription'>;
    const { record } = entry;
    if (before && before.customerId !== stored.subscription.customerId) {
      applied.touchedCustomerIds.add(before.customerId);
    }
    const changes =
      before && record.statusEvents.length === 0
        ? [{ from: before.status, to: stored.subscription.status }]
        : statusChangesOf(record, now);
    for (const { from, to } of changes) {
      if (isUsualTransition(from, to)) continue;
      applied.warnings.push({ entry, message: `subscription ${id} went from ${from} to ${to}` });
    }
  }
  return compared;
}

/** Replaces the ids of redacted customers, which the source may still send. */
async function withoutRedacted(
  records: readonly RecordOf<'subscription'>[],
  tx: Transaction,
  shopId: number,
): Promise<readonly RecordOf<'subscription'>[]> {
  const customerIds = records.map(({ customerId }) => customerId);
  const redacted = await listRedacted(tx, shopId, customerIds);
  if (redacted.size === 0) return records;
  return records.map((record) =>
    redacted.has(record.customerId)
      ? { ...record, customerId: anonymousCustomerId(record.id) }
      : record,
  );
}

/** When the last stored session that saved a subscription began, by subscription, epoch milliseconds. */
function savedAtOf(
  group: Group<'cancellation'>,
  judged: readonly Judged[],
): ReadonlyMap<number, number> {
  const savedAt = new Map<number, number>();
  for (const { id } of judged.filter(isWritten)) {
    const { outcome, subscriptionId, createdAt } = (group.get(id) as EntryOf<'cancellation'>)
      .record;
    if (outcome !== 'saved' || subscriptionId === null) continue;
    savedAt.set(subscriptionId, Math.max(createdAt, savedAt.get(subscriptionId) ?? createdAt));
  }
  return savedAt;
}

function warnOfOutcomes(
  judged: Awaited<ReturnType<typeof upsertRecords<'cancellation'>>>,
  group: Group<'cancellation'>,
  { warnings }: Applied,
): void {
  for (const { id, before } of judged.filter(isWritten)) {
    const entry = group.get(id) as EntryOf<'cancellation'>;
    const { outcome } = entry.record;
    const previous = before?.outcome ?? outcome;
    if (previous === outcome) continue;
    const message = `session ${id} went from ${previous} to ${outcome ?? 'in progress'}`;
    warnings.push({ entry, message });
  }
}

async function applyDeletions(
  entries: readonly Entry[],
  { tx, shop, applied }: StepContext,
): Promise<void> {
  for (const type of deletionOrder) {
    const group = groupOf(
      entries.filter(({ record }) => targetTypeOf(record) === type),
      'delete',
    );
    if (group.size === 0) continue;
    const deleted = await deletions[type](tx, shop.id, [...group.keys()]);
    settle(deleted.judged, group, applied);
    for (const id of deleted.touchedCustomerIds) applied.touchedCustomerIds.add(id);
  }
}

/** The result of applying a batch. */
export interface AppliedBatch {
  readonly applied: Applied;
  /** Entries to retry at the end of the run, in order. */
  readonly waiting: Entry[];
  /** Whether any of them waits only because an earlier record with the same key does. */
  readonly isAnyHeldUp: boolean;
}

/** Stores when the exports were made that the entries are from. */
async function storeExportDates(
  tx: Transaction,
  shopId: number,
  entries: readonly Entry[],
): Promise<void> {
  const dates = entries.flatMap(({ record, exportedAt }) =>
    // Those of subscriptions are stored with what the exports showed.
    exportedAt === undefined || record.type === 'subscription'
      ? []
      : [{ kind: targetTypeOf(record), id: record.id, exportedAt }],
  );
  if (dates.length > 0) await upsertExportDates(tx, shopId, dates);
}

/**
 * Applies a batch within a transaction.
 * @param now epoch milliseconds
 */
export async function applyBatch(
  tx: Transaction,
  shop: ImportShop,
  feed: FeedName,
  batch: Batch,
  deferred: DeferredEntries,
  givenUp: ReadonlySet<RecordType>,
  now: number,
): Promise<AppliedBatch> {
  // Inserts begin with the shop's row, and would store nothing.
  if (!(await lockForWriting(tx, shop.id)))
    throw new CommandError(`There is no shop ${shop.id}, or it is being deleted.`);
  const applied: Applied = {
    outcomes: [],
    refused: [],
    warnings: [],
    touchedCustomerIds: new Set(),
  };
  const histories = await Histories.open(tx, shop.id);
  const waiting: Entry[] = [];
  const waitingKeys = new Set<string>();
  let isAnyHeldUp = false;
  for (const step of batch.steps) {
    const isAnyWaiting = waitingKeys.size > 0 || deferred.isAnyWaiting;
    const isHeldUp = ({ record }: Entry) => {
      if (!isAnyWaiting || givenUp.has(targetTypeOf(record))) return false;
      const key = keyOf(record);
      return waitingKeys.has(key) || deferred.mayContain(key);
    };
    const settledBefore = applied.outcomes.length;
    const { ready = [], heldUp = [] } = Object.groupBy(step.entries, (entry) =>
      isHeldUp(entry) ? 'heldUp' : 'ready',
    );
    for (const entry of heldUp) waiting.push(entry);
    isAnyHeldUp ||= heldUp.length > 0;
    const { accepted, refused } = await checkSourceIds(tx, shop.id, ready);
    for (const each of refused) applied.refused.push(each);
    const context = { tx, feed, shop, applied, now, histories };
    await (step.deletes ? applyDeletions(accepted, context) : applyRecords(accepted, context));
    const current: Entry[] = [];
    for (const { entry, verdict } of applied.outcomes.slice(settledBefore)) {
      if (verdict === 'waiting') {
        waiting.push(entry);
        waitingKeys.add(keyOf(entry.record));
      } else if (verdict !== 'stale') current.push(entry);
    }
    if (step.deletes) continue;
    await storeSourceIds(tx, shop.id, current);
    await storeExportDates(tx, shop.id, current);
  }
  const { touchedCustomerIds } = applied;
  if (touchedCustomerIds.size > 0) await deleteIdleCustomers(tx, shop.id, [...touchedCustomerIds]);
  return { applied, waiting, isAnyHeldUp };
}
