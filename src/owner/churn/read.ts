import { type Period, seenFrom } from '../../metrics/bounds.ts';
import type { ChurnDay, ChurnGroup } from '../../metrics/churn.ts';
import { toSummary, undefinedFigures } from '../../metrics/figures.ts';
import { findFirstDay } from '../../metrics/history.ts';
import type { ReasonRow } from '../../metrics/cancel-flow.ts';
import { type Figures, readFigures } from '../../metrics/segments/figures.ts';
import type { Store } from '../../store/open.ts';
import { listPlanNames } from '../../store/records/plans.ts';
import type { Shop } from '../../store/shops.ts';
import type { Share } from '../significance.ts';
import { daysOf } from '../view/days.ts';
import { type View, selectionOf } from '../view/view.ts';

/** A UTC day of a period; the first and the last may be cut by it. */
export interface DayOfChurn extends Omit<ChurnDay, 'day'> {
  /** Such as 2026-11-20. */
  readonly day: string;
}

export interface Churn {
  /** Undefined if there was no subscription to lose. */
  readonly rate: Share | undefined;
  readonly days: readonly DayOfChurn[];
  /** The time of the shop's earliest data, epoch milliseconds. */
  readonly firstDay: number;
  /** The period compared with; undefined if the shop's data begins later. */
  readonly before:
    | { readonly rate: Share | undefined; readonly days: readonly DayOfChurn[] }
    | undefined;
  readonly groups: readonly ChurnGroup[];
  readonly planNames: ReadonlyMap<number, string>;
  /** Of the cancel-flow sessions that started in the period. */
  readonly reasons: readonly ReasonRow[];
}

/** @returns undefined for a shop without data */
export async function readChurn(store: Store, shop: Shop, view: View): Promise<Churn | undefined> {
  const { period, before, now } = view;
  return store.readRecent(shop.id, async (from) => {
    const firstDay = await findFirstDay(from.analyse, shop.id);
    if (firstDay === null) return undefined;
    const hasBefore = firstDay <= before.from;
    const [planNames, found] = await Promise.all([
      listPlanNames(from.analyse, shop.id),
      readFigures(from, shop, selectionOf(view), (figures) =>
        Promise.all([
          readRate(figures, shop, now, period),
          readDays(figures, now, period),
          hasBefore ? readRate(figures, shop, now, before) : undefined,
          hasBefore ? readDays(figures, now, before) : undefined,
          figures.churnGroups({ ...period, now: seenFrom(period, now) }),
          figures.reasons(period),
        ]),
      ),
    ]);
    const [rate, days, rateBefore, daysBefore, groups, reasons] = found;
    return {
      rate,
      days,
      firstDay,
      before: daysBefore && { rate: rateBefore, days: daysBefore },
      groups,
      planNames,
      reasons,
    };
  });
}

/** As seen from the end of the period, like every figure of a period. */
async function readRate(
  figures: Figures,
  shop: Shop,
  now: number,
  period: Period,
): Promise<Share | undefined> {
  const row = await figures.summary(period, now);
  return undefinedFigures(row).has('churnRate30d')
    ? undefined
    : { share: toSummary(row, shop.currency, period.until).churnRate30d, of: row.atRisk };
}

async function readDays(figures: Figures, now: number, period: Period): Promise<DayOfChurn[]> {
  const rows = await figures.churnDays({ ...period, now: seenFrom(period, now) });
  const byDay = new Map(rows.map((row) => [row.day, row]));
  return daysOf(period, (at) => {
    const { cancelled = 0, failed = 0 } = byDay.get(at) ?? {};
    return { cancelled, failed };
  });
}
