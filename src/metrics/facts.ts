import type { IntervalUnit } from '../vocabulary.ts';

/** What the ledger counts and sums per shop. */
export type Fact =
  | 'subscriber'
  | 'paused_subscriber'
  | ActiveFact
  | 'live'
  | 'new_subscriber'
  | 'cancelled'
  | 'churned'
  | 'expired'
  | 'gone'
  | 'paid'
  | 'refunded'
  | 'cycle_failed'
  | 'renewal'
  | `dunning_${'open' | 'recovered' | 'lost'}`
  | `session_${'saved' | 'cancelled' | 'abandoned' | 'open'}`;

/** Active subscriptions with one billing interval, such as `active month 3`. */
export type ActiveFact = `active ${IntervalUnit} ${number}`;

/** The count and the exact sum of one fact; a decimal as text. */
export interface FactSum {
  readonly fact: Fact;
  readonly count: number;
  readonly amount: string;
}

export interface ActiveValue {
  readonly unit: IntervalUnit;
  readonly count: number;
  /** Sum of the prices, a decimal. */
  readonly sum: string;
}

export function isActiveFact(fact: Fact): fact is ActiveFact {
  return fact.startsWith('active ');
}

/** The billing interval of an active fact. */
export function intervalOf(fact: ActiveFact): Omit<ActiveValue, 'sum'> {
  const [, unit, count] = fact.split(' ');
  return { unit: unit as IntervalUnit, count: Number(count) };
}
