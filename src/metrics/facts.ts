import { monthlyFactor } from '../intervals.ts';
import { type Ratio, add, decimalText, multiply, parseDecimal, zero } from '../money.ts';
import type { DetectedReason, IntervalUnit, OfferType, SessionOutcome } from '../vocabulary.ts';

/** What the ledger counts and sums per shop. */
export type Fact =
  | 'subscriber'
  | 'paused_subscriber'
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
export const arrivals = ['new', 'added', 'resumed', 'reactivated'] as const;
/** What ends its being active. */
export const departures = ['paused', 'cancelled', 'expired', 'failed'] as const;
export const movements = [...arrivals, ...departures] as const;
export type Movement = (typeof movements)[number];

export const isDeparture = (movement: Movement) => departures.some((each) => each === movement);

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

/** The decimal place in units of which sums of prices are whole numbers; prices have fewer places. */
export const priceDecimals = 6;

export interface ActiveValue {
  readonly unit: IntervalUnit;
  readonly count: number;
  /** Sum of the prices, a decimal. */
  readonly sum: string;
}

export function isActiveFact(fact: Fact): fact is ActiveFact {
  return fact.startsWith('active ');
}

/** A billing interval as facts name it, such as `month 3`. */
export type IntervalText = `${IntervalUnit} ${number}`;

export function parseInterval(text: IntervalText): Omit<ActiveValue, 'sum'> {
  const [unit, count] = text.split(' ');
  return { unit: unit as IntervalUnit, count: Number(count) };
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

/** The exact monthly value of active subscriptions. */
export function monthlyValue(groups: readonly ActiveValue[]): Ratio {
  return groups.reduce(
    (sum, group) =>
      add(sum, multiply(parseDecimal(group.sum), monthlyFactor(group.unit, group.count))),
    zero,
  );
}

/** The billing interval of an active fact, and its movement. */
export function partsOf(fact: ActiveFact): { interval: IntervalText; movement: Movement } {
  const end = fact.lastIndexOf(' ');
  return {
    interval: fact.slice('active '.length, end) as IntervalText,
    movement: fact.slice(end + 1) as Movement,
  };
}
