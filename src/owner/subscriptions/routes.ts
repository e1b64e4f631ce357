import { ServiceError } from '../../errors.ts';
import type { Answer } from '../../http/answer.ts';
import { getSubscription } from '../../operations/get-subscription.ts';
import { listKnownSourceIds } from '../../platforms/source-ids.ts';
import { findTimeline } from '../../store/records/subscription-timeline.ts';
import { listIntervals } from '../../store/records/subscriptions.ts';
import { ask } from '../ask.ts';
import { notFoundPage } from '../message-pages.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, shopPage } from '../pages.ts';
import { subscriptionPage } from './page.ts';

/** The canonical form of a number in a URL; no other text leads to the same page. */
const plainNumber = /^[1-9]\d{0,15}$/;

export function subscriptionPages(parts: OwnerParts): OwnerPage[] {
  return [
    shopPage('/subscriptions/:subscriptionId', {
      parent: '/subscriptions',
      show: (visit) => showSubscription(parts, visit),
    }),
  ];
}

async function showSubscription(parts: OwnerParts, visit: ShopVisit): Promise<Answer> {
  const { store, clock } = parts;
  const { shop, params } = visit;
  const subscription = await find(parts, visit, params['subscriptionId'] ?? '');
  if (!subscription) return notFoundPage(visit);
  const { subscriptionId: id, customerId } = subscription;
  const now = clock.now();
  const [[timeline, intervals], sourceIds] = await Promise.all([
    store.readRecent(shop.id, ({ subscriptions }) =>
      Promise.all([
        findTimeline(subscriptions, shop.id, id, now),
        listIntervals(subscriptions, shop.id, [id]),
      ]),
    ),
    listKnownSourceIds(store.write, shop.id, [
      { kind: 'subscription', id },
      { kind: 'customer', id: customerId },
    ]),
  ]);
  const { standing } = timeline;
  // It may have been deleted in the meantime.
  if (!standing) return notFoundPage(visit);
  const interval = intervals.get(id);
  return subscriptionPage(visit, { subscription, timeline, standing, interval, sourceIds, now });
}

async function find(parts: OwnerParts, { shop }: ShopVisit, number: string) {
  if (!plainNumber.test(number)) return undefined;
  try {
    const input = { subscriptionId: Number(number) };
    return (await ask(parts, shop, getSubscription, input)).subscription;
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'notFound') return undefined;
    throw error;
  }
}
