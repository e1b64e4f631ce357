import { redactCustomer } from '../../../store/records/customers.ts';
import { deleteDataRequests, insertDataRequest } from '../../../store/feeds/data-requests.ts';
import { deleteJobsOfShop } from '../../../store/feeds/jobs.ts';
import type { Sql, Transaction } from '../../../store/database.ts';
import { deleteShop } from '../../../store/shop-deletion.ts';
import { insertHandledEvent, lockInstallation } from '../store/shops.ts';
import { findShop } from '../../../store/shops.ts';
import { Hopeless, type Job } from '../../queue.ts';
import type { Duty } from './topics.ts';

/** Does what Shopify obliges an app to; done again, it changes nothing. */
export async function doDuty(sql: Sql, job: Job<Duty>): Promise<void> {
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
        await deleteShop(sql, shopId, (tx) => requireUninstalled(tx, shopId));
      }
      await deleteJobsOfShop(sql, shopId);
  }
}

/** @throws Hopeless unless the app is uninstalled, and stays so until the transaction ends */
async function requireUninstalled(tx: Transaction, shopId: number): Promise<void> {
  const installation = await lockInstallation(tx, shopId);
  if (!installation?.uninstalledAt) {
    throw new Hopeless(
      `Shop ${shopId} is not deleted, because the app is not uninstalled from it as far as is known. If it is, run "retention shopify uninstalled --shop ${shopId}", then "retention shopify retry --shop ${shopId}".`,
    );
  }
}
