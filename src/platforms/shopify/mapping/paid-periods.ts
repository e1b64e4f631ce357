import { addInterval } from '../../../intervals.ts';
import { type PaidPeriod, latestPeriods } from '../../../records/paid-periods.ts';
import { type BillingAttempt, dueAt } from './attempts.ts';
import type { Contract } from './nodes.ts';
import { isRefunded } from './orders.ts';

interface Period extends PaidPeriod {
  readonly paidAt: number;
}

const originOrder = 0;

/**
 * The periods that a contract's payments paid for. Each is one billing interval long; that of the
 * last payment also lasts until the next billing date, if Shopify says that the payment succeeded.
 */
export function paidPeriodsOf(
  contract: Contract,
  attempts: readonly BillingAttempt[],
): readonly PaidPeriod[] {
  const periods: Period[] = contract.hasOriginOrder ? [periodOfOrigin(contract)] : [];
  let isAnyAlreadyPaid = false;
  for (const attempt of attempts) {
    const { id, outcome, order } = attempt;
    if (outcome === 'alreadyPaid') isAnyAlreadyPaid = true;
    const isPaid = outcome === 'succeeded' && !(order && isRefunded(order));
    if (outcome !== 'succeeded' && !order?.isTest) continue;
    periods.push({
      payment: id,
      through: isPaid ? endOf(contract, dueAt(attempt)) : null,
      paidAt: attempt.completedAt ?? attempt.createdAt,
    });
  }
  const all = isAnyAlreadyPaid ? [...periods, ...paidElsewhere(contract, attempts)] : periods;
  return latestPeriods(withNextBilling(contract, all)).map(withoutPaidAt);
}

function endOf({ billing }: Contract, start: number): number {
  return addInterval(start, billing.unit, billing.count);
}

function periodOfOrigin(contract: Contract): Period {
  const { createdAt: paidAt, firstOrder } = contract;
  const isPaid = !firstOrder || !(firstOrder.isTest || isRefunded(firstOrder));
  return { payment: originOrder, through: isPaid ? endOf(contract, paidAt) : null, paidAt };
}

/**
 * What Shopify refused to bill because its invoice was paid already. Most often another attempt paid
 * it, whose period it then lies in.
 */
function paidElsewhere(contract: Contract, attempts: readonly BillingAttempt[]): Period[] {
  const starts = attempts.flatMap((attempt) =>
    attempt.outcome === 'succeeded' ? dueAt(attempt) : [],
  );
  starts.push(contract.createdAt);
  return attempts.flatMap((attempt) => {
    const at = dueAt(attempt);
    const isCovered = starts.some((start) => start <= at && at < endOf(contract, start));
    if (attempt.outcome !== 'alreadyPaid' || isCovered) return [];
    const paidAt = attempt.completedAt ?? attempt.createdAt;
    return { payment: attempt.id, through: endOf(contract, at), paidAt };
  });
}

function withNextBilling(contract: Contract, periods: readonly Period[]): readonly Period[] {
  const { isLastPaymentSucceeded, nextBillingDate, createdAt } = contract;
  if (!isLastPaymentSucceeded || nextBillingDate === null) return periods;
  const last = periods.reduce<Period | undefined>(
    (latest, each) =>
      latest === undefined ||
      each.paidAt > latest.paidAt ||
      (each.paidAt === latest.paidAt && each.payment > latest.payment)
        ? each
        : latest,
    undefined,
  );
  if (!last) {
    return [{ payment: originOrder, through: nextBillingDate, paidAt: createdAt, isStated: true }];
  }
  // Taken back, with everything that it paid for.
  if (last.through === null) return periods;
  const stated =
    nextBillingDate < last.through
      ? { ...last, isStated: true, isComputed: true }
      : { ...last, through: nextBillingDate, isStated: true };
  return periods.map((each) => (each === last ? stated : each));
}

function withoutPaidAt({ payment, through, isStated, isComputed }: PaidPeriod): PaidPeriod {
  return { payment, through, ...(isStated && { isStated }), ...(isComputed && { isComputed }) };
}
