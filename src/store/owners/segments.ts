import { type Sql, withTimeout } from '../database.ts';

/** Conditions that a shop's owners saved. */
export interface SavedSegment {
  /** Unique among the shop's. */
  readonly name: string;
  /** As addresses have them, such as plan=11&status=active. */
  readonly query: string;
}

/** How many a shop can have. */
export const maxSegments = 50;

/** By name. */
export function listSegments(sql: Sql, shopId: number): Promise<SavedSegment[]> {
  return withTimeout(sql<SavedSegment[]>`
    select name, query from owners.segments where shop_id = ${shopId} order by name`);
}

/** @returns saved; or taken, if the shop has another of this name, in capitals or not; or full, if it has as many as it can have */
export async function insertSegment(
  sql: Sql,
  shopId: number,
  { name, query }: SavedSegment,
): Promise<'saved' | 'taken' | 'full'> {
  const { count } = await sql`
    insert into owners.segments (shop_id, name, query)
    select ${shopId}, ${name}, ${query}
    where ${maxSegments} > (select count(*) from owners.segments where shop_id = ${shopId})
      and not exists (
        select from owners.segments
        where shop_id = ${shopId} and lower(name) = lower(${name}::text)
      )
    on conflict do nothing`;
  if (count === 1) return 'saved';
  const [taken] = await sql`
    select from owners.segments where shop_id = ${shopId} and lower(name) = lower(${name}::text)`;
  return taken ? 'taken' : 'full';
}

export async function deleteSegment(sql: Sql, shopId: number, name: string): Promise<void> {
  await sql`delete from owners.segments where shop_id = ${shopId} and name = ${name}`;
}
