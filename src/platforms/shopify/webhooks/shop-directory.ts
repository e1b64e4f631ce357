import type { Sql } from '../../../store/database.ts';
import {
  type LinkedShop,
  type ShopifyShop,
  findShopifyShop,
  linkShopifyShops,
} from '../store/shops.ts';

/** Finds the shop of a domain. Caches it, so that most webhooks need no query. */
export class ShopDirectory {
  readonly #sql: Sql;
  readonly #known = new Map<string, LinkedShop>();

  private constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** @param shops from the credentials file */
  static async open(sql: Sql, shops: readonly ShopifyShop[]): Promise<ShopDirectory> {
    await linkShopifyShops(sql, shops);
    return new ShopDirectory(sql);
  }

  /**
   * @param domain in lower case
   * @param isFresh bypasses the cache: the domain may have moved to another shop
   */
  async find(domain: string, { isFresh = false } = {}): Promise<LinkedShop | undefined> {
    const known = this.#known.get(domain);
    if (known && !isFresh) return known;
    const found = await findShopifyShop(this.#sql, domain);
    if (found) this.#known.set(domain, found);
    else this.#known.delete(domain);
    return found;
  }
}
