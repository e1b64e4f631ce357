import { ServiceError } from '../../errors.ts';
import type { Answer } from '../../http/answer.ts';
import type { Route } from '../../http/shell.ts';
import { getSubscription } from '../../operations/get-subscription.ts';
import { listSubscriptions } from '../../operations/list-subscriptions.ts';
import { findRecord, listKnownSourceIds } from '../../platforms/source-ids.ts';
import { findTimeline } from '../../store/records/subscription-timeline.ts';
import type { RecordKind } from '../../store/records/tables.ts';
import { listIntervals } from '../../store/records/subscriptions.ts';
import { redirect } from '../ui/answers.ts';
import { ask } from '../ask.ts';
import { parseSegment } from '../../metrics/segments/segment.ts';
import { segmentPicker } from '../segments/picker.ts';
import { readSegmentChoices } from '../segments/choices.ts';
import { customerSubscriptions } from './of-customer.ts';
import { countFigure, figureOf, figureSubscriptions } from './of-figure.ts';
import { segmentOf, segmentSubscriptions } from './of-segment.ts';
import { notFoundPage } from '../message-pages.ts';
import type { Pages, OwnerParts, ShopVisit } from '../pages.ts';
import { shopPath } from '../ui/layout.ts';
import { fileOrPage } from '../framework/page.ts';
import { listingPage, parameter, rowsPerPage, rowsPerRead } from '../ui/listing.ts';
import { subscriptionsFile } from '../csv/subscriptions.ts';
import { subscriptionPage } from './page.ts';
import type { SubscriptionsPage } from './list.ts';
import { type Search, happenings, subscriptionsContent } from './list-page.ts';

const base = '/app/shops/:shopId/subscriptions';
/** The canonical form of a number in a URL; no other text leads to the same page. */
const plainNumber = /^[1-9]\d{0,15}$/;

/** The subscription pages of a shop. */
export function subscriptionRoutes(pages: Pages, parts: OwnerParts): Route[] {
  return [
    pages.shopPage(base, (visit) => listOrSearch(parts, visit)),
    pages.shopPage(`${base}.csv`, (visit) =>
      fileOrPage(visit, '/subscriptions', () => {
        const customer = parameter(visit, 'customer');
        const counted = figureOf(visit, parts.clock.now());
        const happening = counted && happenings[counted.figure];
        return subscriptionsFile(parts, visit, happening, (cursor) =>
          list(parts, visit, rowsPerRead, { customer, cursor }),
        );
      }),
    ),
    pages.shopPage(`${base}/:subscriptionId`, (visit) => showSubscription(parts, visit)),
  ];
}

/** A search for a subscription leads to its page, one for a customer to a list of theirs. */
async function listOrSearch(parts: OwnerParts, visit: ShopVisit): Promise<Answer> {
  const { shop } = visit;
  const search = (kind: RecordKind, text: string) =>
    findRecord(parts.store.write, shop.id, kind, text);
  const subscription = parameter(visit, 'subscription')?.trim();
  if (subscription) {
    const found = await search('subscription', subscription);
    return found
      ? redirect(shopPath(shop, `/subscriptions/${found.id}`))
      : showList(parts, visit, { missing: { noun: 'subscription', text: subscription } });
  }
  const customer = parameter(visit, 'customer')?.trim();
  if (!customer) return showList(parts, visit, {});
  const found = await search('customer', customer);
  if (!found) {
    // A number needs no record: its list is empty.
    const isNumber = /^\d*[1-9]\d*$/.test(customer);
    const missing = { noun: 'customer', text: customer } as const;
    return showList(parts, visit, isNumber ? { customer } : { missing });
  }
  return customer === String(found.id)
    ? showList(parts, visit, { customer, sourceId: found.sourceId ?? undefined })
    : redirect(shopPath(shop, `/subscriptions?customer=${found.id}`));
}

async function showList(parts: OwnerParts, visit: ShopVisit, search: Search): Promise<Answer> {
  const { shop } = visit;
  const frame = {
    title: 'Subscriptions',
    current: 'subscriptions',
    path: '/subscriptions',
    controls: async () =>
      segmentPicker(
        visit,
        parseSegment(visit.query).segment,
        await readSegmentChoices(parts, shop),
        shopPath(shop, '/subscriptions'),
      ),
  } as const;
  return listingPage(visit, { ...frame, status: search.missing ? 404 : 200 }, async () => {
    const { customer } = search;
    const listed = await list(parts, visit, rowsPerPage, {
      customer,
      cursor: parameter(visit, 'cursor'),
    });
    const ids = listed.subscriptions.map(({ subscriptionId }) => subscriptionId);
    const intervals = await parts.store.readRecent(visit.shop.id, ({ subscriptions }) =>
      listIntervals(subscriptions, visit.shop.id, ids),
    );
    const choices =
      customer === undefined ? await readSegmentChoices(parts, visit.shop) : undefined;
    const figure = choices && figureOf(visit, parts.clock.now());
    const counted = figure && {
      ...figure,
      count: await countFigure(parts.store, visit.shop, figure),
    };
    return subscriptionsContent(visit, { ...listed, ...search, intervals, choices, counted });
  });
}

/** The subscriptions of a customer, or of the figure or segment in the address, or all of the shop's. */
async function list(
  parts: OwnerParts,
  visit: ShopVisit,
  limit: number,
  { customer, cursor }: Readonly<Record<'customer' | 'cursor', string | undefined>>,
): Promise<SubscriptionsPage> {
  const { store, clock } = parts;
  const { shop } = visit;
  const status = parameter(visit, 'status');
  if (customer !== undefined) {
    return customerSubscriptions(store, shop.id, limit, { customer, status, cursor });
  }
  const now = clock.now();
  const figure = figureOf(visit, now);
  if (figure) return figureSubscriptions(store, shop.id, figure, { limit, cursor });
  const segment = segmentOf(visit.query);
  return segment
    ? segmentSubscriptions(store, shop.id, segment, { limit, cursor, now })
    : ask(parts, shop, listSubscriptions, { status, cursor, limit });
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
