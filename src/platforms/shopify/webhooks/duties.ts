import { setTimeout as sleep } from 'node:timers/promises';
import type { Actor } from '../../../acts.ts';
import { redactCustomer } from '../../../store/records/customers.ts';
import {
  deleteDataRequests,
  insertDataRequest,
  insertHandledEvent,
  lockInstallation,
  markUninstalled,
} from '../store/shops.ts';
import { deleteJobsOfShop } from '../../../store/feeds/jobs.ts';
import type { Transaction, Sql } from '../../../store/database.ts';
import { findShop } from '../../../store/shops.ts';
import { NonRetryableError } from '../../errors.ts';
import type { WebhookContext } from '../../webhooks/webhooks.ts';
import type { Job } from '../../webhooks/queue.ts';
import type { Duty } from './topics.ts';
import { leaseDrainMilliseconds } from '../../../access/keys/key-leases.ts';
import type { Log } from '../../../log/log.ts';
import { revokeKeysOfShop, logUninstall } from '../../../access/keys/keys.ts';
import { requireSynchronousCommit } from '../../../store/failover.ts';

const shopify: Actor = { who: 'platform shopify' };

/** Performs a duty that Shopify imposes on apps. Idempotent. */
export async function doDuty(
  { sql, deleteShop }: Pick<WebhookContext, 'sql' | 'deleteShop'>,
  stored: Job,
): Promise<void> {
  // `handle` stored it in this form.
  const job = stored as Job & Duty;
  const { shopId } = job;
  switch (job.kind) {
    case 'dataRequest': {
      const { customerId, event: requestId, receivedAt } = job;
      await insertDataRequest(sql, {
        shopId,
        requestId,
        customerId,
        receivedAt: new Date(receivedAt),
      });
      return;
    }
    case 'redactCustomer': {
      const { customerId, event, receivedAt } = job;
      await sql.begin(async (tx) => {
        if (!(await insertHandledEvent(tx, shopId, event, new Date(receivedAt)))) return;
        await redactCustomer(tx, shopId, customerId);
        await deleteDataRequests(tx, shopId, customerId);
      });
      return;
    }
    case 'redactShop':
      if (await findShop(sql, shopId)) {
        await deleteShop(shopId, (tx) => requireUninstalled(tx, shopId));
      }
      await deleteJobsOfShop(sql, shopId);
  }
}

/** Locks the installation. @throws NonRetryableError unless the app is uninstalled */
async function requireUninstalled(tx: Transaction, shopId: number): Promise<void> {
  const installation = await lockInstallation(tx, shopId);
  if (!installation?.uninstalledAt) {
    throw new NonRetryableError(
      `Shop ${shopId} was not deleted, because its app is not known to be uninstalled. If it is uninstalled, run "retention shopify uninstalled --shop ${shopId}", then "retention shopify retry --shop ${shopId}".`,
    );
  }
}

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

async function revokeKeysOnce(
  tx: Transaction,
  { shopId, domain, event, updatedAt, receivedAt }: UninstallEvent,
): Promise<{ readonly keyIds: readonly string[] } | string> {
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
  return { keyIds: await revokeKeysOfShop(tx, shopId, receivedAt, shopify) };
}
