import { setTimeout as sleep } from 'node:timers/promises';
import { leaseDrainMilliseconds } from '../../../access/keys/key-leases.ts';
import type { Log } from '../../../log/log.ts';
import { revokeKeysOfShop, logUninstall } from '../../../access/keys/keys.ts';
import type { Sql, Transaction } from '../../../store/database.ts';
import { requireSynchronousCommit } from '../../../store/failover.ts';
import { insertHandledEvent, lockInstallation, noteUninstall } from '../store/shops.ts';

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
export async function uninstall(
  { sql, log }: { readonly sql: Sql; readonly log: Log },
  told: Uninstall,
): Promise<string | undefined> {
  const ended = await sql.begin((tx) => endKeysOnce(tx, told));
  if (typeof ended === 'string') return ended;
  logUninstall(log, told.shopId, ended.keyIds, told.receivedAt);
  // Also for a known event: the answer to the first delivery may not have got through.
  await sleep(leaseDrainMilliseconds);
  return undefined;
}

interface Ended {
  readonly keyIds: readonly string[];
}

async function endKeysOnce(
  tx: Transaction,
  { shopId, domain, event, updatedAt, receivedAt }: Uninstall,
): Promise<Ended | string> {
  // Also for a known event: the first delivery may still wait for a standby.
  await requireSynchronousCommit(tx);
  const shop = await lockInstallation(tx, shopId);
  if (shop?.domain !== domain) return 'The domain is not that of this shop any more.';
  const unlessGone = `If the app is uninstalled, run "retention shopify uninstalled --shop ${shopId}".`;
  if (shop.reinstalledAt && updatedAt && updatedAt < shop.reinstalledAt) {
    return `The body is older than the reinstall. ${unlessGone}`;
  }
  if (!(await insertHandledEvent(tx, shopId, event, receivedAt))) {
    return shop.uninstalledAt
      ? { keyIds: [] }
      : `The same body was followed before the reinstall. ${unlessGone}`;
  }
  await noteUninstall(tx, shopId, event, receivedAt);
  return { keyIds: await revokeKeysOfShop(tx, shopId, receivedAt) };
}
