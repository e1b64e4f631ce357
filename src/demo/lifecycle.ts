import { addInterval } from '../intervals.ts';
import { DAY } from './calendar.ts';
import type { Plan } from './plans.ts';
import type { Random } from './random.ts';
import type { FailureKind, PaymentStatus, SubscriptionStatus } from '../vocabulary.ts';
import type { CancelFlowSession } from './sessions.ts';

/** One payment attempt. Times are epoch milliseconds. */
export interface Charge {
  cycle: string;
  /** Whether it is the first bill of a year, if the plan is billed by the month. */
  isYearly: boolean;
  status: PaymentStatus;
  failureKind?: FailureKind;
  at: number;
  /** The share is a fraction of the charge; 1 is a full refund. */
  refund?: { at: number; share: number };
}

/** The history and state of a simulated subscription; each list is oldest first. */
export interface Lifecycle {
  random: Random;
  plan: Plan;
  endAt: number;
  status: SubscriptionStatus;
  events: { at: number; to: SubscriptionStatus }[];
  charges: Charge[];
  sessions: CancelFlowSession[];
  /** When the next period starts and is billed. */
  dueAt: number;
  /** Periods are counted from here, so that billing on the 31st returns to the 31st. */
  anchorAt: number;
  periodsSinceAnchor: number;
  /** Number of the period to bill, from 1, skipped ones included. */
  cycle: number;
  paidPeriods: number;
  paidThroughAt: number | undefined;
  /** False once no further bill is planned. */
  hasNextBilling: boolean;
  trialEndsAt: number | undefined;
  updatedAt: number;
}

/** A new subscription whose first period is due, at the end of its trial if it has one. */
export function begin(random: Random, plan: Plan, createdAt: number, endAt: number): Lifecycle {
  const trialEndsAt = plan.trialDays === undefined ? undefined : createdAt + plan.trialDays * DAY;
  return {
    random,
    plan,
    endAt,
    status: 'active',
    events: [],
    charges: [],
    sessions: [],
    dueAt: trialEndsAt ?? createdAt,
    anchorAt: trialEndsAt ?? createdAt,
    periodsSinceAnchor: 0,
    cycle: 1,
    paidPeriods: 0,
    paidThroughAt: undefined,
    hasNextBilling: true,
    trialEndsAt,
    updatedAt: createdAt,
  };
}

/** Records a status change; `at` must be before `endAt`. */
export function changeStatus(lifecycle: Lifecycle, to: SubscriptionStatus, at: number): void {
  lifecycle.status = to;
  lifecycle.events.push({ at, to });
  touch(lifecycle, at);
}

/** Moves `updatedAt` forward. */
export function touch(lifecycle: Lifecycle, at: number): void {
  if (at > lifecycle.updatedAt) lifecycle.updatedAt = at;
}

/** Advances to the next period. */
export function advance(lifecycle: Lifecycle): void {
  lifecycle.cycle++;
  lifecycle.periodsSinceAnchor++;
  const { unit, count } = lifecycle.plan;
  lifecycle.dueAt = addInterval(lifecycle.anchorAt, unit, count * lifecycle.periodsSinceAnchor);
}

/** Restarts the current period at `at`; later periods are counted from there. */
export function restart(lifecycle: Lifecycle, at: number): void {
  lifecycle.anchorAt = at;
  lifecycle.periodsSinceAnchor = 0;
  lifecycle.dueAt = at;
}
