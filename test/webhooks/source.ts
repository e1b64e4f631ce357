import { success } from '../feeds/shopify/nodes.ts';
import type {
  Node,
  StandInContract,
  StandInGroup,
  StandInWorld,
} from '../feeds/shopify/stand-in-world.ts';

const gid = (type: string, id: number) => `gid://shopify/${type}/${id}`;

interface ContractOptions {
  readonly customerId?: number;
  readonly status?: string;
  readonly updatedAt?: string;
  readonly title?: string;
  /** Ids of paid attempts. */
  readonly paid?: readonly number[];
}

/** Adds or replaces a monthly contract with one line at 10.00 on selling plan 301. */
export function putContract(
  { contracts }: StandInWorld,
  id: number,
  {
    customerId = 500_000 + id,
    status = 'ACTIVE',
    updatedAt = '2026-11-01T00:00:00Z',
    title = 'Coffee',
    paid = [],
  }: ContractOptions = {},
): StandInContract {
  const node = {
    id: gid('SubscriptionContract', id),
    status,
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt,
    currencyCode: 'USD',
    nextBillingDate: '2026-12-01T00:00:00Z',
    lastPaymentStatus: 'SUCCEEDED',
    billingPolicy: { interval: 'MONTH', intervalCount: 1 },
    deliveryPolicy: { interval: 'MONTH', intervalCount: 1 },
    customer: { id: gid('Customer', customerId) },
    originOrder: null,
  };
  const line = {
    id: `gid://shopify/SubscriptionLine/00000000-0000-4000-8000-${String(id).padStart(12, '0')}`,
    title,
    variantTitle: null,
    quantity: 1,
    productId: 'gid://shopify/Product/11',
    variantId: 'gid://shopify/ProductVariant/12',
    requiresShipping: true,
    sellingPlanId: 'gid://shopify/SellingPlan/301',
    sellingPlanName: 'Monthly',
    currentPrice: { amount: '10.00', currencyCode: 'USD' },
  };
  const attempts = paid.map((attempt) => ({
    id: gid('SubscriptionBillingAttempt', attempt),
    createdAt: '2026-11-01T00:00:00Z',
    completedAt: '2026-11-01T00:01:00Z',
    originTime: '2026-11-01T00:00:00Z',
    state: success(null),
  }));
  const contract: StandInContract = { node, lines: [line], attempts };
  contracts.set(node.id, contract);
  return contract;
}

export function removeContract({ contracts }: StandInWorld, id: number): void {
  contracts.delete(gid('SubscriptionContract', id));
}

/** Adds or replaces a group of monthly selling plans without a discount; no plans deletes it. */
export function putPlanGroup(
  { groups }: StandInWorld,
  id: number,
  name: string,
  planIds: readonly number[],
): void {
  const node = { id: gid('SellingPlanGroup', id), name, productsCount: { count: 3 } };
  const plans = planIds.map((planId): Node => ({
    id: gid('SellingPlan', planId),
    name: `Plan ${planId}`,
    category: 'SUBSCRIPTION',
    billingPolicy: { interval: 'MONTH', intervalCount: 1 },
    deliveryPolicy: { interval: 'MONTH', intervalCount: 1 },
    pricingPolicies: [],
  }));
  const group: StandInGroup = { node, plans };
  if (plans.length > 0) groups.set(node.id, group);
  else groups.delete(node.id);
}
