import { z } from 'zod';
import type { SubscriptionStatus } from '../vocabulary.ts';
import { defineOperation } from './define.ts';
import { customerId } from './parameters.ts';
import { entitlementsResponse } from './shapes.ts';

export const getEntitlements = defineOperation({
  tool: 'get_entitlements',
  path: '/entitlements',
  scope: 'read:entitlements',
  title: 'Customer entitlements',
  description:
    'Whether a customer is entitled right now: one entry per subscription the customer has in the shop, empty for an unknown customer.',
  toolDescription:
    "Is a customer entitled right now? Give customerId (the shop's numeric id, not an e-mail). Answers one entry per subscription of the customer with isEntitled; the customer is entitled if any of them is true. An unknown customer gets an empty list.",
  input: z.strictObject({ customerId }),
  output: entitlementsResponse,
  fails: ['invalid'],
  async run({ caller, store, now }, input) {
    // Ids end at 2^53 - 1: nobody has a greater one, and the database could not even hold some.
    if (!Number.isSafeInteger(input.customerId)) return { subscriptions: [] };
    const rows = await store.entitlements.of(caller.shopId, input.customerId);
    return {
      subscriptions: rows.map((row) => ({
        subscriptionId: row.subscriptionId,
        planId: row.planId,
        planName: row.planName,
        planType: row.planType,
        status: row.status,
        isEntitled: isEntitled(row.status, row.paidThroughAt, now),
      })),
    };
  },
});

/**
 * Active entitles; so do paused and cancelled until the end of the last period that was paid for
 * (unknown counts as past). Expired and failed do not.
 * @param paidThroughAt, now epoch milliseconds
 */
export function isEntitled(
  status: SubscriptionStatus,
  paidThroughAt: number | null,
  now: number,
): boolean {
  if (status === 'active') return true;
  const keepsPaidPeriod = status === 'paused' || status === 'cancelled';
  return keepsPaidPeriod && paidThroughAt !== null && now < paidThroughAt;
}
