import { z } from 'zod';
import { type FigureName, summaryFigures } from '../metrics/figures.ts';
import {
  detectedReasons,
  discountTypes,
  intervalUnits,
  offerTypes,
  planTypes,
  sessionOutcomes,
  subscriptionStatuses,
} from '../vocabulary.ts';

const positive = z.int().min(1);
/** The OpenAPI generator recognises ids by name: `id`, or a name that ends in `Id`. */
const id = positive;
/** Answers other than the summary have no field for it. */
const currencyOfShop = "the shop's currency, which the metrics summary names in `currency`";
const money = z.number().describe(`Money in ${currencyOfShop}.`);
const timestamp = z.iso.datetime({ precision: 3 }).describe('ISO 8601, UTC, milliseconds.');
const nextCursor = z
  .string()
  .nullable()
  .describe('The cursor of the next page; null on the last one.');

/** For an enum that may grow: clients must not fail on a new value. */
const extensible = (text: string) => `${text}; new values may be added.`;

const subscriptionId = id.describe('The subscription.');
const planId = id.describe('The selling plan it is on.');
const planName = z.string().describe("The plan's name.");
const planType = z
  .enum(planTypes)
  .describe(
    extensible(
      'The kind of plan: prepaid is billed for several deliveries at once, a membership ships nothing',
    ),
  );
const status = z.enum(subscriptionStatuses).describe(extensible('Status of the subscription'));

const entitlement = z
  .object({
    subscriptionId,
    planId,
    planName,
    planType,
    status,
    isEntitled: z
      .boolean()
      .describe(
        'Whether the customer is entitled through this subscription right now: it is active, or paidThroughAt lies in the future.',
      ),
    paidThroughAt: timestamp
      .nullable()
      .describe(
        'The end of the last period that was paid for; null where the source never gave one.',
      ),
  })
  .meta({
    id: 'EntitlementEntry',
    description:
      'A subscription of the customer. It entitles while its status is `active` and, in any other status, as long as now is before `paidThroughAt`, the end of the last period that was paid for; if that is unknown, it counts as past. A failed payment alone takes nothing away.',
  });

export const entitlementsResponse = z
  .object({ subscriptions: z.array(entitlement).describe('By subscription id, ascending.') })
  .meta({
    id: 'EntitlementsResponse',
    description:
      'Every subscription the customer has in the shop. The customer is entitled if any of them entitles.',
  });

const subscriptionFields = {
  subscriptionId,
  customerId: id.describe('Opaque internal id scoped to the shop; not personal data.'),
  status,
  planId,
  planName,
  planType,
  currentPrice: money.describe(
    `Per-cycle value: line prices times quantity, in ${currencyOfShop}.`,
  ),
  nextBillingDate: timestamp
    .nullable()
    .describe(
      'The last one known from the source. A subscription that has ended keeps it, and it may lie in the future. Null where the source never gave one.',
    ),
  createdAt: timestamp.describe('When the subscription began.'),
};

export const subscription = z
  .object(subscriptionFields)
  .meta({ id: 'Subscription', description: 'A subscription without its line items.' });

export const subscriptionPage = z
  .object({
    subscriptions: z.array(subscription).describe('Newest first: by `createdAt`, then by id.'),
    nextCursor,
  })
  .meta({ id: 'SubscriptionPage', description: 'One page of the list of subscriptions.' });

const lineItem = z
  .object({
    lineId: id.describe('Unique within the subscription.'),
    productId: id.describe("The product in the shop's catalog."),
    productTitle: z.string().describe("The product's name."),
    variantId: id.describe('The variant of the product.'),
    variantTitle: z.string().describe('Empty where the product has no variants.'),
    quantity: positive.describe('How many units each cycle brings.'),
    currentPrice: money.describe(`Price of one unit, in ${currencyOfShop}.`),
  })
  .meta({ id: 'LineItem', description: 'What a subscription delivers each cycle.' });

