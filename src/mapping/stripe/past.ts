import type { Amounts } from '../../records/past-values.ts';
import { type ValueSighting, sumsOf } from '../../ingest/histories/past-values.ts';
import { type JsonObject, isObject, objectsIn } from '../../json.ts';
import { priceDecimals, roundHalfAway, unitsOf } from '../../money.ts';
import { costOf, isKnown, readCount, stripeDigitsOf } from './amounts.ts';
import { isMetered, listedIn, priceSubscription, recurringOf } from './subscription.ts';

/*
 * What a subscription was worth, from objects that show it as it once was
 * (docs/decisions/0015-prices-and-their-past.md).
 */

/**
 * What a subscription costs by interval; undefined if the data does not say all of it.
 * @param at the time of the data, in epoch seconds
 */
function amountsIn(subscription: JsonObject, currency: string, at: number): Amounts | undefined {
  const { subscription: priced, problems } = priceSubscription(subscription, { currency, at });
  const { plan } = (priced['priced'] ?? {}) as { readonly plan?: JsonObject };
  if (problems.length > 0 || !plan) return undefined;
  const sums = listedIn(priced).map(({ unit_price: price, quantity, own = recurringOf(plan) }) => {
    const { interval, interval_count: count } = own as JsonObject;
    const sum = unitsOf(String(price), priceDecimals) * BigInt(Number(quantity));
    return [`${String(interval)} ${Math.max(1, readCount(count, 1))}`, sum] as const;
  });
  return sumsOf(sums);
}

/** What a subscription was worth in the states in which events showed it. */
export function sightingsIn(states: readonly JsonObject[], currency: string): ValueSighting[] {
  return states.flatMap((state) => {
    const at = Number(state['event_created']);
    const amounts = amountsIn(state, currency, at);
    return amounts ? [{ at: at * 1000, amounts, shows: 'all' as const }] : [];
  });
}

/** What a line of an invoice bills of an item of the subscription. */
interface ItemLine extends JsonObject {
  readonly item: unknown;
  /** When its period began, or of a proration, when the item changed. */
  readonly at: number;
  readonly amount: number;
  readonly isProration: boolean;
  readonly price: JsonObject;
}

/** The lines for items; undefined if they do not say all of it. */
function itemLinesOf({ lines: list }: JsonObject): readonly ItemLine[] | undefined {
  if (!isObject(list) || list['has_more'] === true) return undefined;
  const lines: ItemLine[] = [];
  for (const line of objectsIn(list['data'])) {
    const { parent, pricing, period, taxes, tax_amounts: olderTaxes } = line;
    const of = isObject(parent) ? parent[String(parent['type'])] : line;
    const { subscription_item: item, proration } = isObject(of) ? of : {};
    // Anything else that is sold with it.
    if (!item && proration !== true) continue;
    const details = isObject(pricing) ? pricing['price_details'] : undefined;
    const { price } = isObject(details) ? details : line;
    const isInclusive = [...objectsIn(taxes), ...objectsIn(olderTaxes)].some(
      (tax) => tax['tax_behavior'] === 'inclusive' || tax['inclusive'] === true,
    );
    // The rate of a tax in the price is not in the data.
    if (!item || !isObject(price) || !isObject(period) || isInclusive) return undefined;
    if (isMetered(price)) continue;
    const [at, amount] = [Number(period['start']), Number(line['amount'])];
    lines.push({ ...line, item, at, amount, isProration: proration === true, price });
  }
  return lines;
}

/** Whether a line bills one whole cycle: no part of one, no trial, and no price of its own. */
function isWholeCycle({ price, quantity, amount }: ItemLine, currency: string): boolean {
  const cost = costOf(price, readCount(quantity, 1), currency);
  const digits = stripeDigitsOf(currency);
  return isKnown(cost) && amount > 0 && roundHalfAway(cost, digits) === amount / 10 ** digits;
}

const isSame = (one: ItemLine, other: ItemLine | undefined) =>
  one.price['id'] === other?.price['id'] && one['quantity'] === other?.['quantity'];

/** The discounts of an invoice, which counted for it also if they have been taken away since. */
function asApplied(discounts: unknown): readonly unknown[] {
  if (!Array.isArray(discounts)) return [];
  return discounts.map((each) => (isObject(each) ? { ...each, deleted: undefined } : each));
}

/**
 * What an invoice shows that its subscription was worth: from the beginning of the cycle that it bills, and, going back
 * from there, from each change on of which it has the prorations. One that bills nothing else has only the items that
 * changed.
 */
export function sightingsInInvoice(invoice: JsonObject, currency: string): ValueSighting[] {
  const { discounts, discount, default_tax_rates, automatic_tax, created } = invoice;
  const lines = itemLinesOf(invoice) ?? [];
  const billed = lines.filter(({ isProration }) => !isProration);
  const [first] = billed;
  let state = new Map(billed.map((line) => [line.item, line]));
  const isWhole = billed.every((line) => line.at === first?.at && isWholeCycle(line, currency));
  if (!isWhole || state.size < billed.length) return [];

  const seen: ValueSighting[] = [];
  const see = (at: number, items: readonly ItemLine[], shows: 'cycle' | 'change') => {
    const data = items.map((line) => ({ ...line, discounts: asApplied(line['discounts']) }));
    const terms = { discount, discounts: asApplied(discounts), default_tax_rates, automatic_tax };
    // A discount may be some seconds younger than what it was given with.
    const time = at === first?.at || shows === 'change' ? Number(created) : at;
    const subscription = { ...terms, currency: invoice['currency'], items: { data } };
    const amounts = amountsIn(subscription, currency, time);
    if (!amounts || Object.keys(amounts).length > 1) return;
    seen.push({ at: at * 1000, amounts, shows });
  };
  if (first) see(first.at, billed, 'cycle');
  // A proration does not say which discounts its item had then.
  if (lines.some((line) => asApplied(line['discounts']).length > 0)) return seen;
  const prorations = lines.filter(({ isProration }) => isProration);
  const changes = [...Map.groupBy(prorations, ({ at }) => at)].toSorted(([a], [b]) => b - a);
  for (const [at, changed] of changes) {
    const credits = changed.filter(({ amount }) => amount < 0);
    const debits = changed.filter(({ amount }) => amount >= 0);
    if (!first) {
      if (debits.length > 0) see(at, debits, 'change');
      break;
    }
    const isKnownThen = debits.every((line) => isSame(line, state.get(line.item)));
    if (!isKnownThen || at > first.at || state.size === 0) break;
    if (at < first.at) see(at, [...state.values()], 'cycle');
    const left = new Map(state);
    for (const { item } of debits) left.delete(item);
    for (const line of credits) left.set(line.item, line);
    state = left;
  }
  return seen;
}
