import { type JsonObject, isObject, objectsIn } from '../../json.ts';
import type { Resource, StripeClient } from './client.ts';

/** Of each kind; when it is full, it begins anew. */
const maxKnown = 5_000;

/** How what subscriptions refer to is read. */
const expansions = {
  prices: ['tiers', 'currency_options'],
  products: [],
  coupons: ['applies_to', 'currency_options'],
} as const satisfies Partial<Record<Resource, readonly string[]>>;
type Kind = keyof typeof expansions;

/**
 * The prices, products and coupons of an account, for one sync: a list of subscriptions can be expanded only to four
 * levels, and these lie deeper.
 */
export class Catalogue {
  readonly #client: StripeClient;
  /** Whether all of a kind is read at once, for many subscriptions. */
  readonly #readsLists: boolean;
  readonly #known = new Map<Kind, Map<string, JsonObject | undefined>>();

  constructor(client: StripeClient, { readsLists }: { readonly readsLists: boolean }) {
    this.#client = client;
    this.#readsLists = readsLists;
  }

  /** A subscription with what the list lacks. */
  async complete(subscription: JsonObject): Promise<JsonObject> {
    const { items, customer } = subscription;
    const list = objectsIn(isObject(items) ? items['data'] : items);
    const completed: JsonObject[] = [];
    for (const item of list) {
      const { price, discounts } = item;
      completed.push({
        ...item,
        ...(isObject(price) && { price: await this.#price(price, subscription) }),
        ...(discounts !== undefined && { discounts: await this.#discounts(discounts) }),
      });
    }
    const { discounts } = subscription;
    return {
      ...subscription,
      ...(isObject(items) && { items: { ...items, data: completed } }),
      ...(discounts !== undefined && { discounts: await this.#discounts(discounts) }),
      ...(isObject(customer) && {
        customer: { ...customer, discount: await this.#discount(customer['discount']) },
      }),
    };
  }

  async #price(price: JsonObject, { currency }: JsonObject): Promise<JsonObject> {
    const { billing_scheme: scheme, tiers, currency_options: options, product, id } = price;
    const lacksTiers = scheme === 'tiered' && tiers === undefined;
    const lacksCurrency = price['currency'] !== currency && options === undefined;
    const whole = lacksTiers || lacksCurrency ? await this.#find('prices', id) : undefined;
    const found = isObject(product) ? undefined : await this.#find('products', product);
    return { ...whole, ...price, ...(found && { product: found }) };
  }

  async #discounts(discounts: unknown): Promise<unknown> {
    if (!Array.isArray(discounts)) return discounts;
    const completed: unknown[] = [];
    for (const each of discounts) completed.push(await this.#discount(each));
    return completed;
  }

  /** A coupon says for which products it is only if asked. */
  async #discount(discount: unknown): Promise<unknown> {
    const source = isObject(discount) ? discount['source'] : undefined;
    if (!isObject(discount) || !isObject(source)) return discount;
    const { coupon } = source;
    if (isObject(coupon) && coupon['applies_to'] !== undefined) return discount;
    // A coupon that was deleted goes on; it is in the discount only.
    const found = await this.#find('coupons', isObject(coupon) ? coupon['id'] : coupon);
    return { ...discount, source: { ...source, coupon: found ?? coupon } };
  }

  async #find(kind: Kind, id: unknown): Promise<JsonObject | undefined> {
    if (typeof id !== 'string') return undefined;
    const known = this.#known.get(kind) ?? (await this.#open(kind));
    if (known.has(id)) return known.get(id);
    const found = await this.#client.find(kind, id, expansions[kind]);
    if (known.size >= maxKnown) known.clear();
    known.set(id, found);
    return found;
  }

  async #open(kind: Kind): Promise<Map<string, JsonObject | undefined>> {
    const known = new Map<string, JsonObject | undefined>();
    this.#known.set(kind, known);
    if (!this.#readsLists) return known;
    const expand = expansions[kind].map((each) => `data.${each}`);
    for await (const each of this.#client.list(kind, { expand })) {
      if (known.size >= maxKnown) break;
      known.set(String(each['id']), each);
    }
    return known;
  }
}
