import { shopDigitsOf } from '../money.ts';
import { deletions } from '../store/records/deletions.ts';
import { type JudgedCancellation, upsertCancellations } from '../store/records/cancellations.ts';
import { listRedacted, anonymousCustomerId } from '../store/records/customers.ts';
import type { Transaction } from '../store/database.ts';
import { upsertPayments, upsertRefunds } from '../store/records/payments.ts';
import { upsertPlans } from '../store/records/plans.ts';
import {
  type ComparedSubscription,
  compareSubscriptions,
  deleteIdleCustomers,
  listStatusChanges,
  storeSubscriptions,
} from '../store/records/subscription-writes.ts';
import { type Judged, type Verdict, isWritten, lockForWriting } from '../store/records/writing.ts';
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
  type StatusChange,
  isUsualTransition,
  paymentRow,
  planRow,
  refundRow,
  statusChangesOf,
  subscriptionRows,
} from './rows.ts';
import { upsertExportDates } from '../store/records/export-dates.ts';
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

type OfType<Type extends ImportRecord['type']> = Extract<ImportRecord, { type: Type }>;

/** Entries of one type, which can be looked up by the ids in the database's results. */
interface Group<Type extends ImportRecord['type']> {
  readonly entries: readonly Entry[];
  readonly records: readonly OfType<Type>[];
  entryOf(id: number): Entry;
  /** Adds the date of the record's export to its row. */
  dated<Row extends { readonly id: number }>(row: Row): Row & Pick<Entry, 'exportedAt'>;
}

interface StepContext {
  readonly tx: Transaction;
  readonly shop: ImportShop;
  readonly applied: Applied;
  /** The time of the import, in epoch milliseconds. */
  readonly now: number;
}

/** @param entries of one step: no duplicate keys, and either only deletions or none */
async function applyStep(
  entries: readonly Entry[],
  deletes: boolean,
  context: StepContext,
): Promise<void> {
  if (deletes) return applyDeletions(entries, context);
  const { tx, shop, applied } = context;

  // Parents first: within a step, a child may come before its parent.
  const plans = groupOf(entries, 'plan');
  const toPlan = (record: RecordOf<'plan'>) => planRow(record, shop.currency, shop.minorDigits);
  await store(plans, toPlan, (rows) => upsertPlans(tx, shop.id, rows), applied);
  const subscriptions = await compareSubscriptionsOf(groupOf(entries, 'subscription'), context);
  const known = new Set(subscriptions.filter(willBeStored).map(({ id }) => id));
  // Sessions before new subscriptions, which are then stored with the time at which they were last saved.
  const sessions = groupOf(entries, 'cancellation');
  const judgedSessions = await storeSessions(sessions, known, context);
  const savedAt = savedAtOf(sessions, judgedSessions);
  await storeSubscriptions(tx, shop.id, subscriptions, savedAt);
  const payments = groupOf(entries, 'payment');
  await store(payments, paymentRow, (rows) => upsertPayments(tx, shop.id, rows, known), applied);
  const refunds = groupOf(entries, 'refund');
  await store(refunds, refundRow, (rows) => upsertRefunds(tx, shop.id, rows), applied);
  settleSessions(sessions, judgedSessions, applied);
}

const willBeStored = (judged: Judged) => isWritten(judged) || judged.verdict === 'unchanged';

/** Must be called after the last step of a transaction. */
async function finishTransaction({ tx, shop, applied }: Omit<StepContext, 'now'>): Promise<void> {
  const { touchedCustomerIds } = applied;
  if (touchedCustomerIds.size > 0) await deleteIdleCustomers(tx, shop.id, [...touchedCustomerIds]);
}

function groupOf<Type extends ImportRecord['type']>(
  entries: readonly Entry[],
  type: Type,
): Group<Type> {
  const ofType = entries.filter((entry) => entry.record.type === type);
  const byId = new Map(ofType.map((entry) => [entry.record.id, entry]));
  return {
    entries: ofType,
    records: ofType.map((entry) => entry.record as OfType<Type>),
    entryOf: (id) => byId.get(id) as Entry,
    dated: (row) => {
      const exportedAt = byId.get(row.id)?.exportedAt;
      return exportedAt === undefined ? row : { ...row, exportedAt };
    },
  };
}

function settle(
  judged: readonly Judged[],
  group: Pick<Group<'plan'>, 'entryOf'>,
  applied: Applied,
): void {
  for (const { id, verdict } of judged) {
    applied.outcomes.push({ entry: group.entryOf(id), verdict });
  }
}

