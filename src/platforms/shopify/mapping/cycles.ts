import { isoTime } from '../../../iso-time.ts';
import { addInterval } from '../../../intervals.ts';
import type { BillingAttempt } from './attempts.ts';
import type { Interval } from './fields.ts';

/** When the bill of an attempt was due, not when it was collected. Epoch milliseconds. */
export function dueAt(attempt: BillingAttempt): number {
  return attempt.originTime ?? attempt.completedAt ?? attempt.createdAt;
}

/**
 * Groups the attempts of one contract into billing cycles: retries of a bill belong to its cycle.
 * Where Shopify does not say which attempts belong together, a cycle begins with the first attempt,
 * with the first one after a success, and when a billing interval has passed since the cycle began.
 * It is named after the day of its first attempt, with "-2" appended for the second cycle of a day.
 */
export function cyclesOf(
  attempts: readonly BillingAttempt[],
  billing: Interval,
): ReadonlyMap<BillingAttempt, string> {
  const cycles = new Map<BillingAttempt, string>();
  const names = new Set<string>();
  const byGroup = new Map<string, string>();
  let guessed = '';
  let endsAt = Number.NEGATIVE_INFINITY;
  for (const attempt of attempts.toSorted((a, b) => dueAt(a) - dueAt(b) || a.id - b.id)) {
    const { group, outcome } = attempt;
    const at = dueAt(attempt);
    if (group !== null) {
      const cycle = byGroup.get(group) ?? nameCycle(at, names);
      byGroup.set(group, cycle);
      cycles.set(attempt, cycle);
      continue;
    }
    if (at >= endsAt) {
      guessed = nameCycle(at, names);
      endsAt = addInterval(at, billing.unit, billing.count);
    }
    cycles.set(attempt, guessed);
    if (outcome === 'succeeded' || outcome === 'alreadyPaid') endsAt = Number.NEGATIVE_INFINITY;
  }
  return cycles;
}

/** Names a cycle that begins then, and adds the name to those that are taken. */
export function nameCycle(at: number, taken: Set<string>): string {
  const day = isoTime(at).slice(0, 10);
  let name = day;
  for (let number = 2; taken.has(name); number += 1) name = `${day}-${number}`;
  taken.add(name);
  return name;
}
