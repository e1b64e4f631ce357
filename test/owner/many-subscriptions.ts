import type { Store } from '../../src/store/open.ts';

/**
 * Adds 100,000 copies of a subscription to a shop: more than pages count unasked. They have a status of unknown date, so
 * no figure of a period counts them.
 * @param subscriptionId below 1000
 */
export async function addMany(store: Store, shopId: number, subscriptionId: number): Promise<void> {
  await store.write.begin(async (tx) => {
    // Without triggers, which would take a minute.
    await tx`set local session_replication_role = replica`;
    await tx`
      insert into subscriptions (shop_id, subscription_id, customer_id, plan_id, status, current_price, created_at, digest)
      select shop_id, 1000 + n, customer_id, plan_id, 'paused', current_price, created_at, digest
      from subscriptions, generate_series(1, 100000) n
      where shop_id = ${shopId} and subscription_id = ${subscriptionId}`;
  });
}
