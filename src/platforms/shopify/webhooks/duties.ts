import { redactCustomer } from '../../../store/records/customers.ts';
import { deleteDataRequests, insertDataRequest } from '../store/data-requests.ts';
import { deleteJobsOfShop } from '../../../store/feeds/jobs.ts';
import type { Transaction } from '../../../store/database.ts';
import { insertHandledEvent, lockInstallation } from '../store/shops.ts';
import { findShop } from '../../../store/shops.ts';
import { NonRetryableError } from '../../errors.ts';
import type { WebhookContext } from '../../platform.ts';
import type { Job } from '../../webhooks/job.ts';
import type { Duty } from './topics.ts';

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
