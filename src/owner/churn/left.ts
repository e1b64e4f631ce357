import { ServiceError } from '../../errors.ts';
import { seenFrom } from '../../metrics/bounds.ts';
import {
  type AgeBand,
  type ChurnFilter,
  type ChurnedRow,
  type Window,
  ageBands,
} from '../../metrics/churn.ts';
import { decodeCursor } from '../../operations/cursor.ts';
import { readFigures } from '../../metrics/segments/figures.ts';
import type { Store } from '../../store/open.ts';
import type { Shop } from '../../store/shops.ts';
import type { ShopVisit } from '../pages.ts';
import { type PageOfRows, pageOfRows, parameter } from '../ui/listing.ts';
import { type Days, daysIn, partOf } from '../view/days.ts';
import { type View, selectionOf, viewQuery } from '../view/view.ts';

/** Plan and age when it left: a segment's are those of now. */
const parameters = ['cause', 'left-plan', 'left-age'] as const;

/** Which of those that left are listed, as the address says it. */
export interface LeftFilter extends ChurnFilter {
  /** As seen from the end of the view's period. */
  readonly window: Window;
  /** The parameters of the address that say so, without its view. */
  readonly query: Days & Readonly<Record<(typeof parameters)[number], string | undefined>>;
}

export type LeftPage = PageOfRows<ChurnedRow>;

/** @throws ServiceError invalid */
export function leftFilter(visit: ShopVisit, { period, now }: View): LeftFilter {
  const [cause, plan, age] = parameters.map((name) => parameter(visit, name));
  const band: AgeBand | undefined = ageBands.find(({ name }) => name === age);
  const problems = [
    cause === undefined || cause === 'cancelled' || cause === 'failed'
      ? undefined
      : 'cause must be cancelled or failed.',
    plan === undefined || /^[1-9]\d{0,14}$/.test(plan)
      ? undefined
      : `“${plan}” is not a plan number. Choose one of the plans.`,
    age === undefined || band !== undefined
      ? undefined
      : `“${age}” is not an age in days. Choose one of ${ageBands.map(({ name }) => name).join(', ')}.`,
  ].filter((problem) => problem !== undefined);
  if (problems.length > 0) throw new ServiceError('invalid', problems.join(' '));
  const days = daysIn(visit);
  return {
    window: { ...partOf(period, days), now: seenFrom(period, now) },
    cause: cause as ChurnFilter['cause'],
    planId: plan === undefined ? undefined : Number(plan),
    age: band,
    query: { cause, 'left-plan': plan, 'left-age': age, ...days },
  };
}

/**
 * A page of those that left, the last to leave first.
 * @throws ServiceError invalid, for a cursor of another list
 */
export async function readLeft(
  store: Store,
  shop: Shop,
  view: View,
  filter: LeftFilter,
  page: { readonly cursor: string | undefined; readonly limit: number },
): Promise<LeftPage> {
  // The period may end now, so that its ends are other instants on each page.
  const listing = `${shop.id} left ${viewQuery(view)} ${JSON.stringify(filter.query)}`;
  const after = page.cursor === undefined ? undefined : decodeCursor(listing, page.cursor);
  const { window, cause, planId, age } = filter;
  const found = await store.readRecent(shop.id, (from) =>
    readFigures(from, shop, selectionOf(view), (figures) =>
      figures.churned(window, { after, limit: page.limit + 1, cause, planId, age }),
    ),
  );
  return pageOfRows(found, page.limit, listing, ({ leftAt, subscriptionId }) => ({
    createdAt: leftAt,
    id: subscriptionId,
  }));
}

/** How many there are on all pages. */
export async function countLeft(
  store: Store,
  shop: Shop,
  view: View,
  { window, cause, planId, age }: LeftFilter,
): Promise<number> {
  const groups = await store.readRecent(shop.id, (from) =>
    readFigures(from, shop, selectionOf(view), (figures) => figures.churnGroups(window)),
  );
  return groups
    .filter(
      (group) =>
        (cause === undefined || group.cause === cause) &&
        (planId === undefined || group.planId === planId) &&
        (age === undefined || group.age === age),
    )
    .reduce((total, { count }) => total + count, 0);
}
