import { seenFrom } from '../../metrics/bounds.ts';
import type { ShopVisit } from '../pages.ts';
import { shopPath } from '../ui/layout.ts';
import { type View, viewPath } from '../view/view.ts';

/** Of which instant a list of outstanding payments is. */
export interface Outstanding {
  /** Whose period ends then. */
  readonly view: View;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** As seen from the end of a view's period; when it began does not matter. */
export function outstandingIn(view: View): Outstanding {
  const { period, now } = view;
  return { view: period.until === now ? todayOf(view) : view, at: seenFrom(period, now) };
}

/** The same segment, up to now. */
export function todayOf(view: View): View {
  const period = { from: view.period.from, until: view.now };
  return { ...view, range: { days: 30 }, comparison: 'before', period };
}

export function openPath({ shop }: ShopVisit, view: View): `/app${string}` {
  return viewPath(shopPath(shop, '/recovery/open'), view);
}
