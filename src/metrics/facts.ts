import { decimalText, priceDecimals, unitsOf } from '../money.ts';
import { type ActiveValue, type IntervalText, parseInterval } from '../mrr.ts';
import type { DetectedReason, IntervalUnit, OfferType, SessionOutcome } from '../vocabulary.ts';

/** What the ledger counts and sums per shop. */
type Fact =
  | 'subscriber'
  | 'paused_subscriber'
  | 'paused_undated'
  | 'trial'
  | ActiveFact
  | 'live'
  | 'new_subscriber'
  | 'cancelled'
  | 'churned'
  | 'churned_failed'
  | 'expired'
  | 'gone'
  | 'paid'
  | 'refunded'
  | 'cycle_failed'
  | 'renewal'
  | `due ${IntervalText}`
  | `dunning_${'open' | 'recovered' | 'lost'}`
  | `session_${SessionOutcome | 'open'}`
  | `cancel_flow ${SessionOutcome | 'open'} ${DetectedReason} ${OfferType | 'none'}`;

/** What makes a subscription active: it begins, or comes back. */
const arrivals = ['new', 'added', 'resumed', 'reactivated'] as const;
/** What ends its being active. */
export const departures = ['paused', 'cancelled', 'expired', 'failed'] as const;
/** What adds to the monthly value, and what takes from it, also of subscriptions that stay active. */
export const inflows = [...arrivals, 'expansion'] as const;
export const outflows = ['contraction', ...departures] as const;
export const movements = [...inflows, ...outflows] as const;
export type Movement = (typeof movements)[number];

export const isOutflow = (movement: Movement) => outflows.some((each) => each === movement);

/**
 * How one movement changed the active subscriptions with one billing interval, such as `active month 3 paused`.
 * The sum over the movements is what is active.
 */
export type ActiveFact = `active ${IntervalUnit} ${number} ${Movement}`;

/** The count and the exact sum of one fact; a decimal as text. */
export interface FactSum {
  readonly fact: Fact;
  readonly count: number;
  readonly amount: string;
}

function isActiveFact(fact: Fact): fact is ActiveFact {
  return fact.startsWith('active ');
}

/** What is active by billing interval. @param values sums of the prices, in units of their decimal place `priceDecimals` */
export function activeValuesOf(values: ReadonlyMap<IntervalText, bigint>): ActiveValue[] {
  return [...values]
    .filter(([, units]) => units !== 0n)
    .map(([interval, units]) => ({
      ...parseInterval(interval),
      sum: decimalText(units, priceDecimals),
    }));
}

/** The billing interval of an active fact, and its movement. */
export function partsOf(fact: ActiveFact): { interval: IntervalText; movement: Movement } {
  const [, unit, count, movement] = fact.split(' ');
  return { interval: `${unit} ${count}` as IntervalText, movement: movement as Movement };
}

const ended = ['session_saved', 'session_cancelled', 'session_abandoned'] as const;

/**
 * The facts that are rows of a table, as parts of statements: which rows count, and when each happened. Other facts
 * follow from several rows at once, and are columns of `subscriber_changes`.
 */
export const rowFacts = [
  {
    names: ['paid'],
    fact: "'paid'",
    table: 'payments',
    at: 'processed_at',
    amount: 'amount',
    where: "status = 'succeeded'",
  },
  {
    names: ['refunded'],
    fact: "'refunded'",
    table: 'refunds',
    at: 'refunded_at',
    amount: 'amount',
  },
  {
    names: [...ended, 'session_open'],
    fact: "'session_' || coalesce(outcome, 'open')",
    table: 'cancellation_sessions',
    at: 'created_at',
  },
  {
    names: ['dunning_recovered', 'dunning_lost'],
    fact: "'dunning_' || result",
    table: 'dunning_cases',
    at: 'closed_at',
  },
  {
    names: ['cycle_failed'],
    fact: "'cycle_failed'",
    table: 'failed_cycles',
    at: 'failed_at',
    where: 'is_last',
  },
] as const satisfies readonly RowFact[];

