import type { Sql } from '../database.ts';

/** Stores the address of the service that was started last. */
export async function upsertServiceAddress(sql: Sql, url: string): Promise<void> {
  await sql`
    insert into owners.service_address (url) values (${url})
    on conflict (is_only) do update set url = excluded.url`;
}

/** The address of the service that was started last, without a trailing slash. */
export async function findServiceAddress(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ url: string }[]>`select url from owners.service_address`;
  return row?.url;
}
