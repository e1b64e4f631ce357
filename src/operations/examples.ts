import { exampleFigures } from '../metrics/figures.ts';

/**
 * One realistic request and response per operation, by tool name. The demo shop has these ids on every day, so that
 * what the documentation tells to try finds something there.
 */
export const examples = {
  get_entitlements: {
    input: { customerId: 2352 },
    output: {
      subscriptions: [
        {
          subscriptionId: 3143,
          planId: 17,
          planName: 'Tea, every season',
          planType: 'subscription',
          status: 'cancelled',
          isEntitled: false,
          paidThroughAt: '2026-05-14T09:30:00.000Z',
        },
        {
          subscriptionId: 3909,
          planId: 12,
          planName: 'Coffee, every 2 months',
          planType: 'subscription',
          status: 'active',
          isEntitled: true,
          paidThroughAt: '2026-08-28T07:15:02.117Z',
        },
      ],
    },
  },
  list_subscriptions: {
    input: { limit: 2, status: 'active' },
    output: {
      subscriptions: [
        {
          subscriptionId: 3999,
          customerId: 3090,
          status: 'active',
          planId: 16,
          planName: 'Tea, every month',
          planType: 'subscription',
          currentPrice: 15.5,
          nextBillingDate: '2026-07-29T18:02:44.310Z',
          createdAt: '2026-06-29T18:02:44.310Z',
        },
        {
          subscriptionId: 3909,
          customerId: 2352,
          status: 'active',
          planId: 12,
          planName: 'Coffee, every 2 months',
          planType: 'subscription',
          currentPrice: 101.18,
          nextBillingDate: '2026-08-28T07:15:02.117Z',
          createdAt: '2026-06-28T07:15:02.117Z',
        },
      ],
      nextCursor: 'AAABnw0U6WUAAAAAAAAPReidhKvqnQ',
    },
  },
  get_subscription: {
    input: { subscriptionId: 3909 },
    output: {
      subscription: {
        subscriptionId: 3909,
        customerId: 2352,
        status: 'active',
        planId: 12,
        planName: 'Coffee, every 2 months',
        planType: 'subscription',
        currentPrice: 101.18,
        nextBillingDate: '2026-08-28T07:15:02.117Z',
        createdAt: '2026-06-28T07:15:02.117Z',
        lineItems: [
          {
            lineId: 4217,
            productId: 85,
            productTitle: 'Single Origin of the Month',
            variantId: 213,
            variantTitle: '',
            quantity: 1,
            currentPrice: 18.53,
          },
          {
            lineId: 4218,
            productId: 81,
            productTitle: 'House Blend',
            variantId: 202,
            variantTitle: '500 g',
            quantity: 1,
            currentPrice: 16.15,
          },
          {
            lineId: 4219,
            productId: 82,
            productTitle: 'Espresso No. 4',
            variantId: 206,
            variantTitle: '1 kg',
            quantity: 2,
            currentPrice: 33.25,
          },
        ],
      },
    },
  },
  get_metrics_summary: {
    input: {},
    output: {
      summary: {
        ...exampleFigures('api'),
        generatedAt: '2026-06-30T17:20:31.482Z',
        currency: 'USD',
      },
    },
  },
  list_plans: {
    input: {},
    output: {
      plans: [
        {
          id: 12,
          name: 'Coffee, every 2 months',
          groupName: 'House Blend',
          intervalUnit: 'month',
          intervalCount: 2,
          active: true,
          productCount: 5,
          pricing: { discountType: 'percentage', discountValue: 5, summary: '5% off' },
        },
        {
          id: 17,
          name: 'Tea, every season',
          groupName: 'Tea Cabinet',
          intervalUnit: 'month',
          intervalCount: 3,
          active: true,
          productCount: 4,
          pricing: { discountType: 'none', discountValue: 0, summary: 'No discount' },
        },
      ],
    },
  },
  list_cancellations: {
    input: { limit: 2, outcome: 'saved' },
    output: {
      cancellations: [
        {
          sessionId: 51911,
          detectedReason: 'too_much_product',
          outcome: 'saved',
          offerType: 'skip_next',
          createdAt: '2026-06-30T16:58:21.064Z',
        },
        {
          sessionId: 51902,
          detectedReason: 'too_expensive',
          outcome: 'saved',
          offerType: 'offer_discount',
          createdAt: '2026-06-30T16:40:09.500Z',
        },
      ],
      nextCursor: 'AAABnxlnBBwAAAAAAADKvrkDEr-KQA',
    },
  },
} as const;