export interface RowFact {
  readonly names: readonly Fact[];
  readonly fact: string;
  readonly table: string;
  readonly at: string;
  /** By default 0. */
  readonly amount?: string;
  /** By default all. */
  readonly where?: string;
}

/** What figures count: each is the sum of some facts. */
export const counts = {
  activeSubscribers: ['subscriber'],
  // Of some it is unknown since when they are paused: they count now, and at no time before.
  pausedSubscribers: ['paused_subscriber', 'paused_undated'],
  newSubscribers: ['new_subscriber'],
  cancelled: ['cancelled'],
  // Subscriptions that are live, or that ended within the period.
  atRisk: ['live', 'churned', 'expired', 'gone'],
  churned: ['churned'],
  sessions: [...ended, 'session_open'],
  sessionsEnded: ended,
  sessionsSaved: ['session_saved'],
  sessionsCancelled: ['session_cancelled'],
  sessionsAbandoned: ['session_abandoned'],
  sessionsOpen: ['session_open'],
  dunningActive: ['dunning_open'],
  dunningRecovered: ['dunning_recovered'],
  dunningClosed: ['dunning_recovered', 'dunning_lost'],
  payments: ['paid'],
  refunds: ['refunded'],
  failedPayments: ['cycle_failed'],
  // Payments that succeeded, and those that failed.
  charged: ['paid', 'cycle_failed'],
} as const satisfies Readonly<Record<string, readonly Fact[]>>;

export type Count = keyof typeof counts;

/** The counts and exact sums behind the figures of a period, or of a day; sums are decimals as text. */
export interface MetricsRow extends Readonly<Record<Count, number>> {
  /** Price sums of active subscriptions out of trial, whose total by billing interval gives the monthly value. */
  readonly activeValue: readonly ActiveValue[];
  /** The price sum of active subscriptions in their trial. */
  readonly trialValue: string;
  /** In their trial or not. */
  readonly activeSubscriptions: number;
  /** Those of them that are in it. */
  readonly trials: number;
  readonly paid: string;
  readonly refunded: string;
  /** Undefined unless the period ends now. */
  readonly upcomingRenewals: number | undefined;
  readonly upcomingRenewalsValue: string | undefined;
}

/** @param isCurrent whether the period ends now */
export function rowOf(sums: readonly FactSum[], isCurrent: boolean): MetricsRow {
  const byFact = new Map<Fact, FactSum>();
  // Summed by interval first: most sums are of a movement each, and a fraction costs more than a sum.
  const values = new Map<IntervalText, bigint>();
  let activeSubscriptions = 0;
  for (const sum of sums) {
    if (!isActiveFact(sum.fact)) {
      if (isCurrent || sum.fact !== 'paused_undated') byFact.set(sum.fact, sum);
      continue;
    }
    const { interval } = partsOf(sum.fact);
    values.set(interval, (values.get(interval) ?? 0n) + unitsOf(sum.amount, priceDecimals));
    activeSubscriptions += sum.count;
  }
  const countOf = (facts: readonly Fact[]) =>
    facts.reduce((total, fact) => total + (byFact.get(fact)?.count ?? 0), 0);
  const amountOf = (fact: Fact) => byFact.get(fact)?.amount ?? '0';
  const counted = Object.entries(counts).map(([name, facts]) => [name, countOf(facts)]);
  return {
    ...(Object.fromEntries(counted) as Record<Count, number>),
    activeValue: activeValuesOf(values),
    trialValue: amountOf('trial'),
    activeSubscriptions: activeSubscriptions + countOf(['trial']),
    trials: countOf(['trial']),
    paid: amountOf('paid'),
    refunded: amountOf('refunded'),
    upcomingRenewals: isCurrent ? countOf(['renewal']) : undefined,
    upcomingRenewalsValue: isCurrent ? amountOf('renewal') : undefined,
  };
}
