import { dunningCasesAt, isDated, statusAt, changesOf } from './history.ts';
import { minorUnits, priceDigits, priceOf, rounded, roundedPrice, toNumber } from './money.ts';
import type { Status, Unit } from './records.ts';
import type { ModelShop } from './shop.ts';

const day = 24 * 3_600_000;

const isLive = (status: Status) => status === 'active' || status === 'paused';

/** A fraction with four decimals; 0 of 0 is 0. */
function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : toNumber(rounded(BigInt(part) * 10_000n, BigInt(whole)), 4);
}

/** Cycles of n units per month, as numerator and denominator. */
function cyclesPerMonth(unit: Unit, n: number): [bigint, bigint] {
  const count = BigInt(n);
  if (unit === 'day') return [365n, 12n * count];
  if (unit === 'week') return [365n, 84n * count];
  if (unit === 'month') return [1n, count];
  return [1n, 12n * count];
}

/** The metrics summary from the records, figure by figure. */
export function summaryOf(shop: ModelShop, now: number): Record<string, number | string> {
  const since = now - 30 * day;
  const inWindow = (instant: number) => instant >= since && instant < now;
  const inNextWeek = (instant: number) => instant >= now && instant < now + 7 * day;
  const money = (units: bigint) => toNumber(units, shop.digits);
  const smallest = 10n ** BigInt(priceDigits - shop.digits);

  const subscriptions = shop.subscriptions
    .filter((each) => Date.parse(each.createdAt) <= now)
    .map((each) => {
      const { status, since: became } = statusAt(each, now);
      const plan = shop.planOf(each);
      const priced = shop.pricedAt(each, now);
      const billed = [
        each.intervalUnit ?? plan.intervalUnit,
        each.intervalCount ?? plan.intervalCount,
      ];
      return {
        record: each,
        customerId: each.customerId,
        createdAt: Date.parse(each.createdAt),
        status,
        becameInWindow: inWindow(became),
        price: priceOf(priced.lines),
        isInTrial: each.trialEndsAt !== undefined && now < Date.parse(each.trialEndsAt),
        lines: priced.lines.map((line) => ({
          price: priceOf([line]),
          perMonth: cyclesPerMonth(
            line.intervalUnit ?? priced.unit,
            line.intervalCount ?? priced.count,
          ),
        })),
        // The renewals to come are at today's prices.
        renewing: each.lines
          .filter(
            (line) =>
              line.intervalUnit === undefined ||
              String([line.intervalUnit, line.intervalCount]) === String(billed),
          )
          .map((line) => priceOf([line])),
        renewsAt: each.nextBillingDate === undefined ? NaN : Date.parse(each.nextBillingDate),
      };
    });
  const active = subscriptions.filter(({ status }) => status === 'active');
  const customersOf = (status: Status) =>
    new Set(subscriptions.filter((each) => each.status === status).map((each) => each.customerId));
  const withActive = customersOf('active');

  const firstByCustomer = new Map<number, number>();
  for (const { customerId, createdAt } of subscriptions) {
    const first = firstByCustomer.get(customerId) ?? Infinity;
    firstByCustomer.set(customerId, Math.min(first, createdAt));
  }

  const atRisk = subscriptions.filter(({ record, createdAt }) => {
    if (!isDated(record)) return false;
    if (createdAt < since && isLive(statusAt(record, since, true).status)) return true;
    if (inWindow(createdAt)) return true;
    return changesOf(record).some(
      ({ at, from, to }) => inWindow(at) && !isLive(from) && isLive(to),
    );
  });
  const churned = atRisk.filter(
    ({ status, becameInWindow }) =>
      becameInWindow && (status === 'cancelled' || status === 'failed'),
  );

  let [monthly, monthlyDenominator] = [0n, 1n];
  for (const { price, perMonth } of active.flatMap((each) => (each.isInTrial ? [] : each.lines))) {
    const [numerator, denominator] = perMonth;
    monthly = monthly * denominator + price * numerator * monthlyDenominator;
    monthlyDenominator *= denominator;
  }
  const activeValue = active.reduce((sum, { price }) => sum + price, 0n);

  let revenue = 0n;
  const failedCycles = new Set<string>();
  for (const payment of shop.payments) {
    if (!inWindow(Date.parse(payment.processedAt))) continue;
    if (payment.status === 'succeeded') revenue += minorUnits(payment.amount, shop.digits);
    if (payment.status === 'failed' && payment.failureKind !== 'inventory') {
      failedCycles.add(`${payment.subscriptionId} ${payment.cycle}`);
    }
  }
  for (const refund of shop.refunds) {
    if (inWindow(Date.parse(refund.refundedAt))) revenue -= minorUnits(refund.amount, shop.digits);
  }

  const cases = shop.subscriptions.map((each) => dunningCasesAt(each, shop.payments, now));
  const closed = cases
    .flat()
    .filter(({ closedAt }) => closedAt !== undefined && inWindow(closedAt));
  const sessions = shop.sessions.filter((each) => inWindow(Date.parse(each.createdAt)));
  const ended = sessions.filter(({ outcome }) => outcome !== undefined);
  const renewing = active.filter(({ renewsAt }) => inNextWeek(renewsAt));

  return {
    activeSubscribers: withActive.size,
    pausedSubscribers: [...customersOf('paused')].filter((id) => !withActive.has(id)).length,
    mrr: money(rounded(monthly, monthlyDenominator * smallest)),
    revenue30d: money(revenue),
    newSubscribers30d: [...firstByCustomer.values()].filter(inWindow).length,
    cancelled30d: subscriptions.filter(
      ({ status, becameInWindow }) => status === 'cancelled' && becameInWindow,
    ).length,
    churnRate30d: ratio(churned.length, atRisk.length),
    saveRate: ratio(ended.filter(({ outcome }) => outcome === 'saved').length, ended.length),
    cancelSessions30d: sessions.length,
    dunningActive: cases.filter((each) => each.some(({ closedAt }) => closedAt === undefined))
      .length,
    recoveryRate: ratio(
      closed.filter(({ result }) => result === 'recovered').length,
      closed.length,
    ),
    failedPayments30d: failedCycles.size,
    avgSubscriptionValue:
      active.length === 0 ? 0 : money(rounded(activeValue, BigInt(active.length) * smallest)),
    upcomingRenewals7d: renewing.length,
    upcomingRenewalsValue7d: roundedPrice(
      renewing.flatMap((each) => each.renewing).reduce((sum, price) => sum + price, 0n),
      shop.digits,
    ),
    generatedAt: new Date(now).toISOString(),
    currency: shop.currency,
  };
}
