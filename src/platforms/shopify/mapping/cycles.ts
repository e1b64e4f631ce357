import { addInterval } from '../../../intervals.ts';
import type { Interval } from './fields.ts';
import type { BillingAttempt } from './nodes.ts';

/** When the bill of an attempt was due, not when it was collected. Epoch milliseconds. */
export function dueAt(attempt: BillingAttempt): number {
  return attempt.originTime ?? attempt.completedAt ?? attempt.createdAt;
}

/**
 * Groups the attempts of one contract into billing cycles: retries of a bill belong to its cycle.
 * Shopify does not say which attempts belong together. So a cycle begins with the first attempt,
 * with the first one after a success, and when a billing interval has passed since the cycle began.
 * It is named after the day of its first attempt, with "-2" appended for the second cycle of a day.
 */
export function cyclesOf(
  attempts: readonly BillingAttempt[],
  billing: Interval,
): ReadonlyMap<BillingAttempt, string> {
  const cycles = new Map<BillingAttempt, string>();
  const perDay = new Map<string, number>();
  let cycle = '';
  let endsAt = Number.NEGATIVE_INFINITY;
  for (const attempt of attempts.toSorted((a, b) => dueAt(a) - dueAt(b) || a.id - b.id)) {
    const at = dueAt(attempt);
    if (at >= endsAt) {
      const day = new Date(at).toISOString().slice(0, 10);
      const number = (perDay.get(day) ?? 0) + 1;
      perDay.set(day, number);
      cycle = number === 1 ? day : `${day}-${number}`;
      endsAt = addInterval(at, billing.unit, billing.count);
    }
    cycles.set(attempt, cycle);
    if (attempt.outcome === 'succeeded') endsAt = Number.NEGATIVE_INFINITY;
  }
  return cycles;
}
