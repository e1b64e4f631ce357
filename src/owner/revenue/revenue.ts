import type { Period } from '../../metrics/bounds.ts';
import { findFirstDay } from '../../metrics/history.ts';
import {
  type MovementDay,
  type Movements,
  listMovementDays,
  movementsOf,
  toMovements,
} from '../../metrics/movements.ts';
import { arrivals, departures } from '../../metrics/facts.ts';
import { type ProjectedWeek, projectRenewals, toProjectedWeeks } from '../../metrics/renewals.ts';
import { listRevenueDays } from '../../metrics/payments.ts';
import { type Ratio, add, roundHalfAway, shopDigitsOf, subtract, zero } from '../../money.ts';
import type { ReadConnections } from '../../store/connections/read-connections.ts';
import type { Store } from '../../store/open.ts';
import type { Shop } from '../../store/shops.ts';
import type { View } from '../view/view.ts';

/** What happened to the revenue in some consecutive UTC days; amounts in the shop's currency, each rounded once. */
export interface RevenueSpan {
  readonly movements: Movements;
  /** The sum of what arrived, and of what departed. */
  readonly came: number;
  readonly left: number;
  readonly growth: number;
  /** Payments less refunds. */
  readonly revenue: number;
}

/** A day, exactly. */
export interface RevenueDay extends MovementDay {
  readonly revenue: Ratio;
}

export interface Revenue {
  /** The days of the period, of which the first and the last may be in part. */
  readonly days: readonly RevenueDay[];
  /** The time of the shop's earliest data, epoch milliseconds. */
  readonly firstDay: number;
  /** Of the period compared with; undefined if the shop's data begins later. */
  readonly before: readonly RevenueDay[] | undefined;
  /** All days of each together. */
  readonly whole: RevenueSpan;
  readonly wholeBefore: RevenueSpan | undefined;
  readonly weeks: readonly ProjectedWeek[];
}

/**
 * Reads what the page shows, as of one instant.
 * @returns undefined for a shop without data
 */
export async function readRevenue(
  store: Store,
  shop: Shop,
  view: View,
): Promise<Revenue | undefined> {
  const read = <Found>(part: (from: ReadConnections) => Promise<Found>) =>
    store.readRecent(shop.id, part);
  const [firstDay, days, before, weeks] = await Promise.all([
    read(({ analyse }) => findFirstDay(analyse, shop.id)),
    read((from) => readDays(from, shop, view.period)),
    read((from) => readDays(from, shop, view.before)),
    read(({ analyse }) => projectRenewals(analyse, shop.id, view.now)),
  ]);
  if (firstDay === null) return undefined;
  const hasBefore = firstDay <= view.before.from;
  return {
    days,
    firstDay,
    before: hasBefore ? before : undefined,
    whole: spanOf(days, shop),
    wholeBefore: hasBefore ? spanOf(before, shop) : undefined,
    weeks: toProjectedWeeks(weeks, shop.currency),
  };
}

async function readDays(
  { analyse }: ReadConnections,
  shop: Shop,
  period: Period,
): Promise<RevenueDay[]> {
  const [days, revenues] = await Promise.all([
    listMovementDays(analyse, shop.id, period),
    listRevenueDays(analyse, shop.id, period),
  ]);
  const byDay = new Map(revenues.map(({ day, revenue }) => [day, revenue]));
  return days.map((each) => ({ ...each, revenue: byDay.get(each.day) ?? zero }));
}

const sum = (values: readonly Ratio[]) => values.reduce(add, zero);

/** @param days consecutive, at least one */
export function spanOf(
  days: readonly RevenueDay[],
  { currency }: Pick<Shop, 'currency'>,
): RevenueSpan {
  const exact = movementsOf(days);
  const money = (value: Ratio) => roundHalfAway(value, shopDigitsOf(currency));
  return {
    movements: toMovements(exact, currency),
    came: money(sum(arrivals.map((name) => exact[name]))),
    left: money(sum(departures.map((name) => exact[name]))),
    growth: money(subtract(exact.closing, exact.opening)),
    revenue: money(sum(days.map(({ revenue }) => revenue))),
  };
}
