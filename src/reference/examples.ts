interface Example {
  /** What to ask, in JSON terms. */
  readonly input: Readonly<Record<string, unknown>>;
  /** What could be answered. */
  readonly output: Readonly<Record<string, unknown>>;
}

/** One believable request and answer per operation, by the operation's tool name. */
export const examples: Readonly<Record<string, Example>> = {
  get_entitlements: {
    input: { customerId: 18204 },
    output: {
      subscriptions: [
        {
          subscriptionId: 4071,
          planId: 12,
          planName: 'Coffee every 4 weeks',
          planType: 'subscription',
          status: 'active',
          isEntitled: true,
          paidThroughAt: '2026-07-26T07:15:02.117Z',
        },
        {
          subscriptionId: 2968,
          planId: 15,
          planName: 'Tasting club',
          planType: 'membership',
          status: 'cancelled',
          isEntitled: false,
          paidThroughAt: '2026-05-14T09:30:00.000Z',
        },
      ],
    },
  },
  list_subscriptions: {
    input: { limit: 2, status: 'active' },
    output: {
      subscriptions: [
        {
          subscriptionId: 4093,
          customerId: 18377,
          status: 'active',
          planId: 15,
          planName: 'Tasting club',
          planType: 'membership',
          currentPrice: 9.5,
          nextBillingDate: '2026-07-29T18:02:44.310Z',
          createdAt: '2026-06-29T18:02:44.310Z',
        },
        {
          subscriptionId: 4071,
          customerId: 18204,
          status: 'active',
          planId: 12,
          planName: 'Coffee every 4 weeks',
          planType: 'subscription',
          currentPrice: 43.2,
          nextBillingDate: '2026-07-26T07:15:02.117Z',
          createdAt: '2026-06-28T07:15:02.117Z',
        },
      ],
      nextCursor: 'AAABnw0U6WUAAAAAAAAP595P-gANUg',
    },
  },
  get_subscription: {
    input: { subscriptionId: 4071 },
    output: {
      subscription: {
        subscriptionId: 4071,
        customerId: 18204,
        status: 'active',
        planId: 12,
        planName: 'Coffee every 4 weeks',
        planType: 'subscription',
        currentPrice: 43.2,
        nextBillingDate: '2026-07-26T07:15:02.117Z',
        createdAt: '2026-06-28T07:15:02.117Z',
        lineItems: [
          {
            lineId: 6120,
            productId: 83,
            productTitle: 'House espresso',
            variantId: 209,
            variantTitle: '500 g, whole beans',
            quantity: 2,
            currentPrice: 16.2,
          },
          {
            lineId: 6121,
            productId: 90,
            productTitle: 'Oat drink',
            variantId: 231,
            variantTitle: '',
            quantity: 4,
            currentPrice: 2.7,
          },
        ],
      },
    },
  },
  get_metrics_summary: {
    input: {},
    output: {
      summary: {
        activeSubscribers: 1284,
        pausedSubscribers: 73,
        mrr: 46918.4,
        revenue30d: 48275.15,
        newSubscribers30d: 96,
        cancelled30d: 58,
        churnRate30d: 0.0442,
        saveRate: 0.3678,
        cancelSessions30d: 92,
        dunningActive: 17,
        recoveryRate: 0.6364,
        failedPayments30d: 41,
        avgSubscriptionValue: 36.82,
        upcomingRenewals7d: 312,
        upcomingRenewalsValue7d: 11487.6,
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
          name: 'Coffee every 4 weeks',
          groupName: 'Subscribe and save',
          intervalUnit: 'week',
          intervalCount: 4,
          active: true,
          productCount: 6,
          pricing: { discountType: 'percentage', discountValue: 10, summary: '10% off' },
        },
        {
          id: 15,
          name: 'Tasting club',
          groupName: 'Memberships',
          intervalUnit: 'month',
          intervalCount: 1,
          active: true,
          productCount: 1,
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
          sessionId: 911,
          detectedReason: 'too_much_product',
          outcome: 'saved',
          offerType: 'skip_next',
          createdAt: '2026-06-30T16:58:21.064Z',
        },
        {
          sessionId: 902,
          detectedReason: 'too_expensive',
          outcome: 'saved',
          offerType: 'offer_discount',
          createdAt: '2026-06-30T16:40:09.500Z',
        },
      ],
      nextCursor: 'AAABnxlnBBwAAAAAAAADhqvt-ILdew',
    },
  },
};
