import { roundedShare } from '../../money.ts';
import { findFirstDay } from '../../metrics/history-rows.ts';
import {
  type Cases,
  type ClosedCases,
  type OpenCases,
  type Result,
  listClosed,
  listOutstanding,
  totalOf,
} from '../../metrics/recovery/figures.ts';
import type { Store } from '../../store/open.ts';
import type { Shop } from '../../store/shops.ts';
import type { View } from '../view/view.ts';

/** What the page of recovery shows. */
export interface Recovery {
  readonly outstanding: readonly OpenCases[];
  /** Closed in the period. */
  readonly closed: readonly ClosedCases[];
  /** Closed in the period compared with; undefined if the shop's data begins later. */
  readonly before: readonly ClosedCases[] | undefined;
}

/** @returns undefined for a shop without data */
export function readRecovery(
  store: Store,
  shop: Shop,
  { period, before, now }: View,
): Promise<Recovery | undefined> {
  return store.readRecent(shop.id, async ({ analyse }) => {
    const [firstDay, outstanding, closed, earlier] = await Promise.all([
      findFirstDay(analyse, shop.id),
      listOutstanding(analyse, shop.id, now),
      listClosed(analyse, shop.id, period.from, period.until),
      listClosed(analyse, shop.id, before.from, before.until),
    ]);
    if (firstDay === null) return undefined;
    return { outstanding, closed, before: firstDay > before.from ? undefined : earlier };
  });
}

/** Those with one result. */
export function ended(cases: readonly ClosedCases[], result: Result): Cases {
  return totalOf(cases.filter((each) => each.result === result));
}

/** The share that was recovered, as the summary rounds it; undefined of nothing. */
export function rateOf(recovered: Cases, rest: Cases): number | undefined {
  const all = recovered.count + rest.count;
  return all === 0 ? undefined : roundedShare(BigInt(recovered.count), BigInt(all), 4);
}
