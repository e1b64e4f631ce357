import { type Sql, withTimeout } from '../database.ts';

/** What happened to a shop beside its business. */
interface ShopEvent {
  readonly at: Date;
  readonly kind: 'import' | 'alert';
  /** How many records a file changed, or what an alert said. */
  readonly detail: string;
}

/** How long charts can look back at days and weeks. */
const keepMilliseconds = 3 * 366 * 86_400_000;

/** Stores an event once, and deletes old ones. */
export async function insertEvent(
  sql: Sql,
  shopId: number,
  { at, kind, detail }: ShopEvent,
): Promise<void> {
  const oldest = new Date(at.getTime() - keepMilliseconds);
  await sql`
    with old as (delete from owners.events where shop_id = ${shopId} and at < ${oldest})
    insert into owners.events (shop_id, at, kind, detail)
    values (${shopId}, ${at}, ${kind}, ${detail}) on conflict do nothing`;
}

/** @param period epoch milliseconds */
export function listEvents(
  sql: Sql,
  shopId: number,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<ShopEvent[]> {
  return withTimeout(sql<ShopEvent[]>`
    select at, kind, detail from owners.events
    where shop_id = ${shopId} and at >= ${new Date(from)} and at < ${new Date(until)}
    order by at, kind, detail`);
}
