import {
  type Kept,
  type SessionCount,
  type SessionDay,
  type SessionTotals,
  totalsOf,
} from '../../metrics/cancel-flow.ts';
import { findFirstDay } from '../../metrics/history.ts';
import { readFigures } from '../../metrics/segments/figures.ts';
import { roundedShare } from '../../money.ts';
import type { Store } from '../../store/open.ts';
import type { Shop } from '../../store/shops.ts';
import { type OfferType, offerTypes } from '../../vocabulary.ts';
import { minCases } from '../significance.ts';
import { type View, selectionOf } from '../view/view.ts';

/** What the page shows of a period. */
export interface Flow {
  /** The sessions that began in it, by reason, offer and outcome. */
  readonly counts: readonly SessionCount[];
  /** The same by day and outcome. */
  readonly days: readonly SessionDay[];
  readonly totals: SessionTotals;
  /** The time of the shop's earliest data, epoch milliseconds. */
  readonly firstDay: number;
  /** Of the period compared with; undefined if the shop's data begins later. */
  readonly before: SessionTotals | undefined;
  readonly kept: Kept;
}

/** @returns undefined for a shop without data */
export async function readFlow(store: Store, shop: Shop, view: View): Promise<Flow | undefined> {
  const { period, before, now } = view;
  return store.readRecent(shop.id, async (from) => {
    const firstDay = await findFirstDay(from.analyse, shop.id);
    if (firstDay === null) return undefined;
    const hasBefore = firstDay <= before.from;
    const [counts, days, earlier, kept] = await readFigures(
      from,
      shop,
      selectionOf(view),
      (figures) =>
        Promise.all([
          figures.sessionCounts(period),
          figures.sessionDays(period),
          hasBefore ? figures.sessionDays(before) : undefined,
          figures.kept({ ...period, now }),
        ]),
    );
    const totals = totalsOf(counts);
    return { counts, days, totals, firstDay, before: earlier && totalsOf(earlier), kept };
  });
}

/** Saved sessions as a share of those that ended, as in the summary; null if none ended. */
export function saveRateOf({ saved, ended }: SessionTotals): number | null {
  return ended === 0 ? null : roundedShare(BigInt(saved), BigInt(ended), 4);
}

/** What became of the sessions after an offer, or after none. */
interface OfferTotals extends SessionTotals {
  readonly offer: OfferType | null;
}

/**
 * The offers with the highest save rate, of those after which enough sessions ended; several only of the same rate.
 * `withoutOffer` is there if more were saved, of enough sessions, by no offer at all.
 */
export function bestOffers({ counts }: Pick<Flow, 'counts'>): {
  readonly offers: readonly OfferTotals[];
  readonly withoutOffer: OfferTotals | undefined;
} {
  const judged = [...offerTypes, null]
    .map((offer) => ({ offer, ...totalsOf(counts.filter((each) => each.offer === offer)) }))
    .filter(({ ended }) => ended >= minCases);
  const isBetter = (one: OfferTotals, other: OfferTotals) =>
    one.saved * other.ended > other.saved * one.ended;
  const made = judged.filter(({ offer }) => offer !== null);
  return {
    offers: made.filter((each) => !made.some((other) => isBetter(other, each))),
    withoutOffer: judged.find(
      (each) => each.offer === null && made.every((other) => isBetter(each, other)),
    ),
  };
}
