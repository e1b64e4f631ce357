import type { StripeObject } from './schema.ts';
import type { StripeWorld } from './world.ts';

/* The lines of invoices, as Stripe makes them of a subscription's items. */

export const itemsOf = (subscription: StripeObject): StripeObject[] =>
  (subscription['items'] as { readonly data: StripeObject[] }).data;

interface Billed {
  readonly item: StripeObject;
  readonly amount: number;
  readonly start: number;
  readonly isProration?: boolean;
}

/** Those of the discounts that count now. */
export function goingOn(world: StripeWorld, discounts: unknown): readonly string[] {
  return (discounts as readonly string[]).filter((each) => {
    const { start, end } = world.get('discount', each);
    return Number(start) <= world.now && (end === null || Number(end) > world.now);
  });
}

/** Whether the price of an item has a tax in it. */
function isTaxed(world: StripeWorld, item: StripeObject, subscription: StripeObject): boolean {
  const rates = [item['tax_rates'], subscription['default_tax_rates']].find(
    (list) => Array.isArray(list) && list.length > 0,
  ) as readonly string[] | undefined;
  const { enabled } = subscription['automatic_tax'] as StripeObject;
  const { tax_behavior: behavior } = world.get('price', String(item['price']));
  return (
    (enabled === true && behavior === 'inclusive') ||
    (rates ?? []).some((each) => world.get('tax_rate', each)['inclusive'] === true)
  );
}

function lineOf(
  world: StripeWorld,
  subscription: StripeObject,
  { item, amount, start, isProration = false }: Billed,
): StripeObject {
  const { price, quantity = 1 } = item;
  const { id, currency, livemode } = subscription;
  return {
    id: world.makeId('line_item'),
    object: 'line_item',
    amount,
    currency,
    livemode,
    parent: {
      type: 'subscription_item_details',
      invoice_item_details: null,
      subscription_item_details: {
        invoice_item: isProration ? world.makeId('invoice_item') : null,
        proration: isProration,
        proration_details: null,
        subscription: id,
        subscription_item: item['id'],
      },
    },
    period: { start, end: item['current_period_end'] ?? start },
    pricing: {
      type: 'price_details',
      price_details: { price, product: world.get('price', String(price))['product'] },
      unit_amount_decimal: null,
    },
    quantity,
    quantity_decimal: null,
    subscription: id,
    subtotal: amount,
    discounts: goingOn(world, item['discounts'] ?? []),
    ...(isTaxed(world, item, subscription) && {
      taxes: [
        {
          amount: 1,
          tax_behavior: 'inclusive',
          tax_rate_details: null,
          taxability_reason: 'standard_rated',
          taxable_amount: null,
          type: 'tax_rate_details',
        },
      ],
    }),
  };
}

/** What an item costs for one period, before discounts. */
function priceOf(world: StripeWorld, { price, quantity }: StripeObject): number {
  return Number(world.get('price', String(price))['unit_amount'] ?? 0) * Number(quantity ?? 1);
}

export function isMetered(world: StripeWorld, { price }: StripeObject): boolean {
  const { recurring } = world.get('price', String(price));
  return ((recurring ?? {}) as StripeObject)['usage_type'] === 'metered';
}

/** The lines of a period that begins now. */
export function linesOf(world: StripeWorld, subscription: StripeObject): StripeObject[] {
  return itemsOf(subscription)
    .filter((item) => !isMetered(world, item))
    .map((item) => {
      const start = Number(item['current_period_start'] ?? world.now);
      return lineOf(world, subscription, { item, amount: priceOf(world, item), start });
    });
}

/** Lines that are on the next invoice, of subscriptions by their ids. */
const pending = new WeakMap<StripeWorld, Map<string, StripeObject[]>>();

export function takePending(world: StripeWorld, id: string): readonly StripeObject[] {
  const lines = pending.get(world)?.get(id) ?? [];
  pending.get(world)?.delete(id);
  return lines;
}

/** Credits what is unused of the items that have changed, and bills the rest of the period anew, if it goes on. */
export function prorate(world: StripeWorld, before: StripeObject, after: StripeObject): void {
  const { now } = world;
  const id = String(after['id']);
  const lines = itemsOf(before).flatMap((old) => {
    const item = itemsOf(after).find((each) => each['id'] === old['id']) ?? old;
    const isMoved = item['current_period_end'] !== old['current_period_end'];
    const [start, end] = [Number(old['current_period_start']), Number(old['current_period_end'])];
    const partOf = (each: StripeObject) =>
      Math.round((priceOf(world, each) * (end - now)) / (end - start));
    if (item['price'] === old['price'] && item['quantity'] === old['quantity']) return [];
    const credit = { item: old, amount: -partOf(old), start: now, isProration: true };
    const debit = { item, amount: partOf(item), start: now, isProration: true };
    return (isMoved ? [credit] : [credit, debit]).map((each) => lineOf(world, after, each));
  });
  const ofWorld = pending.get(world) ?? new Map<string, StripeObject[]>();
  pending.set(world, ofWorld);
  ofWorld.set(id, [...(ofWorld.get(id) ?? []), ...lines]);
}
