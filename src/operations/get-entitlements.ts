import { z } from 'zod';
import type { SubscriptionStatus } from '../vocabulary.ts';
import { defineOperation } from './define.ts';
import { examples } from './examples.ts';
import { customerId } from './json-schema.ts';
import { entitlementsResponse } from './answer-schemas.ts';

export const getEntitlements = defineOperation({
  tool: 'get_entitlements',
  path: '/entitlements',
  scope: 'read:entitlements',
  title: 'Customer entitlements',
  description:
    'Whether a customer is entitled right now: one entry per subscription the customer has in the shop, empty for an unknown customer. A subscription entitles while it is active and, in any other status, until its paidThroughAt.',
  toolDescription:
    "Is a customer entitled right now? Give customerId (the shop's numeric id, not an e-mail). Answers one entry per subscription of the customer with isEntitled; the customer is entitled if any of them is true. A subscription entitles while it is active and, in any other status, until its paidThroughAt (null: unknown, counts as past). An unknown customer gets an empty list.",
  input: z.strictObject({ customerId }),
  output: entitlementsResponse,
  example: examples.get_entitlements,
  fails: ['invalid'],
  async run({ caller, store, clock }, input) {
    const now = clock.now();
    // Ids end at 2^53 - 1, and the database could not even store some greater ones.
    if (!Number.isSafeInteger(input.customerId)) return { subscriptions: [] };
    const rows = await store.entitlements.of(caller.shopId, input.customerId, now);
    return {
      subscriptions: rows.map((row) => ({
        subscriptionId: row.subscriptionId,
        planId: row.planId,
        planName: row.planName,
        planType: row.planType,
        status: row.status,
        isEntitled: isEntitled(row.status, row.paidThroughAt, now),
        paidThroughAt:
          row.paidThroughAt === null ? null : new Date(row.paidThroughAt).toISOString(),
      })),
    };
  },
});

/**
 * An active subscription entitles. With any other status, it entitles until the end of the last paid
 * period; if that is unknown, it does not.
 * @param paidThroughAt, now epoch milliseconds
 */
export function isEntitled(
  status: SubscriptionStatus,
  paidThroughAt: number | null,
  now: number,
): boolean {
  return status === 'active' || (paidThroughAt !== null && now < paidThroughAt);
}
