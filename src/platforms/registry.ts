import type { Transaction } from '../store/database.ts';
import type { Platform } from './platform.ts';
import { shopify } from './shopify/platform.ts';

/** All platforms. Code that depends on the platform loops over this list. */
export const platforms: Platform[] = [shopify];

/** Deletes a shop from the tables of every platform. */
export async function forgetShop(tx: Transaction, shopId: number): Promise<void> {
  for (const platform of platforms) await (await platform.load()).forgetShop(tx, shopId);
}

export function findPlatform(name: string): Platform | undefined {
  return platforms.find((platform) => platform.name === name);
}
