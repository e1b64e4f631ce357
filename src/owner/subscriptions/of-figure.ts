import { seenFrom } from '../../metrics/bounds.ts';
import { type CountedFigure, countedFigures, listCounted } from '../../metrics/segments/counted.ts';
import { readFigures } from '../../metrics/segments/figures.ts';
import { parseSegment } from '../../metrics/segments/segment.ts';
import { ServiceError } from '../../errors.ts';
import { decodeCursor } from '../../operations/cursor.ts';
import type { Store } from '../../store/open.ts';
import type { Shop } from '../../store/shops.ts';
import type { ShopVisit } from '../pages.ts';
import { pageOfRows, parameter } from '../ui/listing.ts';
import { type Days, daysIn, partOf } from '../view/days.ts';
import { type View, selectionOf, understood, viewOf, viewQuery } from '../view/view.ts';
import type { SubscriptionRow, SubscriptionsPage } from './list.ts';

/** The figure whose subscriptions a list's address chooses, and the view that the figure is of. */
export interface OfFigure {
  readonly figure: CountedFigure;
  readonly view: View;
  readonly days: Days;
}

/**
 * @returns undefined for a list that is of no figure
 * @throws ServiceError invalid
 */
export function figureOf(visit: ShopVisit, now: number): OfFigure | undefined {
  const text = parameter(visit, 'figure');
  if (text === undefined) return undefined;
  const figure = countedFigures.find((each) => each === text);
  if (!figure) {
    throw new ServiceError('invalid', `figure must be one of ${countedFigures.join(', ')}.`);
  }
  const view = understood(viewOf(visit.query, now, parseSegment(visit.query)));
  return { figure, view, days: daysIn(visit) };
}

/** The parameters of such a list's address. */
export function figureQuery({ figure, view, days }: OfFigure): Record<string, string | undefined> {
  return { ...Object.fromEntries(viewQuery(view)), figure, ...days };
}

/**
 * A page of the subscriptions that a figure counts, with their status at the end of its period; of what was kept, now.
 * @throws ServiceError invalid, for a cursor of another list
 */
export async function figureSubscriptions(
  store: Store,
  shopId: number,
  { figure, view, days }: OfFigure,
  { limit, cursor }: { readonly limit: number; readonly cursor: string | undefined },
): Promise<SubscriptionsPage> {
  // Not the instants: a period that ends now has others on each page.
  const query = new URLSearchParams({ ...Object.fromEntries(viewQuery(view)), figure });
  const listing = `${shopId} subscriptions of ${query} ${JSON.stringify(days)}`;
  const after = cursor === undefined ? undefined : decodeCursor(listing, cursor);
  // What was kept is still there now.
  const at = figure === 'kept' ? view.now : seenFrom(view.period, view.now);
  const counted = { figure, ...partOf(view.period, days), at };
  const found = await store.readRecent(shopId, (from) =>
    listCounted(
      from,
      shopId,
      counted,
      { after, limit: limit + 1 },
      { selection: selectionOf(view) },
    ),
  );
  const listed = found.map(({ json, happenedAt }) => ({
    ...(JSON.parse(json) as SubscriptionRow),
    happenedAt,
  }));
  const { rows, nextCursor } = pageOfRows(
    listed,
    limit,
    listing,
    ({ subscriptionId: id, happenedAt: createdAt }) => ({ createdAt, id }),
  );
  return { subscriptions: rows, nextCursor };
}

/** How many a figure counts: subscriptions or customers. */
export interface FigureCount {
  readonly customers?: number;
  readonly subscriptions?: number;
}

/** The same as the figure, or as its bar. */
export function countFigure(
  store: Store,
  shop: Shop,
  { figure, view, days }: OfFigure,
): Promise<FigureCount> {
  const { period, now } = view;
  return store.readRecent(shop.id, (from) =>
    readFigures(from, shop, selectionOf(view), async (figures) => {
      if (figure === 'active' || figure === 'paused') {
        const row = await figures.summary(period, now);
        return figure === 'paused'
          ? { customers: row.pausedSubscribers }
          : { customers: row.activeSubscribers, subscriptions: row.activeSubscriptions };
      }
      if (figure === 'kept') {
        const { subscriptions } = await figures.kept({ ...partOf(period, days), now });
        return { subscriptions };
      }
      const history = await figures.history(period);
      const field = figure === 'new' ? 'newSubscribers' : 'cancelled';
      const subscriptions = history
        .filter(({ day }) => day >= (days.first ?? day) && day <= (days.last ?? day))
        .reduce((sum, each) => sum + each[field], 0);
      return { subscriptions };
    }),
  );
}
