import { type Body, bodiesOf } from '../body.ts';
import { arrayOf, mebibyte, nested } from '../texts.ts';
import { type Push, either, lines, push, refused } from './push.ts';

const mapped = (body: Push['body'], mapping = 'stripe-objects') => ({
  body,
  path: `mapped/${mapping}`,
});
export const stripeItem = {
  price: {
    id: 'price_1',
    product: 'prod_1',
    unit_amount: 1200,
    recurring: { interval: 'month', interval_count: 1 },
  },
  quantity: 1,
  current_period_end: 1_790_000_000,
};
/** A subscription as Stripe lists it, with these items as JSON text. */
export const stripeSubscription = (id: string, items: string) =>
  `{"object":"subscription","id":"${id}","status":"active","currency":"usd","customer":"cus_1","start_date":1760000000,"cancel_at_period_end":false,"items":{"data":${items}}}`;

export const mappedBodies: readonly Body[] = bodiesOf<Push>('mapped push', push, [
  [
    '300,000 empty items of a subscription',
    either,
    () => mapped(stripeSubscription('sub_1', arrayOf(mebibyte - 300, '{}'))),
  ],
  [
    '500,000 numbers as items',
    either,
    () => mapped(stripeSubscription('sub_1', arrayOf(mebibyte - 300, '1'))),
  ],
  [
    'items as many as fit',
    either,
    () => mapped(stripeSubscription('sub_2', arrayOf(mebibyte - 300, JSON.stringify(stripeItem)))),
  ],
  [
    'a list of 300,000 empty objects',
    refused,
    () => mapped(`{"data":${arrayOf(mebibyte - 20, '{}')}}`),
  ],
  ['a list of numbers', refused, () => mapped(`{"data":${arrayOf(mebibyte - 20, '1')}}`)],
  ['an array of empty objects', refused, () => mapped(arrayOf(mebibyte, '{}'))],
  ['lines of {}', refused, () => mapped(lines('{}').body)],
  ['lines of x', refused, () => mapped('x\n'.repeat(mebibyte / 2))],
  [
    'subscriptions as many as fit',
    either,
    () =>
      mapped(
        arrayOf(mebibyte, (n) => stripeSubscription(`sub_${n}`, JSON.stringify([stripeItem]))),
      ),
  ],
  [
    '1,000 subscriptions',
    [202],
    () =>
      mapped(
        `[${Array.from({ length: 1000 }, (_, n) => stripeSubscription(`sub_${n}`, JSON.stringify([stripeItem]))).join()}]`,
      ),
  ],
  [
    'a status of 1 MiB',
    either,
    () =>
      mapped(
        stripeSubscription('sub_3', '[]').replace('"active"', `"${'a'.repeat(mebibyte - 300)}"`),
      ),
  ],
  ['nested objects', either, () => mapped(nested(mebibyte - 1, '{"a":', '}').replace('}', '0}'))],
  ['webhooks of empty objects', refused, () => mapped(arrayOf(mebibyte, '{}'), 'stripe-webhooks')],
  ['an unknown mapping', [404], () => mapped('{}\n'.repeat(mebibyte / 3), 'nothing')],
]);