/** Stores records that need nothing but their rows. */
async function store<Type extends ImportRecord['type'], NewRow extends { readonly id: number }>(
  group: Group<Type>,
  toRow: (record: OfType<Type>) => NewRow,
  upsert: (rows: readonly NewRow[]) => Promise<readonly Judged[]>,
  applied: Applied,
): Promise<void> {
  if (group.records.length === 0) return;
  const rows = group.records.map((record) => group.dated(toRow(record)));
  settle(await upsert(rows), group, applied);
}

/** Judges subscriptions, without storing them yet. */
async function compareSubscriptionsOf(
  group: Group<'subscription'>,
  { tx, shop, applied, now }: StepContext,
): Promise<ComparedSubscription[]> {
  if (group.records.length === 0) return [];
  const [records, histories] = [
    await withoutRedacted(group.records, tx, shop.id),
    await storedHistories(group.records, tx, shop.id),
  ];
  const rows = new Map(
    records.map((record) => {
      const made = subscriptionRows(record, now, histories.get(record.id));
      return [record.id, { ...made, subscription: group.dated(made.subscription) }];
    }),
  );
  const compared = await compareSubscriptions(tx, shop.id, rows);
  settle(compared, group, applied);

  for (const { id, rows: stored, before } of compared.filter(isWritten)) {
    const entry = group.entryOf(id);
    const record = entry.record as RecordOf<'subscription'>;
    if (before && before.customerId !== stored.subscription.customerId) {
      applied.touchedCustomerIds.add(before.customerId);
    }
    const changes =
      before && record.statusEvents.length === 0
        ? [{ from: before.status, to: record.status }]
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

/** The stored status changes of the records that keep their history. */
async function storedHistories(
  records: readonly RecordOf<'subscription'>[],
  tx: Transaction,
  shopId: number,
): Promise<ReadonlyMap<number, StatusChange[]>> {
  const histories = new Map<number, StatusChange[]>();
  const ids = records.filter(({ preserve }) => preserve === 'history').map(({ id }) => id);
  if (ids.length === 0) return histories;
  for (const { id, ...change } of await listStatusChanges(tx, shopId, ids)) {
    const history = histories.get(id);
    if (history) history.push(change);
    else histories.set(id, [change]);
  }
  return histories;
}

async function storeSessions(
  group: Group<'cancellation'>,
  known: ReadonlySet<number>,
  { tx, shop }: StepContext,
): Promise<JudgedCancellation[]> {
  if (group.records.length === 0) return [];
  const rows = group.records.map((record) => group.dated(cancellationRow(record)));
  return upsertCancellations(tx, shop.id, rows, known);
}

/** When the last stored session that saved a subscription began, by subscription, epoch milliseconds. */
function savedAtOf(
  group: Group<'cancellation'>,
  judged: readonly JudgedCancellation[],
): ReadonlyMap<number, number> {
  const savedAt = new Map<number, number>();
  for (const { id } of judged.filter(isWritten)) {
    const { record } = group.entryOf(id);
    const { outcome, subscriptionId, createdAt } = record as RecordOf<'cancellation'>;
    if (outcome !== 'saved' || subscriptionId === null) continue;
    savedAt.set(subscriptionId, Math.max(createdAt, savedAt.get(subscriptionId) ?? createdAt));
  }
  return savedAt;
}

function settleSessions(
  group: Group<'cancellation'>,
  judged: readonly JudgedCancellation[],
  applied: Applied,
): void {
  settle(judged, group, applied);
  for (const { id, previousOutcome } of judged.filter(isWritten)) {
    const entry = group.entryOf(id);
    const { outcome } = entry.record as RecordOf<'cancellation'>;
    if (previousOutcome === null || previousOutcome === outcome) continue;
    const message = `session ${id} went from ${previousOutcome} to ${outcome ?? 'in progress'}`;
    applied.warnings.push({ entry, message });
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
    if (group.records.length === 0) continue;
    const ids = group.records.map(({ id }) => id);
    const deleted = await deletions[type](tx, shop.id, ids);
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
    exportedAt === undefined ? [] : [{ kind: targetTypeOf(record), id: record.id, exportedAt }],
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
  batch: Batch,
  deferred: DeferredEntries,
  givenUp: ReadonlySet<RecordType>,
  now: number,
): Promise<AppliedBatch> {
  // Inserts begin with the shop's row, and would store nothing.
  if (!(await lockForWriting(tx, shop.id))) throw new Error(`There is no shop ${shop.id}.`);
  const applied: Applied = {
    outcomes: [],
    refused: [],
    warnings: [],
    touchedCustomerIds: new Set(),
  };
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
    await applyStep(accepted, step.deletes, { tx, shop, applied, now });
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
  await finishTransaction({ tx, shop, applied });
  return { applied, waiting, isAnyHeldUp };
}
