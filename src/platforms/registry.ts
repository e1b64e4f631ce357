import type { Transaction } from '../store/database.ts';
import type { Platform } from './platform.ts';
import { shopify } from './shopify/platform.ts';

/** Every platform there is. Whatever differs by platform loops over this. */
export const platforms: Platform[] = [shopify];

/** Deletes what any platform keeps of a shop. */
export async function forgetShop(tx: Transaction, shopId: number): Promise<void> {
  for (const platform of platforms) await (await platform.load()).forgetShop(tx, shopId);
}

export function findPlatform(name: string): Platform | undefined {
  return platforms.find((platform) => platform.name === name);
}
