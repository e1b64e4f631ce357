import type { Sql, Transaction } from '../database.ts';

/** @returns undefined if the database does not have the extension */
export async function findCitusVersion(sql: Sql | Transaction): Promise<string | undefined> {
  const [extension] = await sql<{ version: string }[]>`
    select extversion as version from pg_extension where extname = 'citus'`;
  return extension?.version;
}

/** Why a command or a service cannot use a worker as its database. */
export const namesWorker =
  'DATABASE_URL names a worker of a Citus cluster. Set it to the coordinator; workers belong in DATABASE_READ_URL.';

/** Which node of which Citus cluster a server is. */
export interface Membership {
  /** A digest of the cluster's nodes: each of them knows all. */
  readonly cluster: string;
  /** 0 is the coordinator. */
  readonly group: number;
  /** Whether it knows where all shards are, so that any statement can be sent to it. */
  readonly isSynced: boolean;
}

/** @returns null if the database does not have the extension */
export async function findMembership(sql: Sql): Promise<Membership | null> {
  if ((await findCitusVersion(sql)) === undefined) return null;
  const [found] = await sql<Membership[]>`
    select l.groupid as group, coalesce(n.isactive and n.metadatasynced, false) as "isSynced",
      (
        select md5(string_agg(concat_ws(' ', nodeid, groupid, nodename, nodeport), ',' order by nodeid))
        from pg_dist_node
      ) as cluster
    from pg_dist_local_group l
    left join pg_dist_node n on n.groupid = l.groupid and n.noderole = 'primary'`;
  return found ?? null;
}

/**
 * Asks a server about itself, and which node of a cluster it is: null for none.
 * @param query SQL that returns one row
 */
export async function askWithMembership<Answer extends object>(
  sql: Sql,
  query: string,
): Promise<(Answer & { readonly membership: Membership | null }) | undefined> {
  const [answer] = await sql.unsafe<Answer[]>(query);
  return answer && { ...answer, membership: await findMembership(sql) };
}

/** @returns the group of the node where the shop's rows are */
export async function findGroupOfShop(sql: Sql, shopId: number): Promise<number | undefined> {
  const [found] = await sql<{ group: number }[]>`
    select groupid as group from pg_dist_placement
    where shardid = get_shard_id_for_distribution_column('metric_shops', ${shopId}::bigint)`;
  return found?.group;
}
