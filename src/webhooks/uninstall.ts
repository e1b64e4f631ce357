import { setTimeout as sleep } from 'node:timers/promises';
import { leaseDrainMilliseconds } from '../access/key-leases.ts';
import { endKeysOfShop } from '../owner/keys.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { insertHandledEvent, lockInstallation, noteUninstall } from '../store/shopify-shops.ts';

interface Uninstall {
  readonly shopId: number;
  /** The shop that the signed body names. */
  readonly domain: string;
  /** The same for the same body. */
  readonly event: string;
  /** What the signed body says of its age. */
  readonly updatedAt: Date | null;
  readonly receivedAt: Date;
}

/**
 * Ends the keys of a shop, once per event. When this has returned, no instance lets in a key that it ended.
 * @returns why nothing was done; undefined also where the event is in force already
 */
export async function uninstall(sql: Sql, told: Uninstall): Promise<string | undefined> {
  const reason = await sql.begin((tx) => endKeysOnce(tx, told));
  // Also for a known event: the answer to the first delivery may not have got through.
  if (reason === undefined) await sleep(leaseDrainMilliseconds);
  return reason;
}

async function endKeysOnce(
  tx: Transaction,
  { shopId, domain, event, updatedAt, receivedAt }: Uninstall,
): Promise<string | undefined> {
  const shop = await lockInstallation(tx, shopId);
  if (shop?.domain !== domain) return 'The domain is not that of this shop any more.';
  const unlessGone = `If the app is uninstalled, run "retention shopify uninstalled --shop ${shopId}".`;
  if (shop.reinstalledAt && updatedAt && updatedAt < shop.reinstalledAt) {
    return `The body is older than the reinstall. ${unlessGone}`;
  }
  if (!(await insertHandledEvent(tx, shopId, event, receivedAt))) {
    return shop.uninstalledAt
      ? undefined
      : `The same body was followed before the reinstall. ${unlessGone}`;
  }
  await noteUninstall(tx, shopId, event, receivedAt);
  await endKeysOfShop(tx, shopId, receivedAt);
  return undefined;
}
