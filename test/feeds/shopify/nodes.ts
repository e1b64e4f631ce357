/** Nodes as Shopify returns them, with defaults for what a test does not override. */

const gid = (type: string, key: number | string) => `gid://shopify/${type}/${key}`;
const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

export function contract(id: number, over: object = {}): object {
  return {
    id: gid('SubscriptionContract', id),
    status: 'ACTIVE',
    createdAt: '2026-03-01T09:00:00Z',
    updatedAt: '2026-11-15T09:00:00Z',
    currencyCode: 'USD',
    nextBillingDate: '2026-11-24T09:00:00Z',
    lastPaymentStatus: 'SUCCEEDED',
    billingPolicy: { interval: 'MONTH', intervalCount: 1, minCycles: null, maxCycles: null },
    deliveryPolicy: { interval: 'MONTH', intervalCount: 1 },
    customer: { id: gid('Customer', 500_000 + id) },
    originOrder: { id: gid('Order', 70_000 + id) },
    ...over,
  };
}

export function line(contractId: number, number: number, over: object = {}): object {
  return {
    id: gid('SubscriptionLine', uuid(number)),
    title: 'House Blend',
    variantTitle: '1 lb',
    quantity: 1,
    productId: gid('Product', 8001),
    variantId: gid('ProductVariant', 9001),
    requiresShipping: true,
    sellingPlanId: gid('SellingPlan', 301),
    sellingPlanName: 'Monthly',
    currentPrice: { amount: '15.3', currencyCode: 'USD' },
    ...over,
    __parentId: gid('SubscriptionContract', contractId),
  };
}

export function attempt(contractId: number, id: number, at: string, over: object = {}): object {
  return {
    id: gid('SubscriptionBillingAttempt', id),
    createdAt: at,
    completedAt: at,
    originTime: at,
    ready: true,
    errorCode: null,
    order: null,
    ...over,
    __parentId: gid('SubscriptionContract', contractId),
  };
}

/** An attempt as API versions since 2026-04 return it. */
export function billed(
  contractId: number,
  id: number,
  at: string,
  state: object,
  over: object = {},
): object {
  return {
    id: gid('SubscriptionBillingAttempt', id),
    createdAt: at,
    completedAt: at,
    originTime: at,
    paymentGroupId: null,
    state,
    ...over,
    __parentId: gid('SubscriptionContract', contractId),
  };
}

/** @param paid null if the order is withheld */
export function success(paid: object | null): object {
  return { __typename: 'SubscriptionBillingAttemptSuccessState', order: paid };
}

const kindsOfErrors = {
  paymentCode: 'Payment',
  generalCode: 'General',
  inventoryCode: 'Inventory',
};

/** @param field the name that the queries give to the code of this kind of error */
export function failure(code: string, field: keyof typeof kindsOfErrors = 'paymentCode'): object {
  const type = `SubscriptionBillingAttempt${kindsOfErrors[field]}Error`;
  return {
    __typename: 'SubscriptionBillingAttemptFailedState',
    error: { __typename: type, [field]: code },
  };
}

export function money(amount: string, currencyCode = 'USD'): object {
  return { shopMoney: { amount, currencyCode } };
}

/** An order of one thing. */
export function order(id: number, total: string, over: object = {}): object {
  return {
    id: gid('Order', id),
    processedAt: '2026-03-01T09:00:00Z',
    test: false,
    totalPriceSet: money(total),
    refunds: [],
    subtotalLineItemsQuantity: 1,
    subtotalPriceSet: money(total),
    ...over,
  };
}

export function refund(id: number, amount: string, processedAt: string): object {
  return { id: gid('Refund', id), processedAt, totalRefundedSet: money(amount) };
}

export function group(id: number, over: object = {}): object {
  return {
    id: gid('SellingPlanGroup', id),
    name: 'Subscribe & save',
    productsCount: { count: 14, precision: 'EXACT' },
    ...over,
  };
}

export function sellingPlan(groupId: number, id: number, over: object = {}): object {
  return {
    id: gid('SellingPlan', id),
    name: 'Monthly',
    category: 'SUBSCRIPTION',
    billingPolicy: { interval: 'MONTH', intervalCount: 1 },
    deliveryPolicy: { interval: 'MONTH', intervalCount: 1 },
    pricingPolicies: [],
    ...over,
    __parentId: gid('SellingPlanGroup', groupId),
  };
}
