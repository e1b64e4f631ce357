import type { Sql } from '../../src/store/database.ts';

/** A shop's dunning cases as text: subscription, start and, if closed, end and result. */
export async function listCases(sql: Sql, shopId: number): Promise<string[]> {
  const rows = await sql<{ text: string }[]>`
    select concat_ws(' ', subscription_id, opened_at at time zone 'UTC',
      closed_at at time zone 'UTC', result) as text
    from dunning_cases where shop_id = ${shopId} order by subscription_id, position`;
  return rows.map(({ text }) => text);
}
