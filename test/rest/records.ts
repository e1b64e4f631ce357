/** Import records with defaults for the fields that a test does not care about. */
export function plan(over: object = {}): object {
  return {
    type: 'plan',
    id: 11,
    name: 'Monthly box',
    planType: 'subscription',
    intervalUnit: 'month',
    intervalCount: 1,
    ...over,
  };
}

export const line = {
  lineId: 1,
  productId: 81,
  productTitle: 'House Blend',
  variantId: 91,
  variantTitle: '1 lb',
  quantity: 2,
  currentPrice: '15.30',
};

export function subscription(id: number, over: object = {}): object {
  return {
    type: 'subscription',
    id,
    customerId: 501,
    planId: 11,
    status: 'active',
    createdAt: '2026-11-01T00:00:00Z',
    updatedAt: '2026-11-01T00:00:00Z',
    lines: [line],
    ...over,
  };
}

export function session(id: number, over: object = {}): object {
  return {
    type: 'cancellation',
    id,
    detectedReason: 'too_expensive',
    createdAt: '2026-11-01T00:00:00Z',
    ...over,
  };
}
