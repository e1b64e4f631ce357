import { z } from 'zod';
import { refusal } from '../refusals.ts';
import { findSubscription } from '../store/records/subscriptions.ts';
import { defineOperation, shopOf } from './define.ts';
import { examples } from './examples.ts';
import { JsonText } from './coalesce.ts';
import { subscriptionId } from './json-schema.ts';
import { subscriptionResponse } from './answer-schemas.ts';

export const getSubscription = defineOperation({
  tool: 'get_subscription',
  path: '/subscriptions/{id}',
  pathParameter: { name: 'id', input: 'subscriptionId' },
  scope: 'read:subscriptions',
  title: 'One subscription',
  description: 'One subscription of the shop with its line items.',
  toolDescription:
    "One subscription with its line items, by its numeric subscriptionId (from list_subscriptions or get_entitlements). Prices and nextBillingDate are as in list_subscriptions; a line's currentPrice is for one unit.",
  input: z.strictObject({ subscriptionId }),
  output: subscriptionResponse,
  example: examples.get_subscription,
  fails: ['notFound'],
  async run({ caller, store, clock }, input) {
    const found = Number.isSafeInteger(input.subscriptionId)
      ? await findSubscription(
          store.subscriptions,
          shopOf(caller),
          input.subscriptionId,
          clock.now(),
        )
      : undefined;
    if (found === undefined) throw refusal('notFound', 'Subscription');
    return new JsonText(`{"subscription":${found}}`);
  },
});
