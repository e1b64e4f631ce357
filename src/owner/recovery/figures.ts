import { roundedShare } from '../../money.ts';
import { seenFrom } from '../../metrics/bounds.ts';
import { findFirstDay } from '../../metrics/history.ts';
import {
  type Cases,
  type ClosedCases,
  type OpenCases,
  type Result,
  totalOf,
} from '../../metrics/recovery.ts';
import { readFigures } from '../../metrics/segments/figures.ts';
import type { Store } from '../../store/open.ts';
import type { Shop } from '../../store/shops.ts';
import { type View, selectionOf } from '../view/view.ts';

/** What the page of recovery shows. */
export interface Recovery {
  /** At the end of the period. */
  readonly outstanding: readonly OpenCases[];
  /** Closed in the period. */
  readonly closed: readonly ClosedCases[];
  /** Closed in the period compared with; undefined if the shop's data begins later. */
  readonly before: readonly ClosedCases[] | undefined;
}

/** @returns undefined for a shop without data */
export function readRecovery(store: Store, shop: Shop, view: View): Promise<Recovery | undefined> {
  const { period, before, now } = view;
  return store.readRecent(shop.id, async (from) => {
    const firstDay = await findFirstDay(from.analyse, shop.id);
    if (firstDay === null) return undefined;
    const hasBefore = firstDay <= before.from;
    const [outstanding, closed, earlier] = await readFigures(
      from,
      shop,
      selectionOf(view),
      (figures) =>
        Promise.all([
          figures.outstanding(seenFrom(period, now)),
          figures.closed(period),
          hasBefore ? figures.closed(before) : undefined,
        ]),
    );
    return { outstanding, closed, before: earlier };
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
