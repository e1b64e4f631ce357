import { DAY, HOUR, MINUTE } from './calendar.ts';
import { advance, change, type Charge, type Life, restart, touch } from './life.ts';
import { chance, integer } from './random.ts';
import type { FailureKind, PaymentStatus } from './records.ts';

/** Days after the first failure on which it is tried again, and how likely that is to succeed. */
const RETRIES = [
  [3, 0.5],
  [5, 0.4],
  [7, 0.3],
] as const;

/** Slow ways to pay take up to this long to settle. */
const SETTLING = 40 * HOUR;

/**
 * Collects the price of the period that is due, with retries. True: it was paid, or left out, and the
 * next period is known. False: nothing follows, or not before the world's end.
 */
export function bill(life: Life): boolean {
  const { random, endAt, dueAt } = life;
  const at = Math.min(dueAt + integer(random, 1000, 90_000), endAt - 1);
  if (at > endAt - SETTLING && chance(random, 0.15)) {
    charge(life, 'pending', at, nameCycle(life));
    advance(life);
    return false;
  }
  // The first one was paid at the checkout, or there would be no subscription.
  if (life.cycle > 1) {
    const drawn = random();
    if (drawn < 0.075) return dun(life, at);
    if (drawn < 0.085 && life.plan.planType === 'subscription') return waitForStock(life, at);
  }
  succeed(life, at);
  return true;
}

function succeed(life: Life, at: number, cycle = nameCycle(life)): void {
  const { random, endAt } = life;
  const paid = charge(life, 'succeeded', at, cycle);
  life.paidPeriods++;
  advance(life);
  life.paidThroughAt = life.dueAt;
  if (!chance(random, 0.025)) return;
  const share = chance(random, 0.4) ? 1 : integer(random, 10, 60) / 100;
  const refundedAt = at + integer(random, 5 * HOUR, 12 * DAY);
  if (refundedAt < endAt) paid.refund = { at: refundedAt, share };
}

/** A payment was refused: tries again until it is paid, given up, or the world ends. */
function dun(life: Life, firstAt: number): boolean {
  const { random, endAt } = life;
  const cycle = nameCycle(life);
  charge(life, 'failed', firstAt, cycle, 'payment');
  let at = firstAt;
  for (const [days, probability] of RETRIES) {
    at = firstAt + days * DAY + integer(random, 0, HOUR);
    if (at >= endAt) return false;
    if (chance(random, probability)) {
      succeed(life, at);
      return true;
    }
    charge(life, 'failed', at, cycle, 'payment');
  }
  const givenUpAt = at + integer(random, MINUTE, 20 * MINUTE);
  if (givenUpAt >= endAt) return false;
  if (chance(random, 0.35)) {
    change(life, 'cancelled', givenUpAt);
    return false;
  }
  change(life, 'failed', givenUpAt);
  return comeBack(life, givenUpAt);
}

/** Some find a card that works after all, some cancel what had failed. True: it goes on. */
function comeBack(life: Life, failedAt: number): boolean {
  const { random, endAt } = life;
  const drawn = random();
  const at = failedAt + integer(random, DAY, 25 * DAY);
  if (at + MINUTE >= endAt) return false;
  if (drawn < 0.25) {
    // The overdue period is billed under the name it had, and counts from now.
    const cycle = nameCycle(life);
    restart(life, at);
    succeed(life, at, cycle);
    change(life, 'active', at + integer(random, 1000, 30_000));
    return true;
  }
  if (drawn < 0.5) change(life, 'cancelled', at);
  return false;
}

/** Nothing to ship: most often it is there within days, else the period is left out. */
function waitForStock(life: Life, at: number): boolean {
  const { random, endAt } = life;
  charge(life, 'failed', at, nameCycle(life), 'inventory');
  const againAt = at + integer(random, DAY, 5 * DAY);
  if (againAt >= endAt) return false;
  if (chance(random, 0.75)) {
    succeed(life, againAt);
  } else {
    touch(life, againAt);
    advance(life);
  }
  return true;
}

function charge(
  life: Life,
  status: PaymentStatus,
  at: number,
  cycle: string,
  failureKind?: FailureKind,
): Charge {
  const made: Charge = { cycle, status, at };
  if (failureKind) made.failureKind = failureKind;
  life.charges.push(made);
  touch(life, at);
  return made;
}

/** Monthly periods go by their month, the others by their number. */
function nameCycle({ plan, dueAt, cycle }: Life): string {
  if (plan.unit !== 'month' || plan.count !== 1) return String(cycle);
  const date = new Date(dueAt);
  return `${date.getUTCFullYear()}-${String(date.getUTCMonth() + 1).padStart(2, '0')}`;
}
