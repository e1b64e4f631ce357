import { z } from 'zod';
import { listSubscriptions as listRows } from '../store/records/subscriptions.ts';
import { subscriptionStatuses } from '../vocabulary.ts';
import { decodeCursor, pageOf } from './cursor.ts';
import { defineOperation, shopOf } from './define.ts';
import { examples } from './examples.ts';
import { cursor, limit, oneOf } from './json-schema.ts';
import { subscriptionPage } from './answer-schemas.ts';
import { coalesce } from './coalesce.ts';

export const listSubscriptions = defineOperation({
  tool: 'list_subscriptions',
  path: '/subscriptions',
  scope: 'read:subscriptions',
  title: 'Subscriptions',
  description: 'The subscriptions of the shop, newest first, a page at a time.',
  toolDescription:
    "List the shop's subscriptions, newest first. Start with a small limit (5 to 20; at most 100, 50 if left out) and filter by status where you can. For the next page pass nextCursor as cursor with the same status; null means there is no more. currentPrice is per billing cycle, in the currency of get_metrics_summary. nextBillingDate is the last one known; an ended subscription's may lie in the future. Line items: get_subscription.",
  input: z.strictObject({
    limit,
    cursor: cursor.optional(),
    status: oneOf('status', subscriptionStatuses)
      .optional()
      .describe('Only subscriptions of this status.'),
  }),
  output: subscriptionPage,
  example: examples.list_subscriptions,
  fails: ['invalid'],
  async run({ caller, store, clock }, input) {
    const listing = `${caller.shopId} subscriptions ${input.status ?? ''}`;
    const after = input.cursor === undefined ? undefined : decodeCursor(listing, input.cursor);
    return coalesce(store.subscriptions, `${listing} ${input.limit} ${input.cursor}`, async () => {
      const found = await listRows(store.subscriptions, shopOf(caller), clock.now(), {
        status: input.status,
        after,
        limit: input.limit + 1,
      });
      return pageOf('subscriptions', listing, found, input.limit, 'subscriptionId');
    });
  },
});
