import { type WorldRecord, keyOf, liesAhead, parentKeyOf } from './records.ts';
import { worldNow } from './times.ts';

const ranks = ['plan', 'subscription', 'payment', 'refund', 'cancellation', 'delete'];

/** Sorts each group of a few lines: parents before children, deletions last. */
export function inOrder(records: readonly WorldRecord[]): WorldRecord[] {
  const stretches = [0, 1, 2].map((index) => records.slice(index * 10, index * 10 + 10));
  return [...stretches, records.slice(30)].flatMap((stretch) =>
    stretch.toSorted((a, b) => ranks.indexOf(a.type) - ranks.indexOf(b.type)),
  );
}

const isTaken = (each: WorldRecord) => each.type !== 'delete' && !liesAhead(each, worldNow);

/**
 * Drops deletions whose effect is undefined: if a child came before its parent, or if a plan that is
 * waiting to be deleted is still referred to.
 */
export function determined(records: readonly WorldRecord[]): WorldRecord[] {
  const kept: WorldRecord[] = [];
  let isAnyAhead = false;
  for (const [index, record] of records.entries()) {
    const later = records.slice(index + 1);
    if (record.type === 'delete') {
      const isNeededLater = later.some((each) => parentKeyOf(each) === keyOf(record));
      if (isAnyAhead || (record.record === 'plan' && isNeededLater)) continue;
    }
    const parent = parentKeyOf(record);
    isAnyAhead ||=
      later.some((each) => each.type !== 'delete' && keyOf(each) === parent) &&
      !kept.some((each) => isTaken(each) && keyOf(each) === parent);
    kept.push(record);
  }
  return kept;
}
