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

/** Does what Shopify obliges an app to; done again, it changes nothing. */
export async function doDuty(
  { sql, deleteShop }: Pick<WebhookContext, 'sql' | 'deleteShop'>,
  stored: Job,
): Promise<void> {
  // As `take` has stored it.
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

/** @throws NonRetryableError unless the app is uninstalled, and stays so until the transaction ends */
async function requireUninstalled(tx: Transaction, shopId: number): Promise<void> {
  const installation = await lockInstallation(tx, shopId);
  if (!installation?.uninstalledAt) {
    throw new NonRetryableError(
      `Shop ${shopId} is not deleted, because the app is not uninstalled from it as far as is known. If it is, run "retention shopify uninstalled --shop ${shopId}", then "retention shopify retry --shop ${shopId}".`,
    );
  }
}
