import { type Clock, FixedClock, systemClock } from '../clock.ts';
import type { Sql } from '../store/database.ts';
import { withShopCopy } from '../store/shop-copy.ts';
import type { Shop } from '../store/shops.ts';
import { type Summary, toSummary } from './figures.ts';
import { summariseMetrics } from './summary.ts';

/** The figures before and after an import. */
export interface Figures {
  readonly before: Summary;
  readonly after: Summary;
}

type SummarisedShop = Pick<Shop, 'id' | 'currency'>;

export async function summariseAt(
  sql: Sql,
  { id, currency }: SummarisedShop,
  at: number,
): Promise<Summary> {
  return toSummary(await summariseMetrics(sql, id, at), currency, at);
}

/**
 * Runs an import on a copy of the shop, and says how it changes the figures.
 * @param options.isEmbedded whether the shop is in an embedded database
 * @param importInto gets a connection to the copy, and the time of the import
 */
export async function rehearse(
  sql: Sql,
  shop: SummarisedShop,
  options: { readonly isEmbedded: boolean; readonly signal: AbortSignal },
  importInto: (copy: Sql, clock: Clock) => Promise<unknown>,
): Promise<Figures> {
  return withShopCopy(sql, { shopId: shop.id, ...options }, async ({ write }) => {
    const now = systemClock.now();
    // One instant, so that only the import makes a difference; after what it dates now.
    const at = now + 1;
    const before = await summariseAt(write, shop, at);
    await importInto(write, new FixedClock(now));
    return { before, after: await summariseAt(write, shop, at) };
  });
}
