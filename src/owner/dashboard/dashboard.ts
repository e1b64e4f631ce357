import type { Clock } from '../../clock.ts';
import { type Period as Interval, monthBefore } from '../../metrics/bounds.ts';
import { type Summary, toSummary, undefinedFigures } from '../../metrics/figures.ts';
import {
  type DayOfHistory,
  type DayOfRenewals,
  listHistory,
  listUpcoming,
} from '../../metrics/history.ts';
import { type FeedStatus, listFeeds } from '../../store/feeds/feeds.ts';
import { findFirstDay } from '../../metrics/history-rows.ts';
import { type ReasonRow, listOutcomesByReason } from '../../metrics/reasons.ts';
import { summariseMetrics } from '../../metrics/summary.ts';
import type { Store } from '../../store/open.ts';
import type { ReadConnections } from '../../store/connections/read-connections.ts';
import type { Shop } from '../../store/shops.ts';

/** The selectable periods of the charts, in days. */
export const periods = [30, 90, 365] as const;
export type Period = (typeof periods)[number];

/** The figures at an instant. */
export interface Figures {
  readonly summary: Summary;
  /** Those with nothing to divide by. */
  readonly undefinedFigures: ReadonlySet<string>;
}

export interface Dashboard extends Figures {
  /** 30 days before. */
  readonly earlier: Figures;
  /** The time of the shop's earliest data, epoch milliseconds. */
  readonly firstDay: number;
  readonly period: Period;
  /** Complete UTC days, oldest first. */
  readonly history: readonly DayOfHistory[];
  /** As many days before those; undefined if the shop's data begins later. */
  readonly historyBefore: readonly DayOfHistory[] | undefined;
  /** The rest of today and the following days. */
  readonly upcoming: readonly DayOfRenewals[];
  /** For the days in `history`. */
  readonly reasons: readonly ReasonRow[];
  readonly feeds: readonly FeedStatus[];
}

export const day = 24 * 3_600_000;

export function parsePeriod(text: string | null): Period {
  return periods.find((days) => String(days) === text) ?? 30;
}

/**
 * Reads everything that the dashboard shows, as of one instant.
 * @returns undefined for a shop without data
 */
export async function readDashboard(
  parts: { readonly store: Store; readonly clock: Clock },
  shop: Shop,
  period: Period,
): Promise<Dashboard | undefined> {
  const { store } = parts;
  const now = parts.clock.now();
  const today = Math.floor(now / day) * day;
  const firstDay = await store.readRecent(shop.id, (from) => findFirstDay(from.analyse, shop.id));
  if (firstDay === null) return undefined;

  const [figures, earlier, charts] = await Promise.all([
    store.readRecent(shop.id, (from) => readFigures(from, shop, now)),
    store.readRecent(shop.id, (from) => readFigures(from, shop, now, monthBefore(now - 30 * day))),
    store.readRecent(shop.id, (from) =>
      Promise.all([
        listHistory(from, shop, { from: today - 2 * period * day, until: today }),
        listUpcoming(from, shop, period, now),
        listOutcomesByReason(from.analyse, shop.id, today - period * day, today),
        listFeeds(from.analyse, shop.id),
      ]),
    ),
  ]);
  const [days, upcoming, reasons, feeds] = charts;
  return {
    ...figures,
    earlier,
    firstDay,
    period,
    history: days.slice(period),
    historyBefore: firstDay > today - 2 * period * day ? undefined : days.slice(0, period),
    upcoming,
    reasons,
    feeds,
  };
}

/** The figures of a period, which of them are undefined; by default the API's summary. */
export async function readFigures(
  { analyse }: Pick<ReadConnections, 'analyse'>,
  shop: Shop,
  now: number,
  period: Interval = monthBefore(now),
): Promise<Figures> {
  const row = await summariseMetrics(analyse, shop.id, now, period);
  return {
    summary: toSummary(row, shop.currency, period.until),
    undefinedFigures: undefinedFigures(row),
  };
}
