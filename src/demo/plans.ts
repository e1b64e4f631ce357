import { type Currency, formatMinor, listPrice, percentOff } from './money.ts';
import { chance, createRandom, integer, pick, pickWeighted, type Random, weigh } from './random.ts';
import type { LineRecord, PlanRecord } from './records.ts';
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
export interface Plan extends Simulated {
  id: number;
  unit: IntervalUnit;
  count: number;
  products: readonly PricedProduct[];
  addOn: PricedProduct | undefined;
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
      productIds: [...template.productIds, ...(template.addOn?.productIds ?? [])],
      updatedAt: template.retired ? retiredAt : startAt,
    };
    if (template.discount) record.pricing = writePricing(template.discount, currency);
    const addOn = template.addOn && priceProducts(template.addOn, currency)[0];
    const products = priceProducts(template, currency);
    return { ...template, id, unit, count, products, addOn, record };
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

function priceProducts(template: Offer, currency: Currency): PricedProduct[] {
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

function discounted(cents: number, template: Offer, currency: Currency): number {
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

/** A product without ids or currency. */
interface ProductTemplate {
  title: string;
  /** Title and price in US cents; a product without variants has one entry with an empty title. */
  variants: readonly (readonly [title: string, cents: number])[];
}

// Ids follow this order.
const PRODUCTS: readonly ProductTemplate[] = [
  { title: 'House Blend', variants: bags(950, 1700, 3100) },
  { title: 'Espresso No. 4', variants: bags(1050, 1900, 3500) },
  { title: 'Morning Filter', variants: bags(1000, 1800, 3300) },
  { title: 'Slow Decaf', variants: bags(1100, 2000, 3650) },
  { title: 'Single Origin of the Month', variants: [['', 1950]] },
  { title: 'Assam Breakfast', variants: boxes(850, 1450) },
  { title: 'Sencha', variants: boxes(1100, 1950) },
  { title: 'Rooibos and Orange', variants: boxes(800, 1350) },
  { title: 'Tea of the Season', variants: [['', 1650]] },
  { title: 'Club membership', variants: [['', 4500]] },
  { title: 'Grinder service', variants: [['', 3800]] },
  {
    title: 'Gift box',
    variants: [
      ['Small', 3600],
      ['Large', 5400],
    ],
  },
];

const COFFEES = [81, 82, 83, 84, 85];
const TEAS = [86, 87, 88, 89];

/** Products at a discount. */
interface Offer {
  /** The value is a percentage or US cents; null if the source gives no pricing. */
  discount: readonly [type: DiscountType, value: number] | null;
  productIds: readonly number[];
}

const CLUB: Offer = { discount: ['price', 3900], productIds: [90] };

/** What the simulation needs to know of a plan. */
interface Simulated {
  planType: PlanType;
  popularity: number;
  /** Multiplies the probability of cancelling in a period. */
  churn: number;
  /** Paid periods after which it expires; without it, the subscription never expires. */
  term?: number;
  /** How long it is free at first. */
  trialDays?: number;
  /** When its prices rose for all who had it, days before the end of the history, and the earlier ones in percent. */
  raised?: { daysAgo: number; percent: number };
  retired?: true;
}

/** A selling plan without ids or currency. */
interface PlanTemplate extends Simulated, Offer {
  name: string;
  groupName: string;
  every: readonly [count: number, unit: IntervalUnit];
  /** What few subscriptions have besides, billed by the year. */
  addOn?: Offer;
}

// Ids follow this order.
const PLANS: readonly PlanTemplate[] = [
  {
    groupName: 'House Blend',
    name: 'Coffee, every month',
    planType: 'subscription',
    every: [1, 'month'],
    discount: ['percentage', 10],
    productIds: COFFEES,
    popularity: 17,
    churn: 1.1,
    addOn: CLUB,
  },
  {
    groupName: 'House Blend',
    name: 'Coffee, every 2 months',
    planType: 'subscription',
    every: [2, 'month'],
    discount: ['percentage', 5],
    productIds: COFFEES,
    popularity: 23,
    churn: 1,
    raised: { daysAgo: 130, percent: 92 },
  },
  {
    groupName: 'House Blend',
    name: 'Coffee, every 45 days',
    planType: 'subscription',
    every: [45, 'day'],
    discount: ['fixed_amount', 150],
    productIds: COFFEES,
    popularity: 10,
    churn: 1,
  },
  {
    groupName: 'House Blend',
    name: 'Coffee, every 2 weeks',
    planType: 'subscription',
    every: [2, 'week'],
    discount: ['percentage', 15],
    productIds: COFFEES,
    popularity: 4,
    churn: 0.8,
  },
  {
    groupName: 'House Blend',
    name: 'Coffee, half a year prepaid',
    planType: 'prepaid',
    every: [6, 'month'],
    discount: ['percentage', 12],
    productIds: COFFEES,
    popularity: 6,
    churn: 0.4,
    term: 2,
  },
  {
    groupName: 'Tea Cabinet',
    name: 'Tea, every month',
    planType: 'subscription',
    every: [1, 'month'],
    discount: ['fixed_amount', 100],
    productIds: TEAS,
    popularity: 6,
    churn: 1.1,
  },
  {
    groupName: 'Tea Cabinet',
    name: 'Tea, every season',
    planType: 'subscription',
    every: [3, 'month'],
    discount: null,
    productIds: TEAS,
    popularity: 11,
    churn: 1,
  },
  {
    groupName: 'Tea Cabinet',
    name: 'Tea, a season as a gift',
    planType: 'prepaid',
    every: [3, 'month'],
    discount: ['none', 0],
    productIds: [92],
    popularity: 5,
    churn: 0.2,
    term: 1,
  },
  {
    groupName: 'Tea Cabinet',
    name: 'Tea sampler, every 6 weeks',
    planType: 'subscription',
    every: [6, 'week'],
    discount: ['percentage', 20],
    productIds: TEAS,
    popularity: 8,
    churn: 1.2,
    retired: true,
  },
  {
    groupName: "Roasters' Club",
    name: 'Club, by the year',
    planType: 'membership',
    every: [1, 'year'],
    ...CLUB,
    popularity: 7,
    churn: 0.9,
    trialDays: 30,
  },
  {
    groupName: "Roasters' Club",
    name: 'Club, by the month',
    planType: 'membership',
    every: [1, 'month'],
    discount: ['price', 490],
    productIds: [90],
    popularity: 4,
    churn: 1,
    retired: true,
  },
  {
    groupName: "Roasters' Club",
    name: 'Grinder service, twice a year',
    planType: 'other',
    every: [6, 'month'],
    discount: ['none', 0],
    productIds: [91],
    popularity: 3,
    churn: 0.8,
  },
];

function bags(small: number, medium: number, large: number): ProductTemplate['variants'] {
  return [
    ['250 g', small],
    ['500 g', medium],
    ['1 kg', large],
  ];
}

function boxes(small: number, large: number): ProductTemplate['variants'] {
  return [
    ['20 bags', small],
    ['Loose, 200 g', large],
  ];
}

// 1.4 lines on average over all plans, including those with a single line.
const LINE_COUNTS = weigh([[1, 60], [2, 30], [3, 8], [4, 2]]); // prettier-ignore
const QUANTITIES = weigh([[1, 78], [2, 17], [3, 4], [4, 1]]); // prettier-ignore

/** The line items that a subscription delivers each period. */
export interface Basket {
  lines: LineRecord[];
  /** Σ price × quantity of what is billed each time, in minor units of the currency. */
  total: number;
  /** What is billed only once a year. */
  yearly: number;
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
  // A stream of its own, so that everything else about the shop is as it would be without it.
  const [addOn] = chance(createRandom(lineId, 1), 0.08) ? (plan.addOn?.variants ?? []) : [];
  if (plan.addOn && addOn) {
    lines.push({
      lineId: lineId + lines.length,
      productId: plan.addOn.productId,
      productTitle: plan.addOn.title,
      variantId: addOn.variantId,
      quantity: 1,
      currentPrice: formatMinor(addOn.price, minorDigits),
      intervalUnit: 'year',
      intervalCount: 1,
    });
  }
  return { lines, total, yearly: addOn?.price ?? 0 };
}
