import { isObject } from '../json.ts';

/** What a feed knows of a period that was paid for. */
export interface PaidPeriod {
  /** The payment's id at the platform, or 0 for the order that a subscription began with. */
  readonly payment: number;
  /** Its end, in epoch milliseconds; null if the payment was taken back. */
  readonly through: number | null;
  /** Whether the platform itself says so, which may shorten what was known. */
  readonly isStated?: boolean | undefined;
  /** Whether it says only that the end is no later than this, which is computed as that of others. */
  readonly isComputed?: boolean | undefined;
}

/** Checked by hand, because it is done for each subscription of an import. */
export function arePaidPeriods(value: unknown): value is readonly PaidPeriod[] {
  return Array.isArray(value) && value.every(isPaidPeriod);
}

function isPaidPeriod(value: unknown): value is PaidPeriod {
  if (!isObject(value)) return false;
  const { payment, through, isStated, isComputed } = value;
  return (
    Number.isSafeInteger(payment) &&
    (through === null || Number.isSafeInteger(through)) &&
    (isStated === undefined || typeof isStated === 'boolean') &&
    (isComputed === undefined || typeof isComputed === 'boolean')
  );
}

/** As stored with a subscription: the payment, and the end of its period. */
export type StoredPeriod = readonly [payment: number, through: number | null];

/**
 * When the latest is taken back, the one before counts; a platform seldom shows less of several
 * payments at once.
 */
const maxStanding = 3;
const maxTakenBack = 20;

/** The periods that may still matter: the latest of those that stand, then those taken back. */
export function latestPeriods(periods: readonly PaidPeriod[]): readonly PaidPeriod[] {
  const sorted = periods.toSorted(
    (a, b) => (b.through ?? -1) - (a.through ?? -1) || b.payment - a.payment,
  );
  if (sorted.length <= maxStanding) return sorted;
  let standing = sorted.findIndex(({ through }) => through === null);
  if (standing === -1) standing = sorted.length;
  sorted.splice(standing + maxTakenBack);
  sorted.splice(maxStanding, standing - maxStanding);
  return sorted;
}

/** The end of the last paid period; null if nothing is known to be paid for. */
export function paidThroughOf(periods: readonly PaidPeriod[]): number | null {
  return periods.reduce<number | null>(
    (latest, { through }) =>
      through !== null && (latest === null || through > latest) ? through : latest,
    null,
  );
}

/**
 * Adds what a platform reports now to what it reported before. A period stays when it is no longer
 * reported, and a payment that was taken back stays so; the order of reports makes no difference,
 * except where the platform states a new end.
 * @param paidThrough the stored end of the last paid period
 */
export function mergePeriods(
  reported: readonly PaidPeriod[],
  stored: readonly StoredPeriod[],
  paidThrough: number | null,
): readonly PaidPeriod[] {
  const periods = new Map<number, PaidPeriod>();
  const keep = (payment: number, through: number | null) =>
    periods.set(payment, { payment, through });
  for (const [payment, through] of stored) keep(payment, through);
  const known = paidThroughOf([...periods.values()]);
  if (paidThrough !== null && (known === null || paidThrough > known)) {
    // Stored without its period, by an import or an earlier version: the last payment's, then.
    const payment = reported.reduce((last, each) => Math.max(last, each.payment), 0);
    if (periods.get(payment)?.through !== null) keep(payment, paidThrough);
  }
  for (const { payment, through, isStated, isComputed = !isStated } of reported) {
    const before = periods.get(payment);
    if (before?.through === null) continue;
    const change = through === null || before === undefined ? 0 : through - before.through;
    // An end is computed with the interval of today, and a longer one lengthens nothing that was paid for before.
    const isKept = (change > 0 && isComputed) || (change < 0 && !isStated);
    if (!isKept) keep(payment, through);
  }
  return latestPeriods([...periods.values()]);
}
