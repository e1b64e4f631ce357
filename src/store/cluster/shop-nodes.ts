import { systemClock } from '../../clock.ts';
import type { Sql } from '../database.ts';
import { findGroupOfShop } from './membership.ts';

/** Shards rarely move, and a moved one can be read from any node, only not as fast. */
const rememberedMilliseconds = 60_000;
const maxShops = 10_000;

/** Remembers on which node each shop is. */
export class ShopNodes {
  readonly #sql: Sql;
  /** Undefined while a shop is being looked up, or if it was not found. */
  #groups = new Map<number, number | undefined>();
  #since = systemClock.monotonic();

  /** @param sql a connection to a node of the cluster */
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** @returns the node's group; undefined if it is not known yet */
  groupOf(shopId: number): number | undefined {
    const now = systemClock.monotonic();
    if (now - this.#since > rememberedMilliseconds || this.#groups.size >= maxShops) {
      this.#groups = new Map();
      this.#since = now;
    }
    if (!this.#groups.has(shopId)) void this.#find(shopId);
    return this.#groups.get(shopId);
  }

  async #find(shopId: number): Promise<void> {
    const groups = this.#groups;
    groups.set(shopId, undefined);
    // Without an answer any node will do.
    const group = await findGroupOfShop(this.#sql, shopId).catch(() => undefined);
    groups.set(shopId, group);
  }
}
