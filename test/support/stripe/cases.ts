import { type Case, world as allCases } from '../../feeds/mapping/stripe/cases.ts';
import {
  closeDispute,
  costOf,
  credit,
  decline,
  dispute,
  makeInvoice,
  pay,
  refund,
} from './billing.ts';
import { itemsOf } from './invoice-lines.ts';
import { type StripeObject, isObject } from './schema.ts';
import type { StripeWorld } from './world.ts';

interface List {
  readonly data: readonly StripeObject[];
  readonly has_more?: boolean;
}

/** A price in the place of a plan, which older objects have instead. */
function priceOf(plan: StripeObject): StripeObject {
  const { amount, amount_decimal: decimal, transform_usage: transform = null } = plan;
  return {
    ...Object.fromEntries(
      [
        'id',
        'active',
        'billing_scheme',
        'created',
        'currency',
        'nickname',
        'product',
        'tiers',
        'tiers_mode',
      ]
        .filter((name) => plan[name] !== undefined && (name !== 'tiers' || plan[name] !== null))
        .map((name) => [name, plan[name]]),
    ),
    billing_scheme: plan['billing_scheme'] ?? 'per_unit',
    type: 'recurring',
    tax_behavior: 'unspecified',
    unit_amount: amount ?? null,
    unit_amount_decimal: decimal ?? (typeof amount === 'number' ? String(amount) : null),
    transform_quantity: transform,
    recurring: {
      interval: plan['interval'],
      interval_count: plan['interval_count'] ?? 1,
      meter: null,
      trial_period_days: null,
      usage_type: plan['usage_type'] ?? 'licensed',
    },
  };
}

const withoutUndefined = (object: StripeObject) =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

/** A discount as it is now: the coupon is its source. */
function discountOf(discount: StripeObject): StripeObject {
  const { coupon = couponOf(discount), ...rest } = discount;
  const { script: _unpublished, ...known } = coupon as StripeObject;
  return withoutUndefined({ ...rest, source: { type: 'coupon', coupon: known } });
}

/** Why the API could not answer with an object: only files and tables can leave out so much. */
function lacks(subscription: StripeObject): boolean {
  const { items, discounts = [] } = subscription;
  if ('last_synced_at' in subscription || typeof items === 'string') return true;
  const { data = [], has_more: hasMore } = (items ?? {}) as Partial<List>;
  const all = [discounts, ...data.map((item) => item['discounts'] ?? [])].flat() as unknown[];
  return (
    hasMore === true ||
    all.some((each) => !isObject(each) || typeof couponOf(each) === 'string') ||
    data.some((item) => {
      const price = item['price'] ?? item['plan'];
      if (!isObject(price)) return true;
      const { interval = price['interval'] } = (price['recurring'] ?? {}) as StripeObject;
      return (
        !['day', 'week', 'month', 'year'].includes(String(interval)) ||
        (price['billing_scheme'] === 'tiered' && price['tiers'] === undefined)
      );
    })
  );
}

const couponOf = (discount: StripeObject) =>
  isObject(discount['source']) ? discount['source']['coupon'] : discount['coupon'];

/** A subscription of any version in the form of the present one. */
function modernise(old: StripeObject): StripeObject {
  const {
    discount,
    current_period_start: start,
    current_period_end: end,
    plan,
    quantity,
    schedule,
    ...rest
  } = old;
  const items = (rest['items'] ?? { data: [{ plan, quantity }] }) as List;
  const data = items.data.map((item) => {
    const { plan: own, price = priceOf(own as StripeObject), discounts = [], ...other } = item;
    return withoutUndefined({
      current_period_start: start,
      current_period_end: end,
      subscription: rest['id'],
      ...other,
      price,
      plan: (price as StripeObject)['id'],
      discounts: (discounts as StripeObject[]).map(discountOf),
      quantity: other['quantity'] ?? undefined,
    });
  });
  const discounts = (rest['discounts'] ?? (discount ? [discount] : [])) as StripeObject[];
  return withoutUndefined({
    ...rest,
    currency: rest['currency'] ?? (data[0]?.['price'] as StripeObject | undefined)?.['currency'],
    discounts: discounts.map(discountOf),
    schedule: isObject(schedule) ? schedule['id'] : schedule,
    latest_invoice: null,
    items: {
      object: 'list',
      data,
      has_more: false,
      url: `/v1/subscription_items?subscription=${rest['id']}`,
    },
  });
}

/** Adds the objects of cases, and tells which of them the API can answer with. */
export function addCases(world: StripeWorld, cases: readonly Case[] = allCases): readonly Case[] {
  const added = cases.filter(({ subscription }) => !lacks(subscription));
  for (const { subscription } of added) {
    const modern = modernise(subscription);
    if (typeof modern['customer'] === 'string') addOnce(world, 'customer', modern['customer']);
    const { subscription_items: pending } = (modern['pending_update'] ?? {}) as StripeObject;
    for (const item of [
      ...(modern['items'] as List).data,
      ...((pending ?? []) as StripeObject[]),
    ]) {
      const { product } = item['price'] as StripeObject;
      if (typeof product === 'string') addOnce(world, 'product', product, { name: product });
    }
    world.add('subscription', modern);
  }
  return added;
}

function addOnce(world: StripeWorld, kind: string, id: string, rest: StripeObject = {}): void {
  if (!world.peek(kind, id)) world.add(kind, { ...rest, id });
}

const collected = new Set<unknown>(['active', 'paused', 'canceled']);
const declined = new Set<unknown>(['past_due', 'unpaid', 'incomplete']);

/** Adds an invoice for the present period of each subscription, and refunds, disputes and credit notes of some. */
export function addPayments(world: StripeWorld): void {
  let paid = 0;
  for (const subscription of world.list('subscription').toReversed()) {
    const { id, status, pause_collection: pause } = subscription;
    const start = Number(itemsOf(subscription)[0]?.['current_period_start']);
    world.inThePast(Math.min(start, world.now), () => {
      if (!collected.has(status) && !declined.has(status)) return;
      const invoice = makeInvoice(world, String(id), 'subscription_cycle');
      if (declined.has(status)) return decline(world, invoice);
      pay(world, invoice);
      if (status !== 'active' || pause !== null || costOf(world, subscription) === 0) return;
      paid += 1;
      for (const [nth, act] of Object.entries(acts)) {
        if (paid % Number(nth) === 0) return act(world, invoice);
      }
    });
  }
}

/** What happens to every nth payment; the first that fits. */
const acts: Readonly<Record<number, (world: StripeWorld, invoice: string) => void>> = {
  7: (world, invoice) => void refund(world, invoice, 0.3),
  11: (world, invoice) => void refund(world, invoice),
  13: (world, invoice) => closeDispute(world, dispute(world, invoice), 'lost'),
  17: (world, invoice) => closeDispute(world, dispute(world, invoice), 'won'),
  19: (world, invoice) => credit(world, invoice, 0.5),
};
