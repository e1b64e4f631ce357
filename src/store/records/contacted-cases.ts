import { type Sql, withTimeout } from '../database.ts';

/** A failed payment that is open. Times are epoch milliseconds. */
interface Case {
  readonly subscriptionId: number;
  readonly openedAt: number;
}

/** Notes that an owner has contacted the customer about a case, if there is one and it is not noted yet. */
export async function insertContactedCase(
  sql: Sql,
  shopId: number,
  { subscriptionId, openedAt }: Case,
  { ownerId, at }: { readonly ownerId: string; readonly at: number },
): Promise<void> {
  await withTimeout(sql`
    insert into contacted_cases (shop_id, subscription_id, opened_at, contacted_at, contacted_by)
    select m.shop_id, d.subscription_id, d.opened_at, ${new Date(at)}, ${ownerId}
    from metric_shops m
    cross join lateral (
      select subscription_id, opened_at from dunning_cases
      where shop_id = ${shopId} and subscription_id = ${subscriptionId}
        and opened_at = ${new Date(openedAt)} limit 1
    ) d
    where m.shop_id = ${shopId}
    on conflict do nothing`);
}

export async function deleteContactedCase(
  sql: Sql,
  shopId: number,
  { subscriptionId, openedAt }: Case,
): Promise<void> {
  await withTimeout(sql`
    delete from contacted_cases
    where shop_id = ${shopId} and subscription_id = ${subscriptionId}
      and opened_at = ${new Date(openedAt)}`);
}
