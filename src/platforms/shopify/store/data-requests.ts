import type { Sql, Transaction } from '../../../store/database.ts';

/** A customer's request for their stored data. */
export interface DataRequest {
  readonly shopId: number;
  readonly requestId: string;
  readonly customerId: number;
  readonly receivedAt: Date;
}

/** Stores a request. Ignores duplicates, and shops that no longer exist. */
export async function insertDataRequest(sql: Sql, request: DataRequest): Promise<void> {
  const { shopId, requestId, customerId, receivedAt } = request;
  await sql`
    insert into shopify.data_requests (shop_id, request_id, customer_id, received_at)
    select shop_id, ${requestId}, ${customerId}, ${receivedAt} from shops where shop_id = ${shopId}
    on conflict do nothing`;
}

/** Oldest first. */
export async function listDataRequests(sql: Sql, shopId: number): Promise<DataRequest[]> {
  return sql<DataRequest[]>`
    select shop_id as "shopId", request_id as "requestId", customer_id as "customerId",
      received_at as "receivedAt"
    from shopify.data_requests where shop_id = ${shopId} order by received_at, request_id`;
}

export async function deleteDataRequests(
  tx: Transaction,
  shopId: number,
  customerId: number,
): Promise<void> {
  await tx`
    delete from shopify.data_requests where shop_id = ${shopId} and customer_id = ${customerId}`;
}
