import { type PlanTemplate, PLANS, PRODUCTS } from './catalogue.ts';
import { type Currency, formatMinor, listPrice, percentOff } from './money.ts';
import type { PlanRecord } from './records.ts';
import type { DiscountType, IntervalUnit, PlanType } from '../vocabulary.ts';

const FIRST_PLAN_ID = 11;
const FIRST_PRODUCT_ID = 81;
const FIRST_VARIANT_ID = 201;

/** The share of the history after which retired plans were withdrawn. */
export const RETIRED_AFTER = 0.45;

/** A product variant at a plan's price. */
interface PricedVariant {
  variantId: number;
  title: string;
  /** Minor units of the shop's currency, after discount. */
  price: number;
}

interface PricedProduct {
  productId: number;
  title: string;
  variants: readonly PricedVariant[];
}

/** A plan with the parameters of the simulation. */
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

/** The shop's plans in order of id, priced in its currency. */
export function createPlans(currency: Currency, startAt: string, retiredAt: string): Plan[] {
  return PLANS.map((template, index) => {
    const id = FIRST_PLAN_ID + index;
    const [count, unit] = template.every;
    const record: PlanRecord = {
      type: 'plan',
      id,
      name: template.name,
      groupName: template.groupName,
      planType: template.planType,
      intervalUnit: unit,
      intervalCount: count,
      active: !template.retired,
      productIds: [...template.productIds],
      updatedAt: template.retired ? retiredAt : startAt,
    };
    if (template.discount) record.pricing = writePricing(template.discount, currency);
    return {
      id,
      planType: template.planType,
      unit,
      count,
      products: priceProducts(template, currency),
      popularity: template.popularity,
      churn: template.churn,
      term: template.term,
      retired: template.retired ?? false,
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

function priceProducts(template: PlanTemplate, currency: Currency): PricedProduct[] {
  let variantId = FIRST_VARIANT_ID;
  const all = PRODUCTS.map((product, index) => ({
    productId: FIRST_PRODUCT_ID + index,
    title: product.title,
    variants: product.variants.map(([title, cents]) => ({
      variantId: variantId++,
      title,
      price: discounted(cents, template, currency),
    })),
  }));
  return all.filter(({ productId }) => template.productIds.includes(productId));
}

function discounted(cents: number, template: PlanTemplate, currency: Currency): number {
  const full = listPrice(cents, currency);
  const [type, value] = template.discount ?? ['none', 0];
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
