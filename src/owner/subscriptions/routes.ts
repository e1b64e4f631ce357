import { ServiceError } from '../../errors.ts';
import type { Answer } from '../../http/answer.ts';
import type { Route } from '../../http/shell.ts';
import { getSubscription } from '../../operations/get-subscription.ts';
import { listSubscriptions } from '../../operations/list-subscriptions.ts';
import { findTimeline } from '../../store/records/subscription-timeline.ts';
import { listIntervals } from '../../store/records/subscriptions.ts';
import { redirect } from '../ui/answers.ts';
import { ask } from '../ask.ts';
import { customerSubscriptions } from './of-customer.ts';
import { type Pages, type OwnerParts, type ShopVisit, notFoundPage } from '../pages.ts';
import { shopPath } from '../ui/layout.ts';
import { listingPage, parameter, rowsPerPage } from '../ui/listing.ts';
import { subscriptionPage } from './page.ts';
import { type SubscriptionsPage, subscriptionsContent } from './list-page.ts';

const base = '/app/shops/:shopId/subscriptions';
/** The canonical form of a number in a URL; no other text leads to the same page. */
const plainNumber = /^[1-9]\d{0,15}$/;

/** The subscription pages of a shop. */
export function subscriptionRoutes(pages: Pages, parts: OwnerParts): Route[] {
  const { store, clock } = parts;

  const find = async ({ shop }: ShopVisit, number: string) => {
    if (!plainNumber.test(number)) return undefined;
    try {
      const input = { subscriptionId: Number(number) };
      return (await ask(parts, shop, getSubscription, input)).subscription;
    } catch (error) {
      if (error instanceof ServiceError && error.kind === 'notFound') return undefined;
      throw error;
    }
  };

  const list = async (visit: ShopVisit): Promise<SubscriptionsPage> => {
    const { shop } = visit;
    const customer = parameter(visit, 'customer');
    const input = { status: parameter(visit, 'status'), cursor: parameter(visit, 'cursor') };
    if (customer !== undefined) {
      return customerSubscriptions(store, shop.id, rowsPerPage, { ...input, customer });
    }
    return ask(parts, shop, listSubscriptions, { ...input, limit: rowsPerPage });
  };

  const show = (visit: ShopVisit, missing?: string): Promise<Answer> => {
    const frame = {
      title: 'Subscriptions',
      current: 'subscriptions',
      path: '/subscriptions',
    } as const;
    return listingPage(visit, { ...frame, status: missing === undefined ? 200 : 404 }, async () => {
      const listed = await list(visit);
      const ids = listed.subscriptions.map(({ subscriptionId }) => subscriptionId);
      const intervals = await store.readRecent(({ subscriptions }) =>
        listIntervals(subscriptions, visit.shop.id, ids),
      );
      return subscriptionsContent(visit, { ...listed, intervals, missing });
    });
  };

  return [
    pages.shopPage(base, async (visit) => {
      const number = parameter(visit, 'subscription')?.trim();
      if (!number) return show(visit);
      return (await find(visit, number))
        ? redirect(shopPath(visit.shop, `/subscriptions/${number}`))
        : show(visit, number);
    }),
    pages.shopPage(`${base}/:subscriptionId`, async (visit) => {
      const { shop, params } = visit;
      const subscription = await find(visit, params['subscriptionId'] ?? '');
      if (!subscription) return notFoundPage();
      const { subscriptionId: id } = subscription;
      const now = clock.now();
      const [timeline, intervals] = await store.readRecent(({ subscriptions }) =>
        Promise.all([
          findTimeline(subscriptions, shop.id, id, now),
          listIntervals(subscriptions, shop.id, [id]),
        ]),
      );
      const { standing } = timeline;
      // It may have been deleted in the meantime.
      if (!standing) return notFoundPage();
      const interval = intervals.get(id);
      return subscriptionPage(visit, { subscription, timeline, standing, interval, now });
    }),
  ];
}
