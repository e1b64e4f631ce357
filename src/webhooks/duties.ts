import { redactCustomer } from '../store/customers.ts';
import { deleteDataRequests, insertDataRequest } from '../store/data-requests.ts';
import { deleteJobsOfShop } from '../store/jobs.ts';
import type { Sql } from '../store/database.ts';
import { deleteShop } from '../store/shop-deletion.ts';
import type { Job } from './queue.ts';
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
    case 'redactCustomer':
      await sql.begin(async (tx) => {
        await redactCustomer(tx, shopId, job.customerId);
        await deleteDataRequests(tx, shopId, job.customerId);
      });
      return;
    case 'redactShop':
      await deleteShop(sql, shopId);
      await deleteJobsOfShop(sql, shopId);
  }
}
