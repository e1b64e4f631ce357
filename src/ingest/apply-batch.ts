import type { Transaction } from '../store/database.ts';
import { upsertExportDates } from '../store/records/export-dates.ts';
import { lockForWriting } from '../store/records/writing.ts';
import { type Applied, type ImportShop, applyStep, finishTransaction } from './apply.ts';
import { type Batch, type Entry, keyOf } from './batch.ts';
import type { DeferredEntries } from './disk/deferred.ts';
import type { RecordType } from '../records/records.ts';
import { targetTypeOf } from '../records/schema.ts';
import { checkSourceIds, storeSourceIds } from './source-id-check.ts';

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