export const subscriptionDetail = z
  .object({
    ...subscriptionFields,
    lineItems: z.array(lineItem).describe('What it delivers each cycle.'),
  })
  .meta({ id: 'SubscriptionDetail', description: 'A subscription with its line items.' });

export const subscriptionResponse = z
  .object({ subscription: subscriptionDetail.describe('The subscription.') })
  .meta({ id: 'SubscriptionResponse', description: 'One subscription.' });

const sellingPlan = z
  .object({
    id: id.describe('The plan; planId elsewhere.'),
    name: planName,
    groupName: z.string().describe('The group of plans it belongs to; may be empty.'),
    intervalUnit: z.enum(intervalUnits).describe(extensible('The unit of the billing interval')),
    intervalCount: positive.describe('How many units one billing interval has.'),
    active: z.boolean().describe('Whether it is offered to new subscribers.'),
    productCount: z.int().min(0).describe('How many products are sold on it.'),
    pricing: z
      .object({
        discountType: z
          .enum(discountTypes)
          .describe(
            extensible(
              'What discountValue is: with fixed_amount the amount off, with price the price itself',
            ),
          ),
        discountValue: z
          .number()
          .describe(
            `A percentage (0 to 100) or money, as discountType says; 0 for none. Money is in ${currencyOfShop}.`,
          ),
        summary: z.string().describe('The same in words.'),
      })
      .describe('What a subscriber pays compared with buying once.'),
  })
  .meta({ id: 'SellingPlan', description: 'A way to subscribe: an interval and a price.' });

export const sellingPlansResponse = z
  .object({ plans: z.array(sellingPlan).describe('By id, ascending; all of them.') })
  .meta({ id: 'SellingPlansResponse', description: 'All selling plans of the shop.' });

const cancellationSession = z
  .object({
    sessionId: id.describe('The session in the cancel flow.'),
    detectedReason: z
      .enum(detectedReasons)
      .describe(extensible('Why the customer wanted to leave')),
    outcome: z
      .enum(sessionOutcomes)
      .nullable()
      .describe(extensible('How it ended: null while it is in progress')),
    offerType: z
      .enum(offerTypes)
      .nullable()
      .describe(extensible('What the customer was offered: null if nothing was')),
    createdAt: timestamp.describe('When the session began.'),
  })
  .meta({
    id: 'CancellationSession',
    description: 'A session in the cancel flow: why a customer wanted to leave, and what followed.',
  });

export const cancellationPage = z
  .object({
    cancellations: z
      .array(cancellationSession)
      .describe('Newest first: by `createdAt`, then by id.'),
    nextCursor,
  })
  .meta({ id: 'CancellationPage', description: 'One page of the list of cancel-flow sessions.' });

const count = z.int().min(0);

const formats = { count, money, share: z.number().min(0).max(1) };

const metricsSummary = z
  .object({
    ...(Object.fromEntries(
      summaryFigures.map(({ field, format, rule }) => [field, formats[format].describe(rule)]),
    ) as Record<FigureName, z.ZodNumber>),
    generatedAt: timestamp.describe('The instant the figures are measured from.'),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/)
      .describe('The currency of the shop: of all money here and in every other answer, ISO 4217.'),
  })
  .meta({
    id: 'MetricsSummary',
    description:
      'The figures of the shop, all measured at one instant, `generatedAt`. The last 30 days are the 30 × 24 hours before it, the next 7 days the 7 × 24 hours from it on; each includes its beginning and excludes its end. What is dated after `generatedAt` does not count yet. Rates are rounded to 4 decimals and amounts to the digits of the currency, once, at the end, half away from zero. A rate or an average of nothing is 0.',
  });

export const metricsSummaryResponse = z
  .object({ summary: metricsSummary.describe('The figures, and when they were measured.') })
  .meta({ id: 'MetricsSummaryResponse', description: 'The metrics summary of the shop.' });
