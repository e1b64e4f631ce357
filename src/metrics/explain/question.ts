import type { Sql, Transaction } from '../../store/database.ts';
import type { Period } from '../bounds.ts';
import type { Part } from '../ledger.ts';

export const explainedFigures = [
  'churnRate',
  'mrr',
  'newSubscribers',
  'recoveryRate',
  'saveRate',
] as const;
export type ExplainedFigure = (typeof explainedFigures)[number];

/** Where bands of prices begin, in any currency, as `price_band` has them; the last one has no end. */
export const priceSteps: readonly number[] = [
  0,
  ...Array.from({ length: 10 }, (_, zeros) => [1, 2, 3, 5].map((each) => each * 10 ** zeros)),
].flat();

/** What subscriptions are told apart by: the columns by which rows are grouped. */
export const columnsBy = {
  plan: ['plan_id'],
  interval: ['plan_id', 'own_interval_unit', 'own_interval_count'],
  age: ['band'],
  price: ['current_price'],
  source: ['feed'],
  reason: ['reason'],
} as const;
export type Dimension = keyof typeof columnsBy;
export const dimensions = Object.keys(columnsBy) as readonly Dimension[];

/** Only sessions of the cancel flow have a reason. */
export const dimensionsOf = (figure: ExplainedFigure): readonly Dimension[] =>
  dimensions.filter((by) => by !== 'reason' || figure === 'saveRate');

export interface Question {
  readonly figure: ExplainedFigure;
  readonly by: Dimension;
  readonly before: Period;
  readonly now: Period;
}

/** What parts of the statement need. It has both periods as rows, `periods`. */
export interface Asked extends Question {
  readonly sql: Sql | Transaction;
  readonly shopId: number;
  /** The instants of the state at the ends of the periods, ISO 8601. */
  readonly ends: readonly [before: string, now: string];
}

export interface Counted {
  /** Each with the instant by which the age of its subscription is told. */
  readonly rows: Part;
  /** Rows that are grouped by the names already. */
  readonly groups?: Part;
}

/** What rows may be grouped by, of subscriptions `s`. */
export const told = ({ sql }: Asked): Part => sql`
  s.created_at, s.plan_id, s.own_interval_unit, s.own_interval_count, s.current_price, s.feed`;
export const noReason = ({ sql }: Asked): Part => sql`null::text as billed, null::text as reason`;
