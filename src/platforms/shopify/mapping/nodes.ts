import { isObject } from '../../../json.ts';
import type { RecordOf } from '../../../records/records.ts';
import { anonymousCustomerId } from '../../../store/records/customers.ts';
import type { SubscriptionStatus } from '../../../vocabulary.ts';
import {
  type Interval,
  type Node,
  type ShopMoney,
  Refusal,
  amountOf,
  booleanOf,
  checkCurrency,
  idOf,
  integerOf,
  intervalOf,
  numberOfGid,
  objectOf,
  optional,
  textOf,
  timeOf,
  enumOf,
} from './fields.ts';
import { type FirstOrder, readFirstOrder } from './orders.ts';

/*
 * Reads the needed fields of each kind of Shopify node, and nothing else: personal data gets no
 * further than here. Times are epoch milliseconds, amounts are decimal texts in the shop's
 * currency. Each reader takes the key of the node's GID, and throws a Refusal for an invalid node.
 */

const statusOf = enumOf(
  new Map<string, SubscriptionStatus>([
    ['ACTIVE', 'active'],
    ['PAUSED', 'paused'],
    ['CANCELLED', 'cancelled'],
    ['EXPIRED', 'expired'],
    ['FAILED', 'failed'],
  ]),
);

/** Null for a policy without an interval: it applies once. */
function recurring(node: Node, field: string): Interval | null {
  return (objectOf(node, field)['interval'] ?? null) === null ? null : intervalOf(node, field);
}

const customerOf = numberOfGid('Customer');
const optionalText = optional(textOf);
const optionalTime = optional(timeOf);
const optionalPolicy = optional(recurring);

export type Contract = ReturnType<typeof readContract>;

export function readContract(key: string, node: Node, shop: ShopMoney) {
  const id = idOf(key);
  checkCurrency(node, 'the contract', shop);
  const status = statusOf(node, 'status');
  return {
    id,
    status,
    createdAt: timeOf(node, 'createdAt'),
    updatedAt: timeOf(node, 'updatedAt'),
    nextBillingDate: optionalTime(node, 'nextBillingDate'),
    // A placeholder if the customer is unknown or redacted: payments still count, but no customer is entitled.
    customerId: isObject(node['customer'])
      ? customerOf(node['customer'], 'id')
      : anonymousCustomerId(id),
    billing: intervalOf(node, 'billingPolicy'),
    delivery: optionalPolicy(node, 'deliveryPolicy'),
    isLastPaymentSucceeded: node['lastPaymentStatus'] === 'SUCCEEDED',
    hasOriginOrder: isObject(node['originOrder']),
    ...firstOrderOf(node, shop),
  };
}

/**
 * The origin order, if its amounts are known, or why it cannot become a payment. It may be older than the shop's
 * currency, which must not cost the whole contract.
 */
function firstOrderOf(
  node: Node,
  shop: ShopMoney,
): { readonly firstOrder: FirstOrder | null; readonly firstOrderProblem?: string } {
  try {
    return { firstOrder: readFirstOrder(node['originOrder'], shop) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { firstOrder: null, firstOrderProblem: `in its originOrder, ${error.message}` };
  }
}

const quantityOf = integerOf(1, 1_000_000);
const productOf = optional(numberOfGid('Product'));
const variantOf = optional(numberOfGid('ProductVariant'));
const sellingPlanOf = optional(numberOfGid('SellingPlan'));
const optionalBoolean = optional(booleanOf);

export type ContractLine = ReturnType<typeof readLine>;

export function readLine(key: string, node: Node, shop: ShopMoney) {
  return {
    /** A UUID. */
    id: key,
    title: textOf(node, 'title'),
    variantTitle: optionalText(node, 'variantTitle'),
    quantity: quantityOf(node, 'quantity'),
    /** Null if the product was deleted in Shopify; likewise the variant. */
    productId: productOf(node, 'productId'),
    variantId: variantOf(node, 'variantId'),
    /** Null if the query did not request it. */
    requiresShipping: optionalBoolean(node, 'requiresShipping'),
    sellingPlanId: sellingPlanOf(node, 'sellingPlanId'),
    sellingPlanName: optionalText(node, 'sellingPlanName'),
    /** Per unit. */
    currentPrice: amountOf(shop)(node, 'currentPrice'),
  };
}

const maxProducts = 100_000;
const productCountOf = integerOf(0, Number.MAX_SAFE_INTEGER);

export type SellingPlanGroup = ReturnType<typeof readGroup>;

export function readGroup(key: string, node: Node) {
  const counted = optional(objectOf)(node, 'productsCount');
  return {
    id: idOf(key),
    name: textOf(node, 'name'),
    productCount: counted && Math.min(productCountOf(counted, 'count'), maxProducts),
  };
}

export type SellingPlan = ReturnType<typeof readSellingPlan>;

export function readSellingPlan(key: string, node: Node, shop: ShopMoney) {
  return {
    id: idOf(key),
    name: optionalText(node, 'name'),
    isForSubscriptions: (node['category'] ?? 'SUBSCRIPTION') === 'SUBSCRIPTION',
    /** Null if it bills once, as for a pre-order. */
    billing: recurring(node, 'billingPolicy'),
    delivery: optionalPolicy(node, 'deliveryPolicy'),
    /** What a new customer gets. */
    pricing: readPricing(node, shop),
  };
}

const discountTypeOf = enumOf(
  new Map<string, 'percentage' | 'fixed_amount' | 'price'>([
    ['PERCENTAGE', 'percentage'],
    ['FIXED_AMOUNT', 'fixed_amount'],
    ['PRICE', 'price'],
  ]),
);

/** The most decimals that a percentage may have in a record. */
const percentageDigits = 4;

/** Reads the policy that applies from the first order on: what a new customer is offered. */
function readPricing(node: Node, shop: ShopMoney): NonNullable<RecordOf<'plan'>['pricing']> {
  const policies: unknown = node['pricingPolicies'] ?? [];
  if (!Array.isArray(policies) || !policies.every(isObject)) {
    throw new Refusal('pricingPolicies must be a list of objects');
  }
  const first = policies.find((policy) => (policy['afterCycle'] ?? 0) === 0);
  if (!first) return { discountType: 'none', discountValue: '0', summary: null };
  const discountType = discountTypeOf(first, 'adjustmentType');
  if (discountType !== 'percentage') {
    return { discountType, discountValue: amountOf(shop)(first, 'adjustmentValue'), summary: null };
  }
  const { percentage } = objectOf(first, 'adjustmentValue');
  if (typeof percentage !== 'number' || !(percentage >= 0 && percentage <= 100)) {
    throw new Refusal('adjustmentValue.percentage must be a number from 0 to 100');
  }
  const discountValue = String(Number(percentage.toFixed(percentageDigits)));
  return { discountType, discountValue, summary: null };
}
