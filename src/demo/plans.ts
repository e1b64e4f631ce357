import { type PlanIdea, PLANS, PRODUCTS } from './catalogue.ts';
import { type Currency, formatMinor, listPrice, percentOff } from './money.ts';
import type { DiscountType, IntervalUnit, PlanRecord, PlanType } from './records.ts';

const FIRST_PLAN_ID = 11;
const FIRST_PRODUCT_ID = 81;
const FIRST_VARIANT_ID = 201;

/** Of the history: plans that are no longer offered stopped being so after this share of it. */
export const RETIRED_AFTER = 0.45;

/** A thing that can stand on a line, at the price that a plan makes of it. */
interface PricedVariant {
  variantId: number;
  title: string;
  /** Minor units of the shop's currency, the discount taken off. */
  price: number;
}

interface PricedProduct {
  productId: number;
  title: string;
  variants: readonly PricedVariant[];
}

/** A plan with what the course of its subscriptions depends on. */
export interface Plan {
  id: number;
  planType: PlanType;
  unit: IntervalUnit;
  count: number;
  products: readonly PricedProduct[];
  popularity: number;
  churn: number;
  term: number | undefined;
  retired: boolean;
  record: PlanRecord;
}

/** The shop's plans in the order of their ids, priced in its currency. */
export function createPlans(currency: Currency, startAt: string, retiredAt: string): Plan[] {
  return PLANS.map((idea, index) => {
    const id = FIRST_PLAN_ID + index;
    const [count, unit] = idea.every;
    const record: PlanRecord = {
      type: 'plan',
      id,
      name: idea.name,
      groupName: idea.groupName,
      planType: idea.planType,
      intervalUnit: unit,
      intervalCount: count,
      active: !idea.retired,
      productIds: [...idea.productIds],
      updatedAt: idea.retired ? retiredAt : startAt,
    };
    if (idea.discount) record.pricing = writePricing(idea.discount, currency);
    return {
      id,
      planType: idea.planType,
      unit,
      count,
      products: priceProducts(idea, currency),
      popularity: idea.popularity,
      churn: idea.churn,
      term: idea.term,
      retired: idea.retired ?? false,
      record,
    };
  });
}

function writePricing(
  [discountType, value]: readonly [DiscountType, number],
  currency: Currency,
): NonNullable<PlanRecord['pricing']> {
  if (discountType === 'percentage' || discountType === 'none') {
    return { discountType, discountValue: value };
  }
  return {
    discountType,
    discountValue: formatMinor(listPrice(value, currency), currency.minorDigits),
  };
}

function priceProducts(idea: PlanIdea, currency: Currency): PricedProduct[] {
  let variantId = FIRST_VARIANT_ID;
  const all = PRODUCTS.map((product, index) => ({
    productId: FIRST_PRODUCT_ID + index,
    title: product.title,
    variants: product.variants.map(([title, hundredths]) => ({
      variantId: variantId++,
      title,
      price: discounted(hundredths, idea, currency),
    })),
  }));
  return all.filter(({ productId }) => idea.productIds.includes(productId));
}

function discounted(hundredths: number, idea: PlanIdea, currency: Currency): number {
  const full = listPrice(hundredths, currency);
  const [type, value] = idea.discount ?? ['none', 0];
  switch (type) {
    case 'percentage':
      return percentOff(full, value);
    case 'fixed_amount':
      return Math.max(0, full - listPrice(value, currency));
    case 'price':
      return listPrice(value, currency);
    case 'none':
      return full;
  }
}
