import { z } from 'zod';
import {
  detectedReasons,
  discountTypes,
  intervalUnits,
  offerTypes,
  planTypes,
  sessionOutcomes,
  subscriptionStatuses,
} from '../vocabulary.ts';

const id = z.int().min(1);
const money = z.number().describe("Money in the shop's currency.");
const timestamp = z.iso.datetime({ precision: 3 }).describe('ISO 8601, UTC, milliseconds.');
export const nextCursor = z
  .string()
  .nullable()
  .describe('The cursor of the next page; null on the last one.');

export const entitlement = z
  .object({
    subscriptionId: id,
    planId: id,
    planName: z.string(),
    planType: z.enum(planTypes),
    status: z.enum(subscriptionStatuses),
    isEntitled: z
      .boolean()
      .describe('Whether the customer is entitled through this subscription right now.'),
  })
  .meta({ id: 'EntitlementEntry' });

const subscriptionFields = {
  subscriptionId: id,
  customerId: id.describe('Opaque internal id scoped to the shop; not personal data.'),
  status: z.enum(subscriptionStatuses),
  planId: id,
  planName: z.string(),
  planType: z.enum(planTypes),
  currentPrice: money.describe('Per-cycle value: line prices times quantity.'),
  nextBillingDate: timestamp
    .nullable()
    .describe('The last one known from the source; null where the source never gave one.'),
  createdAt: timestamp,
};

export const subscription = z.object(subscriptionFields).meta({ id: 'Subscription' });

const lineItem = z
  .object({
    lineId: id,
    productId: id,
    productTitle: z.string(),
    variantId: id,
    variantTitle: z.string().describe('Empty where the product has no variants.'),
    quantity: id,
    currentPrice: money.describe('Price of one unit.'),
  })
  .meta({ id: 'LineItem' });

export const subscriptionDetail = z
  .object({ ...subscriptionFields, lineItems: z.array(lineItem) })
  .meta({ id: 'SubscriptionDetail' });

export const sellingPlan = z
  .object({
    id,
    name: z.string(),
    groupName: z.string(),
    intervalUnit: z.enum(intervalUnits).describe('The billing interval, with intervalCount.'),
    intervalCount: id,
    active: z.boolean(),
    productCount: z.int().min(0),
    pricing: z.object({
      discountType: z
        .enum(discountTypes)
        .describe('percentage, fixed_amount (amount off), price (the price itself) or none.'),
      discountValue: z.number(),
      summary: z.string().describe('The same in words.'),
    }),
  })
  .meta({ id: 'SellingPlan' });

export const cancellationSession = z
  .object({
    sessionId: id,
    detectedReason: z.enum(detectedReasons),
    outcome: z.enum(sessionOutcomes).nullable().describe('null while the session is in progress.'),
    offerType: z.enum(offerTypes).nullable().describe('null where no offer was shown.'),
    createdAt: timestamp,
  })
  .meta({ id: 'CancellationSession' });

const count = z.int().min(0);
const fraction = z.number().min(0).max(1);

export const metricsSummary = z
  .object({
    activeSubscribers: count.describe('Customers with at least one active subscription.'),
    pausedSubscribers: count.describe(
      'Customers with at least one paused subscription and no active one.',
    ),
    mrr: money.describe('Monthly recurring revenue of active subscriptions.'),
    revenue30d: money.describe(
      'Payments minus refunds of the last 30 × 24 hours; can be negative.',
    ),
    newSubscribers30d: count.describe(
      'Customers whose first subscription ever began in that time.',
    ),
    cancelled30d: count.describe(
      'Subscriptions that are cancelled now and became so in that time.',
    ),
    churnRate30d: fraction.describe(
      'Share of the subscriptions live in that time that are now cancelled or failed and became so in it.',
    ),
    saveRate: fraction.describe('Share of the ended cancel-flow sessions that saved the customer.'),
    cancelSessions30d: count.describe('Cancel-flow sessions begun in that time.'),
    dunningActive: count.describe('Subscriptions with an unpaid, open payment failure.'),
    recoveryRate: fraction.describe(
      'Share of the payment failures closed in that time by a payment.',
    ),
    failedPayments30d: count.describe(
      'Billing cycles with a failed payment in that time; failures for lack of stock do not count.',
    ),
    avgSubscriptionValue: money.describe('Average current price of active subscriptions.'),
    upcomingRenewals7d: count.describe('Active subscriptions billed in the next 7 × 24 hours.'),
    upcomingRenewalsValue7d: money.describe('Their current prices together.'),
    generatedAt: timestamp.describe('The instant the figures are measured from.'),
  })
  .meta({ id: 'MetricsSummary' });
