import { DAY, HOUR, MINUTE } from './calendar.ts';
import { type Charge, type Lifecycle, advance, changeStatus, restart, touch } from './lifecycle.ts';
import { chance, integer, createRandom, pickWeighted, weigh } from './random.ts';
import type { FailureKind, PaymentStatus } from '../vocabulary.ts';

/** Retries as days after the first failure, and their probability of success. */
const RETRIES = [
  [3, 0.5],
  [5, 0.4],
  [7, 0.3],
] as const;

/** Slow payment methods take up to this long to settle. */
const SETTLEMENT = 40 * HOUR;

/**
 * Bills the period that is due, with retries.
 * @returns true if it was paid or skipped and the next period follows; false if nothing more
 * happens before `endAt`
 */
export function bill(lifecycle: Lifecycle): boolean {
  const { random, endAt, dueAt } = lifecycle;
  const at = Math.min(dueAt + integer(random, 1000, 90_000), endAt - 1);
  if (at > endAt - SETTLEMENT && chance(random, 0.15)) {
    charge(lifecycle, 'pending', at, nameCycle(lifecycle));
    advance(lifecycle);
    return false;
  }
  // The first period was paid at checkout, so only later ones can fail.
  if (lifecycle.cycle > 1) {
    const drawn = random();
    if (drawn < 0.075) return retryPayment(lifecycle, at);
    if (drawn < 0.085 && lifecycle.plan.planType === 'subscription')
      return waitForStock(lifecycle, at);
  }
  succeed(lifecycle, at);
  return true;
}

function succeed(lifecycle: Lifecycle, at: number, cycle = nameCycle(lifecycle)): void {
  const { random, endAt } = lifecycle;
  const paid = charge(lifecycle, 'succeeded', at, cycle);
  lifecycle.paidPeriods++;
  advance(lifecycle);
  lifecycle.paidThroughAt = lifecycle.dueAt;
  if (!chance(random, 0.025)) return;
  const share = chance(random, 0.4) ? 1 : integer(random, 10, 60) / 100;
  const refundedAt = at + integer(random, 5 * HOUR, 12 * DAY);
  if (refundedAt < endAt) paid.refund = { at: refundedAt, share };
}

/** Retries a declined payment until it succeeds, the retries run out or `endAt` is reached. */
function retryPayment(lifecycle: Lifecycle, firstAt: number): boolean {
  const { random, endAt } = lifecycle;
  const cycle = nameCycle(lifecycle);
  charge(lifecycle, 'failed', firstAt, cycle, 'payment');
  let at = firstAt;
  for (const [days, probability] of RETRIES) {
    at = firstAt + days * DAY + integer(random, 0, HOUR);
    if (at >= endAt) return false;
    if (chance(random, probability)) {
      succeed(lifecycle, at);
      return true;
    }
    charge(lifecycle, 'failed', at, cycle, 'payment');
  }
  const abandonedAt = at + integer(random, MINUTE, 20 * MINUTE);
  if (abandonedAt >= endAt) return false;
  if (chance(random, 0.35)) {
    changeStatus(lifecycle, 'cancelled', abandonedAt);
    return false;
  }
  changeStatus(lifecycle, 'failed', abandonedAt);
  return tryRecovery(lifecycle, abandonedAt);
}

/** Some customers provide a working card, some cancel. @returns true if billing continues */
function tryRecovery(lifecycle: Lifecycle, failedAt: number): boolean {
  const { random, endAt } = lifecycle;
  const drawn = random();
  const at = failedAt + integer(random, DAY, 25 * DAY);
  if (at + MINUTE >= endAt) return false;
  if (drawn < 0.25) {
    // The overdue period keeps its cycle name, and now starts at `at`.
    const cycle = nameCycle(lifecycle);
    restart(lifecycle, at);
    succeed(lifecycle, at, cycle);
    changeStatus(lifecycle, 'active', at + integer(random, 1000, 30_000));
    return true;
  }
  if (drawn < 0.5) changeStatus(lifecycle, 'cancelled', at);
  return false;
}

/** Out of stock: usually billed within days, otherwise the period is skipped. */
function waitForStock(lifecycle: Lifecycle, at: number): boolean {
  const { random, endAt } = lifecycle;
  charge(lifecycle, 'failed', at, nameCycle(lifecycle), 'inventory');
  const retryAt = at + integer(random, DAY, 5 * DAY);
  if (retryAt >= endAt) return false;
  if (chance(random, 0.75)) {
    succeed(lifecycle, retryAt);
  } else {
    touch(lifecycle, retryAt);
    advance(lifecycle);
  }
  return true;
}

function charge(
  lifecycle: Lifecycle,
  status: PaymentStatus,
  at: number,
  cycle: string,
  failureKind?: FailureKind,
): Charge {
  const isYearly = lifecycle.cycle % 12 === 1;
  const result: Charge = { cycle, isYearly, status, at };
  if (failureKind) result.failureKind = failureKind;
  lifecycle.charges.push(result);
  touch(lifecycle, at);
  return result;
}

/** Monthly periods are named by month, others by number. */
function nameCycle({ plan, dueAt, cycle }: Lifecycle): string {
  if (plan.unit !== 'month' || plan.count !== 1) return String(cycle);
  const date = new Date(dueAt);
  return `${date.getUTCFullYear()}-${String(date.getUTCMonth() + 1).padStart(2, '0')}`;
}

/** Money arrives on a later day more often than a new card does. Some sources give no code. */
const codes = {
  recovered: weigh([
    ['insufficient_funds', 48],
    ['do_not_honor', 15],
    ['card_declined', 13],
    ['authentication_required', 7],
    ['processing_error', 6],
    ['expired_card', 5],
    [undefined, 6],
  ]),
  unpaid: weigh([
    ['insufficient_funds', 22],
    ['do_not_honor', 14],
    ['card_declined', 18],
    ['authentication_required', 5],
    ['processing_error', 2],
    ['expired_card', 33],
    [undefined, 6],
  ]),
} as const;

/**
 * The code of each billing cycle whose payment failed, the same for all attempts.
 * @param charges of one subscription, oldest first
 */
export function failureCodesOf(charges: readonly Charge[]): ReadonlyMap<string, string> {
  const paid = new Set(
    charges.flatMap(({ status, cycle }) => (status === 'succeeded' ? cycle : [])),
  );
  const found = new Map<string, string>();
  for (const { cycle, failureKind, at } of charges) {
    if (failureKind !== 'payment' || found.has(cycle)) continue;
    // A stream of its own, so that everything else about the shop is as it would be without codes.
    const random = createRandom(at, 0);
    const code = pickWeighted(random, paid.has(cycle) ? codes.recovered : codes.unpaid);
    if (code !== undefined) found.set(cycle, code);
  }
  return found;
}
