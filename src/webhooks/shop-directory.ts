import type { Sql } from '../store/database.ts';
import { type ShopifyShop, findShopifyShop, linkShopifyShops } from '../store/shopify-shops.ts';

/** Which shop a domain belongs to. What was found is remembered, so that a webhook costs no look-up. */
export class ShopDirectory {
  readonly #sql: Sql;
  readonly #known = new Map<string, number>();

  private constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** @param shops those of the credentials */
  static async open(sql: Sql, shops: readonly ShopifyShop[]): Promise<ShopDirectory> {
    await linkShopifyShops(sql, shops);
    return new ShopDirectory(sql);
  }

  /** @param domain in lower case */
  async find(domain: string): Promise<number | undefined> {
    const known = this.#known.get(domain);
    if (known !== undefined) return known;
    const found = await findShopifyShop(this.#sql, domain);
    if (found !== undefined) this.#known.set(domain, found);
    return found;
  }
}
