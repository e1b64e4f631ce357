import type { RecordInput } from '../records/records.ts';
import { formatMinor } from './money.ts';
import type { Plan } from './plans.ts';
import { integer, pick, pickWeighted, type Random, weigh } from './random.ts';

/**
 * The import records of the demo shop. Amounts are decimal strings with exactly the currency's
 * decimal places; timestamps are ISO 8601 in UTC with milliseconds.
 */
export type DemoRecord =
  | PlanRecord
  | SubscriptionRecord
  | PaymentRecord
  | RefundRecord
  | CancellationRecord;

/** What every record of the demo shop has, although it need not. */
interface Dated {
  updatedAt: string;
}

/** The value of a discount is a number for percentage and none, and a decimal string for money. */
export type PlanRecord = RecordInput<'plan'> & Dated & { productIds: number[] };
export type SubscriptionRecord = RecordInput<'subscription'> & Dated & { lines: LineRecord[] };
export type LineRecord = RecordInput<'subscription'>['lines'][number] & { currentPrice: string };
export type PaymentRecord = RecordInput<'payment'> & Dated & { cycle: string; amount: string };
export type RefundRecord = RecordInput<'refund'> & Dated & { amount: string };
export type CancellationRecord = RecordInput<'cancellation'> & Dated & { subscriptionId: number };

// 1.4 lines on average over all plans, including those with a single line.
const LINE_COUNTS = weigh([[1, 60], [2, 30], [3, 8], [4, 2]]); // prettier-ignore
const QUANTITIES = weigh([[1, 78], [2, 17], [3, 4], [4, 1]]); // prettier-ignore

/** The line items that a subscription delivers each period. */
export interface Basket {
  lines: LineRecord[];
  /** Σ price × quantity, in minor units of the currency. */
  total: number;
}

/** Picks different products of the plan; line ids start at `lineId`. */
export function fillBasket(
  random: Random,
  plan: Plan,
  minorDigits: number,
  lineId: number,
): Basket {
  const { products } = plan;
  // No customer needs two memberships or two services of a grinder.
  const isSingle = plan.planType === 'membership' || plan.planType === 'other';
  const count = isSingle ? 1 : Math.min(pickWeighted(random, LINE_COUNTS), products.length);
  const lines: LineRecord[] = [];
  let total = 0;
  let next = integer(random, 0, products.length - 1);
  for (let index = 0; index < count; index++) {
    const product = products[next % products.length];
    if (!product) break;
    next++;
    const variant = pick(random, product.variants);
    const quantity = isSingle ? 1 : pickWeighted(random, QUANTITIES);
    total += variant.price * quantity;
    lines.push({
      lineId: lineId + index,
      productId: product.productId,
      productTitle: product.title,
      variantId: variant.variantId,
      ...(variant.title === '' ? {} : { variantTitle: variant.title }),
      quantity,
      currentPrice: formatMinor(variant.price, minorDigits),
    });
  }
  return { lines, total };
}
