import { type JsonObject, isObject, objectsIn } from '../../json.ts';
import { jsonValues } from '../rows.ts';
import { inMinorUnits, readNumber } from '../stripe/amounts.ts';

/** A subscription of Recurly in Stripe's form: its plan, and the sum of its add-ons. */
export function fromRecurly(row: JsonObject): JsonObject | undefined {
  const { object, state, plan, add_ons_total: addOns } = row;
  if (object !== 'subscription' || !state || !isObject(plan)) return undefined;
  const currency = String(row['currency']).toUpperCase();
  const rate = Number(jsonValues(row).get('tax_info.rate'));
  const includesTax = row['tax_inclusive'] === true && Number(row['tax']) !== 0;
  const itemOf = ({ id, name: nickname }: JsonObject, amount: unknown, quantity: unknown) => {
    const unit_amount = inMinorUnits(readNumber(amount), currency);
    return { quantity, price: { id, nickname, tax_behavior: 'inclusive', unit_amount } };
  };
  const planItem = itemOf(plan, row['unit_amount'], row['quantity']);
  const addOnItem = itemOf({ id: 'add-ons', name: 'Add-ons' }, addOns, 1);
  return {
    id: row['id'],
    currency,
    lacks_discounts: objectsIn(row['coupon_redemptions']).some(isUnclear),
    automatic_tax: { enabled: includesTax },
    default_tax_rates: includesTax && rate > 0 ? [{ inclusive: true, percentage: rate * 100 }] : [],
    items: Number(addOns ?? 0) === 0 ? [planItem] : [planItem, addOnItem],
  };
}

/** Only the list of coupons says how long one lasts. */
const isUnclear = (redemption: JsonObject) =>
  redemption['state'] === 'active' &&
  jsonValues(redemption).get('coupon.discount.type') !== 'free_trial';
