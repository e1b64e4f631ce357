import { setTimeout as sleep } from 'node:timers/promises';
import { leaseDrainMilliseconds } from '../../../access/keys/key-leases.ts';
import type { Log } from '../../../log/log.ts';
import { revokeKeysOfShop, logUninstall } from '../../../access/keys/keys.ts';
import type { Sql, Transaction } from '../../../store/database.ts';
import { requireSynchronousCommit } from '../../../store/failover.ts';
import { insertHandledEvent, lockInstallation, markUninstalled } from '../store/shops.ts';

interface UninstallEvent {
  readonly shopId: number;
  /** The shop that the signed body names. */
  readonly domain: string;
  /** Derived from the body. */
  readonly event: string;
  /** From the signed body. */
  readonly updatedAt: Date | null;
  readonly receivedAt: Date;
}

/**
 * Revokes the keys of a shop, once per event. After it returns, no instance accepts a revoked key.
 * @returns why the event was ignored; undefined if it took effect, now or earlier
 */
export async function uninstall(
  { sql, log }: { readonly sql: Sql; readonly log: Log },
  uninstalled: UninstallEvent,
): Promise<string | undefined> {
  const outcome = await sql.begin((tx) => revokeKeysOnce(tx, uninstalled));
  if (typeof outcome === 'string') return outcome;
  logUninstall(log, uninstalled.shopId, outcome.keyIds, uninstalled.receivedAt);
  // Also for a known event: the first acknowledgement may not have reached Shopify.
  await sleep(leaseDrainMilliseconds);
  return undefined;
}

interface Revoked {
  readonly keyIds: readonly string[];
}

async function revokeKeysOnce(
  tx: Transaction,
  { shopId, domain, event, updatedAt, receivedAt }: UninstallEvent,
): Promise<Revoked | string> {
  // Also for a known event: the first delivery may still be waiting for a standby.
  await requireSynchronousCommit(tx);
  const shop = await lockInstallation(tx, shopId);
  if (shop?.domain !== domain) return 'The domain no longer belongs to this shop.';
  const advice = `If the app is uninstalled, run "retention shopify uninstalled --shop ${shopId}".`;
  if (shop.reinstalledAt && updatedAt && updatedAt < shop.reinstalledAt) {
    return `The body is older than the reinstall. ${advice}`;
  }
  if (!(await insertHandledEvent(tx, shopId, event, receivedAt))) {
    return shop.uninstalledAt
      ? { keyIds: [] }
      : `The same body was already handled before the reinstall. ${advice}`;
  }
  await markUninstalled(tx, shopId, event, receivedAt);
  return { keyIds: await revokeKeysOfShop(tx, shopId, receivedAt) };
}
