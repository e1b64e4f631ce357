import { seenFrom } from '../../metrics/bounds.ts';
import type { ShopVisit } from '../pages.ts';
import { shopPath } from '../ui/layout.ts';
import { type View, understood, viewPath } from '../view/view.ts';

/** Of which instant a list of outstanding payments is. */
export interface Outstanding {
  /** Whose period ends then. */
  readonly view: View;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** @throws ServiceError invalid */
export function outstandingIn(view: View): Outstanding {
  understood(view);
  return { view, at: seenFrom(view.period, view.now) };
}

/** The same segment, up to now. */
export function todayOf(view: View): View {
  const period = { from: view.period.from, until: view.now };
  return { ...view, range: { days: 30 }, comparison: 'before', period };
}

export function openPath({ shop }: ShopVisit, view: View): `/app${string}` {
  return viewPath(shopPath(shop, '/recovery/open'), view);
}
