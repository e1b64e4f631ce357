import { type Period, monthBefore, seenFrom } from '../../metrics/bounds.ts';
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
import { summariseMetrics } from '../../metrics/summary.ts';
import { listFeeds } from '../../store/feeds/feeds.ts';
import type { Store } from '../../store/open.ts';
import type { ReadConnections } from '../../store/connections/read-connections.ts';
import type { Shop } from '../../store/shops.ts';
import { type View, segmentOf } from '../view/view.ts';

/** The figures of a period. */
export interface Figures {
  readonly summary: Summary;
  /** Those with nothing to divide by, or not known for the past. */
  readonly undefinedFigures: ReadonlySet<string>;
  /** What rates are divided by. */
  readonly bases: Pick<MetricsRow, Basis>;
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
  const firstDay = await store.readRecent(shop.id, (from) => findFirstDay(from.analyse, shop.id));
  if (firstDay === null) return undefined;

  const hasBefore = firstDay <= before.from;
  const [feeds, found] = await Promise.all([
    store.readRecent(shop.id, (from) => listFeeds(from.analyse, shop.id)),
    store.readRecent(shop.id, (from) =>
      readSource(from, shop, segmentOf(view), (source) =>
        Promise.all([
          source.summary(period, now),
          source.summary(before, now),
          readDays(source, period, now),
          hasBefore ? readDays(source, before, now) : undefined,
          source.reasons(period),
        ]),
      ),
    ),
  ]);
  const [row, rowBefore, history, historyBefore, reasons] = found;
  return {
    ...toFigures(row, shop, period),
    view,
    /** Of the period compared with. */
    earlier: toFigures(rowBefore, shop, before),
    /** The time of the shop's earliest data, epoch milliseconds. */
    firstDay,
    history,
    // Unknown if the shop's data begins later. A year before, a leap day may be missing or too many.
    historyBefore: historyBefore?.slice(-history.length),
    reasons,
    feeds,
  };
}

/** By default the API's figures. */
export async function readFigures(
  { analyse }: Pick<ReadConnections, 'analyse'>,
  shop: Shop,
  now: number,
  period: Period = monthBefore(now),
): Promise<Figures> {
  return toFigures(await summariseMetrics(analyse, shop.id, now, period), shop, period);
}

function toFigures(row: MetricsRow, { currency }: Shop, { until }: Period): Figures {
  const { atRisk, dunningClosed, sessionsEnded } = row;
  return {
    summary: toSummary(row, currency, until),
    undefinedFigures: undefinedFigures(row),
    bases: { atRisk, dunningClosed, sessionsEnded },
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
