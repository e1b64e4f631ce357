import type { Answer, AnswerBody } from '../../http/answer.ts';
import { listIntervals } from '../../store/records/subscriptions.ts';
import type { OwnerParts, ShopVisit } from '../pages.ts';
import type { SubscriptionsPage } from '../subscriptions/list.ts';
import { statusLabels } from '../ui/labels.ts';
import { csvFile, pagedRows } from './csv.ts';

const heads = [
  'Subscription',
  'Customer',
  'Plan number',
  'Plan',
  'Status',
  'Price per cycle',
  'Currency',
  'Billed every (count)',
  'Billed every (unit)',
  'Next billing (UTC)',
  'Created (UTC)',
];

/**
 * @param happening what happened to each of them, if the list is of that
 * @param read a page of the list from a cursor on, with the page's filters
 */
export async function subscriptionsFile(
  { store, clock }: OwnerParts,
  { shop }: ShopVisit,
  happening: string | undefined,
  read: (cursor?: string) => Promise<SubscriptionsPage>,
): Promise<Answer<AnswerBody>> {
  const rows = await pagedRows(read, async ({ subscriptions }) => {
    const ids = subscriptions.map(({ subscriptionId }) => subscriptionId);
    const intervals = await store.readRecent(shop.id, (from) =>
      listIntervals(from.subscriptions, shop.id, ids),
    );
    return subscriptions.map((row) => {
      const interval = intervals.get(row.subscriptionId);
      return [
        row.subscriptionId,
        row.customerId,
        row.planId,
        row.planName,
        statusLabels[row.status][0],
        row.currentPrice,
        shop.currency,
        interval?.count ?? null,
        interval?.unit ?? null,
        row.nextBillingDate,
        row.createdAt,
        ...(happening ? [new Date(row.happenedAt ?? 0).toISOString()] : []),
      ];
    });
  });
  const more = happening ? [`${happening} (UTC)`] : [];
  const now = clock.now();
  return csvFile({ shop, noun: 'subscriptions', now, heads: [...heads, ...more], rows });
}
