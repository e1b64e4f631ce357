import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { decodeCursor, pageOf } from '../../operations/cursor.ts';
import { cursor, customerId, oneOf } from '../../operations/parameters.ts';
import type { Store } from '../../store/open.ts';
import { listSubscriptionsOfCustomer } from '../../store/records/subscriptions.ts';
import { subscriptionStatuses } from '../../vocabulary.ts';
import type { SubscriptionsPage } from './list.ts';

const schema = z.object({
  customerId,
  status: oneOf('status', subscriptionStatuses).optional(),
  cursor: cursor.optional(),
});

/**
 * A page of one customer's subscriptions, in the format of the API's list; the API itself has no such
 * filter.
 * @param input query parameters of the page, not yet validated
 * @throws ServiceError invalid, with the API's messages
 */
export async function customerSubscriptions(
  store: Store,
  shopId: number,
  limit: number,
  input: Readonly<Record<'customer' | 'status' | 'cursor', string | undefined>>,
): Promise<SubscriptionsPage> {
  const { customer = '', ...rest } = input;
  const number = /^\d+$/.test(customer) ? Math.min(Number(customer), Number.MAX_VALUE) : customer;
  const parsed = schema.safeParse({ ...rest, customerId: number });
  if (!parsed.success) {
    throw new ServiceError('invalid', parsed.error.issues.map(({ message }) => message).join(' '));
  }
  const { data } = parsed;
  const listing = `${shopId} subscriptions of customer ${data.customerId} ${data.status ?? ''}`;
  const after = data.cursor === undefined ? undefined : decodeCursor(listing, data.cursor);
  // No customer has a greater number, and the database could not even store some.
  if (!Number.isSafeInteger(data.customerId)) return { subscriptions: [], nextCursor: null };
  const found = await store.readRecent(shopId, ({ subscriptions }) =>
    listSubscriptionsOfCustomer(subscriptions, shopId, data.customerId, {
      status: data.status,
      after,
      limit: limit + 1,
    }),
  );
  return JSON.parse(pageOf('subscriptions', listing, found, limit, 'subscriptionId').text);
}
