import { type WorldRecord, keyOf, liesAhead, parentKeyOf } from './records.ts';
import { worldNow } from './times.ts';

const ranks = ['plan', 'subscription', 'payment', 'refund', 'cancellation', 'delete'];

/** Parents before children, and deletions last, in each stretch of a few lines. */
export function inOrder(records: readonly WorldRecord[]): WorldRecord[] {
  const stretches = [0, 1, 2].map((index) => records.slice(index * 10, index * 10 + 10));
  return [...stretches, records.slice(30)].flatMap((stretch) =>
    stretch.toSorted((a, b) => ranks.indexOf(a.type) - ranks.indexOf(b.type)),
  );
}

const isTaken = (each: WorldRecord) => each.type !== 'delete' && !liesAhead(each, worldNow);

/**
 * Leaves out deletions whose effect no rule determines: whether a child that came before its parent
 * was taken by then, or a plan that waits to be deleted is still there for what refers to it.
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
