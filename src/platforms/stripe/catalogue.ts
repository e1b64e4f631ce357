import type { Clock } from '../../clock.ts';
import { type JsonObject, isObject, objectsIn } from '../../json.ts';
import type { Resource, StripeClient } from './client.ts';

/** When it has so many, or after so long, all are forgotten. */
const maxKnown = 5_000;
const maxAgeMilliseconds = 10 * 60_000;
const idsPerRequest = 100;

/**
 * What subscriptions refer to, for the syncs and webhooks of one connection: Stripe expands lists only to four levels, and
 * tiers, products and whole coupons lie deeper.
 */
export class Catalogue {
  readonly #client: StripeClient;
  readonly #clock: Clock;
  readonly #known = new Map<string, JsonObject | undefined>();
  /** Since when, in epoch milliseconds. */
  #since = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(client: StripeClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Something that it knows may have changed. */
  forget(): void {
    this.#since = 0;
  }

  /** Subscriptions and invoices with what they lack. One call at a time, so that none forgets what another one needs. */
  complete(objects: readonly JsonObject[]): Promise<readonly JsonObject[]> {
    const completed = this.#last.catch(() => {}).then(() => this.#completeAll(objects));
    this.#last = completed;
    return completed;
  }

  async #completeAll(objects: readonly JsonObject[]): Promise<readonly JsonObject[]> {
    const now = this.#clock.now();
    if (this.#known.size > maxKnown || now - this.#since >= maxAgeMilliseconds) {
      this.#known.clear();
      this.#since = now;
    }
    await this.#readProducts(objects.flatMap(itemsOf));
    // One after the other, since several may lack the same.
    return Array.fromAsync(objects, (each) =>
      each['object'] === 'invoice' ? this.#completeInvoice(each) : this.#complete(each),
    );
  }

  async #complete(subscription: JsonObject): Promise<JsonObject> {
    const data = await Array.fromAsync(itemsOf(subscription), async ({ price, ...item }) => ({
      ...(await this.#withDiscounts(item)),
      price: isObject(price) ? await this.#price(price, String(subscription['currency'])) : price,
    }));
    const { items, customer } = subscription;
    return {
      ...(await this.#withDiscounts(subscription)),
      items: { ...(items as JsonObject), data },
      customer: isObject(customer)
        ? { ...customer, discount: await this.#discount(customer['discount']) }
        : customer,
    };
  }

  async #completeInvoice({ lines, ...invoice }: JsonObject): Promise<JsonObject> {
    const list = isObject(lines) ? lines : {};
    const data = await Array.fromAsync(objectsIn(list['data']), async ({ pricing, ...line }) => {
      const { price_details: details } = isObject(pricing) ? pricing : {};
      const id = isObject(details) ? details['price'] : undefined;
      const price = await this.#priceOf(id, String(invoice['currency']));
      return { ...(await this.#withDiscounts(line)), pricing: { price_details: { price } } };
    });
    return { ...(await this.#withDiscounts(invoice)), lines: { ...list, data } };
  }

  async #priceOf(id: unknown, currency: string): Promise<JsonObject | undefined> {
    const known = this.#known.get(`price ${String(id)} ${currency}`);
    if (known || typeof id !== 'string') return known;
    const found = await this.#client.find('prices', id, ['tiers']);
    return found && this.#price(found, currency);
  }

  async #price(price: JsonObject, currency: string): Promise<JsonObject> {
    const { id, tiers, currency_options: options, product } = price;
    const isTiered = price['billing_scheme'] === 'tiered';
    const isOther = price['currency'] !== currency && options === undefined;
    const expand = [
      ...(isTiered ? ['tiers'] : []),
      ...(isOther ? [`currency_options${isTiered ? `.${currency}.tiers` : ''}`] : []),
    ];
    const lacks = isOther || (isTiered && tiers === undefined);
    const whole = lacks ? await this.#find('prices', id, expand) : undefined;
    const completed = { ...whole, ...price, product: this.#known.get(String(product)) ?? product };
    this.#known.set(`price ${String(id)} ${currency}`, completed);
    return completed;
  }

  async #withDiscounts({ discounts, ...object }: JsonObject): Promise<JsonObject> {
    if (!Array.isArray(discounts))
      return { ...object, ...(discounts !== undefined && { discounts }) };
    return {
      ...object,
      discounts: await Array.fromAsync(discounts, (each) => this.#discount(each)),
    };
  }

  /** A coupon says only if asked for which products it is. */
  async #discount(discount: unknown): Promise<unknown> {
    const source = isObject(discount) ? discount['source'] : undefined;
    if (!isObject(discount) || !isObject(source)) return discount;
    const { coupon } = source;
    const id = isObject(coupon) ? coupon['id'] : coupon;
    const whole = await this.#find('coupons', id, ['applies_to', 'currency_options']);
    // One that was deleted goes on; it is in the discount only.
    return { ...discount, source: { ...source, coupon: whole ?? coupon } };
  }

  async #find(
    resource: Resource,
    id: unknown,
    expand: readonly string[],
  ): Promise<JsonObject | undefined> {
    if (typeof id !== 'string') return undefined;
    // Ids of coupons are the merchant's.
    const key = `${resource} ${id}`;
    if (!this.#known.has(key)) this.#known.set(key, await this.#client.find(resource, id, expand));
    return this.#known.get(key);
  }

  /** Many subscriptions may have a product of their own. */
  async #readProducts(items: readonly JsonObject[]): Promise<void> {
    const products = items.map(({ price }) => (isObject(price) ? price['product'] : undefined));
    const unknown = [...new Set(products)].filter(
      (id) => typeof id === 'string' && !this.#known.has(id),
    ) as string[];
    for (let begin = 0; begin < unknown.length; begin += idsPerRequest) {
      const ids = unknown.slice(begin, begin + idsPerRequest);
      for await (const each of this.#client.list('products', { ids })) {
        this.#known.set(String(each['id']), each);
      }
      for (const id of ids) this.#known.getOrInsert(id, undefined);
    }
  }
}

export const itemsOf = ({ items }: JsonObject) =>
  objectsIn(isObject(items) ? items['data'] : undefined);
