import type { Sql } from '../../../store/database.ts';
import { type LinkedShop, findShopifyShop, linkConnectedShop } from '../store/shops.ts';

/** Finds the shop of a domain. Caches it, so that most webhooks need no query. */
export class ShopDirectory {
  readonly #sql: Sql;
  readonly #findConnected: (domain: string) => Promise<number | undefined>;
  readonly #known = new Map<string, LinkedShop>();

  /** @param findConnected finds a shop that is connected, but was not synced yet */
  constructor(sql: Sql, findConnected: (domain: string) => Promise<number | undefined>) {
    this.#sql = sql;
    this.#findConnected = findConnected;
  }

  /**
   * @param domain in lower case
   * @param isFresh bypasses the cache: the domain may have moved to another shop
   */
  async find(domain: string, { isFresh = false } = {}): Promise<LinkedShop | undefined> {
    const known = this.#known.get(domain);
    if (known && !isFresh) return known;
    const found = (await findShopifyShop(this.#sql, domain)) ?? (await this.#link(domain));
    if (found) this.#known.set(domain, found);
    else this.#known.delete(domain);
    return found;
  }

  /** A signed webhook from a domain that the operator or the owner has named proves that the app is installed there. */
  async #link(domain: string): Promise<LinkedShop | undefined> {
    const shopId = await this.#findConnected(domain);
    if (shopId === undefined) return undefined;
    await linkConnectedShop(this.#sql, { shopId, domain });
    return findShopifyShop(this.#sql, domain);
  }
}
