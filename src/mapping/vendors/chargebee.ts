import { type JsonObject, isObject, objectsIn } from '../../json.ts';
import { shopDigitsOf } from '../../money.ts';
import { divide, inMinorUnits, integer, readNumber } from '../stripe/amounts.ts';

/** A subscription of Chargebee in Stripe's form; its plan comes first. */
export function fromChargebee({ subscription: given }: JsonObject, at: number) {
  if (!isObject(given)) return undefined;
  const { status, cancelled_at: cancelled, trial_end: trialEnd } = given;
  const ended = status === 'cancelled' ? cancelled : undefined;
  const currency = String(given['currency_code']).toUpperCase();
  const minor = (amount: unknown, digits = shopDigitsOf(currency)) => {
    const read = readNumber(amount);
    return inMinorUnits(read && divide(read, integer(10 ** digits)), currency);
  };
  const goesOn = ({ duration_type: duration, apply_till: till }: JsonObject) =>
    duration !== 'one_time' && !(Number(till ?? Infinity) <= Number(ended ?? at));
  const [coupons, discounts] = [objectsIn(given['coupons']), objectsIn(given['discounts'])];
  const named = new Set(discounts.map(({ coupon_id: id }) => id));
  return {
    ...given,
    currency,
    status: ended ? 'canceled' : status,
    ended_at: ended,
    start_date: given['started_at'] ?? given['created_at'],
    lacks_discounts: coupons.some((each) => goesOn(each) && !named.has(each['coupon_id'])),
    discounts: discounts
      .filter(goesOn)
      .map(({ id, percentage, amount, apply_on: on, item_price_id: product }) => ({
        id,
        coupon: {
          percent_off: percentage,
          amount_off: minor(amount),
          applies_to: on === 'specific_item_price' && { products: [product] },
        },
      })),
    items: objectsIn(given['subscription_items'])
      .filter(({ item_type: type }) => type === 'plan' || type === 'addon')
      .toSorted((a, b) => String(b['item_type']).localeCompare(String(a['item_type'])))
      .map((item) => {
        const { item_price_id: id, amount_in_decimal: decimal, amount } = item;
        const isOnTrial = Number(item['trial_end']) > Math.max(at, Number(trialEnd ?? 0));
        const flat = decimal ? minor(decimal, 0) : minor(amount);
        // What all units cost, whatever the tiers; a line has no trial of its own.
        const tiers = [{ flat_amount: isOnTrial ? undefined : flat }];
        const recurring = recurringOf(item, given);
        const units = item['quantity_in_decimal'] ?? item['quantity'];
        // The amount is of all units, of which a line has a whole number.
        const quantity = Number(units) % 1 > 0 ? 1 : units;
        return { quantity, price: { id, product: id, tiers_mode: 'volume', tiers, recurring } };
      }),
  };
}

/** An item's interval may be that of its price alone, unless it is billed at times of its own. */
function recurringOf(item: JsonObject, subscription: JsonObject) {
  const isOwn = item['next_billing_at'] ?? item['current_term_end'];
  const { billing_period: count, billing_period_unit: interval } = isOwn ? item : subscription;
  const used = item['metered_quantity'] ?? item['last_calculated_at'] ?? null;
  return { interval, interval_count: count, usage_type: used === null ? 'licensed' : 'metered' };
}
