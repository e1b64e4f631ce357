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

const subscriptionId = id.describe('The subscription.');
const planId = id.describe('The selling plan it is on.');
const planName = z.string().describe("The plan's name.");
const planType = z
  .enum(planTypes)
  .describe(
    'prepaid is billed for several deliveries at once; with a membership nothing is shipped.',
  );
const status = z.enum(subscriptionStatuses).describe('Status of the subscription.');

export const entitlement = z
  .object({
    subscriptionId,
    planId,
    planName,
    planType,
    status,
    isEntitled: z
      .boolean()
      .describe('Whether the customer is entitled through this subscription right now.'),
  })
  .meta({ id: 'EntitlementEntry' });

const subscriptionFields = {
  subscriptionId,
  customerId: id.describe('Opaque internal id scoped to the shop; not personal data.'),
  status,
  planId,
  planName,
  planType,
  currentPrice: money.describe('Per-cycle value: line prices times quantity.'),
  nextBillingDate: timestamp
    .nullable()
    .describe('The last one known from the source; null where the source never gave one.'),
  createdAt: timestamp.describe('When the subscription began.'),
};

export const subscription = z.object(subscriptionFields).meta({ id: 'Subscription' });

const lineItem = z
  .object({
    lineId: id.describe('Unique within the subscription.'),
    productId: id.describe("The product in the shop's catalog."),
    productTitle: z.string().describe("The product's name."),
    variantId: id.describe('The variant of the product.'),
    variantTitle: z.string().describe('Empty where the product has no variants.'),
    quantity: id.describe('How many units each cycle brings.'),
    currentPrice: money.describe('Price of one unit.'),
  })
  .meta({ id: 'LineItem' });

export const subscriptionDetail = z
  .object({ ...subscriptionFields, lineItems: z.array(lineItem) })
  .meta({ id: 'SubscriptionDetail' });

export const sellingPlan = z
  .object({
    id: id.describe('The plan; planId elsewhere.'),
    name: planName,
    groupName: z.string().describe('The group of plans it belongs to; may be empty.'),
    intervalUnit: z.enum(intervalUnits).describe('The billing interval, with intervalCount.'),
    intervalCount: id.describe('How many units one interval has.'),
    active: z.boolean().describe('Whether it is offered to new subscribers.'),
    productCount: z.int().min(0).describe('How many products are sold on it.'),
    pricing: z.object({
      discountType: z
        .enum(discountTypes)
        .describe('percentage, fixed_amount (amount off), price (the price itself) or none.'),
      discountValue: z
        .number()
        .describe('A percentage or money, as discountType says; 0 for none.'),
      summary: z.string().describe('The same in words.'),
    }),
  })
  .meta({ id: 'SellingPlan' });

export const cancellationSession = z
  .object({
    sessionId: id.describe('The session in the cancel flow.'),
    detectedReason: z.enum(detectedReasons).describe('Why the customer wanted to leave.'),
    outcome: z.enum(sessionOutcomes).nullable().describe('null while the session is in progress.'),
    offerType: z.enum(offerTypes).nullable().describe('null where no offer was shown.'),
    createdAt: timestamp.describe('When the session began.'),
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
