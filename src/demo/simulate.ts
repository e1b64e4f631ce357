import { bill } from './billing.ts';
import { DAY, HOUR, MINUTE } from './calendar.ts';
import { advance, begin, changeStatus, type Lifecycle, restart, touch } from './lifecycle.ts';
import type { Plan } from './plans.ts';
import { integerNearMiddle, chance, integer, type Random } from './random.ts';
import { canPause, canSkip, simulateSession, pickRetainedOutcome } from './sessions.ts';

// Probability of cancelling in the first, second, … period; the last applies to all later ones.
const CANCEL_PROBABILITY = [0.3, 0.22, 0.15, 0.11, 0.09, 0.08];

/** Simulates a subscription from its creation to its end, or to `endAt`. */
export function simulate(random: Random, plan: Plan, createdAt: number, endAt: number): Lifecycle {
  const lifecycle = begin(random, plan, createdAt, endAt);
  let continues = plan.trialDays === undefined || tryOut(lifecycle, plan.trialDays);
  while (continues && lifecycle.dueAt < endAt) {
    continues = startPeriod(lifecycle) && continuePeriod(lifecycle);
  }
  if (lifecycle.paidPeriods === plan.term) lifecycle.hasNextBilling = false;
  // Some sessions are still in progress at the end.
  const isInSession = lifecycle.sessions.at(-1)?.outcome === null;
  if (lifecycle.status === 'active' && !isInSession && chance(random, 0.006)) {
    const at = endAt - integer(random, MINUTE, 25 * MINUTE);
    if (at > lifecycle.updatedAt)
      lifecycle.sessions.push(simulateSession(random, plan, null, at, endAt));
  }
  return lifecycle;
}

/** Most stay until the trial ends. @returns false if it is cancelled before */
function tryOut(lifecycle: Lifecycle, days: number): boolean {
  const { random, dueAt, endAt } = lifecycle;
  const at = dueAt - integer(random, HOUR, days * DAY - HOUR);
  if (!chance(random, 0.35) || at >= endAt) return true;
  changeStatus(lifecycle, 'cancelled', at);
  return false;
}

/** Bills the period that is due, or lets the subscription expire. @returns false if it ends */
function startPeriod(lifecycle: Lifecycle): boolean {
  if (lifecycle.paidPeriods === lifecycle.plan.term) {
    changeStatus(lifecycle, 'expired', lifecycle.dueAt);
    return false;
  }
  return bill(lifecycle);
}

/** Simulates the time until the next bill. @returns false if the subscription ends */
function continuePeriod(lifecycle: Lifecycle): boolean {
  const { random, plan } = lifecycle;
  const index = Math.min(lifecycle.cycle - 2, CANCEL_PROBABILITY.length - 1);
  const cancelProbability = plan.churn * (CANCEL_PROBABILITY[index] ?? 0);
  const at = pickTime(lifecycle);
  const drawn = random();
  if (at >= lifecycle.endAt) return true;
  if (drawn < cancelProbability) return !cancel(lifecycle, at);
  if (drawn < cancelProbability * 1.7) return retain(lifecycle, at);
  const rest = drawn - cancelProbability * 1.7;
  if (rest < 0.03) return canPause(plan) ? pause(lifecycle, at) : true;
  if (rest < 0.06 && canSkip(plan)) skip(lifecycle, at);
  return true;
}

/** More customers act shortly before a bill, on its reminder, than right after one. */
function pickTime(lifecycle: Lifecycle): number {
  const from = Math.max(lifecycle.updatedAt, lifecycle.charges.at(-1)?.at ?? 0) + HOUR;
  const until = lifecycle.dueAt - 2 * HOUR;
  const early = lifecycle.random();
  return until - Math.floor((until - from) * early * early);
}

/** Cancels, usually after a session. @returns false if the session is still open at `endAt` */
function cancel(lifecycle: Lifecycle, at: number): boolean {
  const { random, plan, endAt } = lifecycle;
  let cancelledAt = at;
  if (chance(random, 0.85)) {
    const session = simulateSession(random, plan, 'cancelled', at, endAt);
    lifecycle.sessions.push(session);
    if (session.outcome === null) return false;
    cancelledAt = session.closedAt;
  }
  changeStatus(lifecycle, 'cancelled', cancelledAt);
  refundLastCharge(lifecycle, cancelledAt);
  return true;
}

/** Refunds some of the customers who cancel soon after paying. */
function refundLastCharge(lifecycle: Lifecycle, cancelledAt: number): void {
  const last = lifecycle.charges.at(-1);
  if (last?.status !== 'succeeded' || last.refund || cancelledAt - last.at > 8 * DAY) return;
  const at = cancelledAt + integer(lifecycle.random, 5 * MINUTE, 30 * HOUR);
  if (chance(lifecycle.random, 0.4) && at < lifecycle.endAt) last.refund = { at, share: 1 };
}

/** Simulates a session after which the customer stays. @returns false if the subscription ends */
function retain(lifecycle: Lifecycle, at: number): boolean {
  const { random, plan, endAt } = lifecycle;
  const session = simulateSession(random, plan, pickRetainedOutcome(random), at, endAt);
  lifecycle.sessions.push(session);
  if (session.outcome !== 'saved') return true;
  touch(lifecycle, session.closedAt);
  const appliedAt = session.closedAt + 1000;
  if (session.offer === 'pause' && appliedAt < endAt) return pause(lifecycle, appliedAt);
  if (session.offer === 'skip_next') skip(lifecycle, session.closedAt);
  return true;
}

function skip(lifecycle: Lifecycle, at: number): void {
  touch(lifecycle, at);
  advance(lifecycle);
}

/** Pauses for weeks or months, then resumes or cancels. @returns false if nothing follows */
function pause(lifecycle: Lifecycle, at: number): boolean {
  const { random, endAt } = lifecycle;
  changeStatus(lifecycle, 'paused', at);
  const maxDays = chance(random, 0.15) ? 240 : 90;
  const resumesAt = at + integerNearMiddle(random, 14, maxDays) * DAY + integer(random, 0, HOUR);
  const cancelsAt = at + integer(random, DAY, resumesAt - at - DAY);
  if (chance(random, 0.2) && cancelsAt < endAt && cancel(lifecycle, cancelsAt)) return false;
  if (resumesAt >= endAt) {
    if (resumesAt > lifecycle.dueAt) lifecycle.dueAt = resumesAt;
    return false;
  }
  changeStatus(lifecycle, 'active', resumesAt);
  if (resumesAt > lifecycle.dueAt) restart(lifecycle, resumesAt);
  return true;
}
