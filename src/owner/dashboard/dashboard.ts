import { type Period, seenFrom } from '../../metrics/bounds.ts';
import type { MetricsRow } from '../../metrics/facts.ts';
import {
  type Basis,
  type Summary,
  toSummary,
  undefinedFigures,
  type DayOfHistory,
} from '../../metrics/figures.ts';
import { findFirstDay } from '../../metrics/history.ts';
import {
  type Figures as Source,
  readFigures as readSource,
} from '../../metrics/segments/figures.ts';
import { type Movements, toMovements } from '../../metrics/movements.ts';
import { listFeeds } from '../../store/feeds/feeds.ts';
import type { Store } from '../../store/open.ts';
import type { ReadConnections } from '../../store/connections/read-connections.ts';
import type { Shop } from '../../store/shops.ts';
import { type Driver, driverOf, findWhere } from '../../metrics/explain/driver.ts';
import { type View, segmentOf } from '../view/view.ts';

/** The figures of a period that are compared. */
export interface Counted {
  readonly summary: Summary;
  /** Those with nothing to divide by, or not known for the past. */
  readonly undefinedFigures: ReadonlySet<string>;
  /** What rates are divided by. */
  readonly bases: Pick<MetricsRow, Basis>;
}

/** What the answer is made from: the figures of a period, and of the one compared with. */
export interface Judged extends Counted {
  /** What changed the MRR. */
  readonly movements: Movements;
  readonly view: View;
  readonly earlier: Counted;
  /** The time of the shop's earliest data, epoch milliseconds. */
  readonly firstDay: number;
  /** What explains most of the change of MRR. */
  readonly driver: Driver | undefined;
}

/** A UTC day of a period. */
export interface DashboardDay extends DayOfHistory {
  /** Subscriptions that left for good, as the churn rate counts them. */
  readonly churned: number;
}

export type Dashboard = NonNullable<Awaited<ReturnType<typeof readDashboard>>>;

/**
 * Reads everything that the overview shows, as of one instant.
 * @returns undefined for a shop without data
 */
export async function readDashboard(store: Store, shop: Shop, view: View) {
  const { period, before, now } = view;
  const [feeds, found] = await Promise.all([
    store.readRecent(shop.id, (from) => listFeeds(from.analyse, shop.id)),
    readJudged(store, shop, view, (source, firstDay) =>
      Promise.all([
        readDays(source, period, now),
        firstDay <= before.from ? readDays(source, before, now) : undefined,
        source.reasons(period),
      ]),
    ),
  ]);
  if (found === undefined) return undefined;
  const [judged, [history, historyBefore, reasons]] = found;
  return {
    ...judged,
    history,
    // Unknown if the shop's data begins later. A year before, a leap day may be missing or too many.
    historyBefore: historyBefore?.slice(-history.length),
    reasons,
    feeds,
  };
}

/**
 * Reads what the answer is made from, and more of the same.
 * @returns undefined for a shop without data
 */
export async function readJudged<More>(
  store: Store,
  shop: Shop,
  view: View,
  readMore: (source: Source, firstDay: number) => Promise<More>,
): Promise<readonly [Judged, More] | undefined> {
  const { period, before, now } = view;
  const read = <Found>(part: (from: ReadConnections) => Promise<Found>) =>
    store.readRecent(shop.id, part);
  const firstDay = await read(({ analyse }) => findFirstDay(analyse, shop.id));
  if (firstDay === null) return undefined;
  const [counted, movements, earlier, movementsBefore, more] = await read((from) =>
    readSource(from, shop, segmentOf(view), (source) =>
      Promise.all([
        readCounted(source, shop, period, now),
        readMovements(source, shop, period),
        readCounted(source, shop, before, now),
        // The changes of one period do not explain that of a year.
        firstDay <= before.from && view.comparison === 'before'
          ? readMovements(source, shop, before)
          : undefined,
        readMore(source, firstDay),
      ]),
    ),
  );
  const found = movementsBefore && driverOf(movements, movementsBefore);
  // Of a segment, the subscriptions that moved are not listed.
  const where =
    found === undefined || view.segment
      ? {}
      : await read(({ analyse }) => findWhere(analyse, shop, found.movement, [before, period]));
  const driver = found && { ...found, ...where };
  return [{ ...counted, movements, view, earlier, firstDay, driver }, more];
}

async function readMovements(source: Source, { currency }: Shop, period: Period) {
  return toMovements(await source.movements(period), currency);
}

async function readCounted(
  source: Source,
  { currency }: Shop,
  period: Period,
  now: number,
): Promise<Counted> {
  const row = await source.summary(period, now);
  const { atRisk, dunningClosed, sessionsEnded, charged } = row;
  return {
    summary: toSummary(row, currency, period.until),
    undefinedFigures: undefinedFigures(row),
    bases: { atRisk, dunningClosed, sessionsEnded, charged },
  };
}

async function readDays(source: Source, period: Period, now: number): Promise<DashboardDay[]> {
  const [days, churn] = await Promise.all([
    source.history(period),
    source.churnDays({ ...period, now: seenFrom(period, now) }),
  ]);
  const byDay = new Map(churn.map((each) => [each.day, each.cancelled + each.failed]));
  return days.map((each) => ({ ...each, churned: byDay.get(Date.parse(each.day)) ?? 0 }));
}
