import { addInterval } from '../intervals.ts';
import type { Plan } from './plans.ts';
import type { Random } from './random.ts';
import type { FailureKind, PaymentStatus, Status } from './records.ts';
import type { Session } from './sessions.ts';

/** One attempt to collect the subscription's price. Times are epoch milliseconds. */
export interface Charge {
  cycle: string;
  status: PaymentStatus;
  failureKind?: FailureKind;
  at: number;
  /** Money given back; the share is of the charge, 1 being all of it. */
  refund?: { at: number; share: number };
}

/** What became of a subscription up to the world's end; each list is oldest first. */
export interface Life {
  random: Random;
  plan: Plan;
  endAt: number;
  status: Status;
  events: { at: number; to: Status }[];
  charges: Charge[];
  sessions: Session[];
  /** When the next period begins and is billed. */
  dueAt: number;
  /** Periods are counted from here, so that a bill on the 31st comes back to the 31st. */
  anchorAt: number;
  periodsSinceAnchor: number;
  /** The period that is being billed, counted from 1, skipped ones included. */
  cycle: number;
  paidPeriods: number;
  paidThroughAt: number | undefined;
  /** False once the source plans no further bill. */
  goesOn: boolean;
  updatedAt: number;
}

/** A subscription at the moment of its creation, its first period due at once. */
export function begin(random: Random, plan: Plan, createdAt: number, endAt: number): Life {
  return {
    random,
    plan,
    endAt,
    status: 'active',
    events: [],
    charges: [],
    sessions: [],
    dueAt: createdAt,
    anchorAt: createdAt,
    periodsSinceAnchor: 0,
    cycle: 1,
    paidPeriods: 0,
    paidThroughAt: undefined,
    goesOn: true,
    updatedAt: createdAt,
  };
}

/** Records a change of status; it must lie before the world's end. */
export function change(life: Life, to: Status, at: number): void {
  life.status = to;
  life.events.push({ at, to });
  touch(life, at);
}

/** The subscription was changed, so it cannot have been last changed before. */
export function touch(life: Life, at: number): void {
  if (at > life.updatedAt) life.updatedAt = at;
}

/** Moves on to the next period. */
export function advance(life: Life): void {
  life.cycle++;
  life.periodsSinceAnchor++;
  const { unit, count } = life.plan;
  life.dueAt = addInterval(life.anchorAt, unit, count * life.periodsSinceAnchor);
}

/** Has the current period begin at `at`, and the following ones be counted from there. */
export function restart(life: Life, at: number): void {
  life.anchorAt = at;
  life.periodsSinceAnchor = 0;
  life.dueAt = at;
}
