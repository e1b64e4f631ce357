import { type Sql, type Transaction, arrayText, plannerSettings } from '../database.ts';
import { systemClock } from '../../clock.ts';

/** Settings of the database that every node must have. */
export const nodeSettings = {
  // The metrics are kept by triggers, each of which changes nothing outside its shop.
  'citus.enable_unsafe_triggers': 'on',
  ...plannerSettings,
} as const;

/**
 * Tables that stay on the coordinator, because they are read before the shop is known, and written while a node is down
 * (docs/decisions/0028-dead-workers.md). All other tables of shops' data are distributed.
 */
export const coordinatorTables: readonly string[] = ['shops', 'api_keys'];

export interface Node {
  /** `host:port` */
  readonly name: string;
  readonly isCoordinator: boolean;
  readonly isActive: boolean;
  /** Whether new shards may be placed there. */
  readonly takesShards: boolean;
  readonly shards: number;
}

/** A database on Citus. */
export interface Cluster {
  readonly version: string;
  readonly isCoordinator: boolean;
  readonly nodes: readonly Node[];
  /** Tables that are not distributed as they should be; their foreign keys and triggers follow them. */
  readonly missingTables: readonly string[];
  /** Tables of the coordinator that earlier versions have copied to all nodes. */
  readonly copiedTables: readonly string[];
  /** Functions that nodes lack. */
  readonly missingFunctions: readonly string[];
  readonly isDistributed: boolean;
}

/** @returns undefined if the database does not have the extension */
export async function inspectCluster(sql: Sql | Transaction): Promise<Cluster | undefined> {
  const version = await findCitusVersion(sql);
  if (version === undefined) return undefined;
  const [role] = await sql<{ isCoordinator: boolean }[]>`
    select groupid = 0 as "isCoordinator" from pg_dist_local_group`;
  const nodes = await sql<Node[]>`
    select n.nodename || ':' || n.nodeport as name, n.groupid = 0 as "isCoordinator",
      n.isactive as "isActive", n.shouldhaveshards as "takesShards", count(p.shardid) as shards
    from pg_dist_node n left join pg_dist_placement p on p.groupid = n.groupid
    where n.noderole = 'primary'
    group by n.nodeid, n.groupid, n.nodename, n.nodeport, n.isactive, n.shouldhaveshards
    order by n.groupid`;
  return {
    version,
    isCoordinator: role?.isCoordinator === true,
    nodes,
    missingTables: await listMissingTables(sql),
    copiedTables: await listCopiedTables(sql),
    missingFunctions: await listMissingFunctions(sql),
    isDistributed: await isDistributed(sql),
  };
}

/** Whether anything of the database is distributed. */
export async function isDistributed(sql: Sql | Transaction): Promise<boolean> {
  if ((await findCitusVersion(sql)) === undefined) return false;
  const [shops] = await sql`
    select from pg_dist_partition where logicalrelid = to_regclass('public.metric_shops')`;
  return shops !== undefined;
}

/** Tables of shops' data that should be distributed, by name. */
export async function listMissingTables(sql: Sql | Transaction): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select c.relname as name
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'shop_id' and not a.attisdropped
    left join pg_dist_partition p on p.logicalrelid = c.oid
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
      and c.relname <> all (${arrayText(coordinatorTables)}::text[]) and p.partmethod is distinct from 'h'
    order by c.oid`;
  return rows.map(({ name }) => name);
}

export async function listCopiedTables(sql: Sql | Transaction): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select logicalrelid::text as name from pg_dist_partition
    where logicalrelid::text = any (${arrayText(coordinatorTables)}::text[]) order by logicalrelid`;
  return rows.map(({ name }) => name);
}

/** The service's own schemas, neither the server's, an extension's, nor that of the queue of jobs. */
export const ownSchemas = '^(?!pg_|information_schema$|citus|jobs$)';

/** Functions that were created before the extension, or while it did not send them on. */
export async function listMissingFunctions(sql: Sql | Transaction): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select p.oid::regprocedure::text as name
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname ~ ${ownSchemas} and p.prokind = 'f'
      and not exists (
        select from pg_dist_object o where o.classid = 'pg_proc'::regclass and o.objid = p.oid)
      and not exists (
        select from pg_depend d
        where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
    order by p.oid`;
  return rows.map(({ name }) => name);
}

/** Nodes that work answer within milliseconds. */
const nodeTimeoutMilliseconds = 1_000;

/** Settings that each node lacks, by its name; undefined if it does not answer. */
export async function listMissingSettings(
  sql: Sql,
): Promise<ReadonlyMap<string, readonly string[] | undefined>> {
  const expected = Object.entries(nodeSettings).map(([name, value]) => `${name}=${value}`);
  const question = `select coalesce(string_agg(setting, ','), '') from pg_db_role_setting s,
    unnest(s.setconfig) setting where s.setrole = 0
    and s.setdatabase = (select oid from pg_database where datname = current_database())`;
  const rows = await sql.begin(async (tx) => {
    // A frozen node takes connections, but never answers.
    await tx.script(`
      set local citus.node_connection_timeout = ${nodeTimeoutMilliseconds};
      set local statement_timeout = ${2 * nodeTimeoutMilliseconds}`);
    return tx<{ name: string; success: boolean; result: string }[]>`
      select n.nodename || ':' || n.nodeport as name, r.success, r.result
      from run_command_on_all_nodes(${question}, give_warning_for_connection_errors => true) r
      join pg_dist_node n using (nodeid)`;
  });
  return new Map(
    rows.map(({ name, success, result }) => {
      if (!success) return [name, undefined];
      const set = new Set(result.split(','));
      return [name, expected.filter((setting) => !set.has(setting))];
    }),
  );
}

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

/** What a server says of itself. */
export interface ServerAnswer {
  readonly isInRecovery: boolean;
  /** How many bytes of the log it has written, or in recovery replayed; 0 if it has replayed none. */
  readonly position: number;
  /** Identifies the primary and its standbys, which have the same. */
  readonly system: string;
  readonly database: string;
  /** Null if it is not part of a Citus cluster. */
  readonly membership: Membership | null;
}

export async function askServer(sql: Sql): Promise<ServerAnswer> {
  const [answer] = await sql<[Omit<ServerAnswer, 'membership'>]>`
    select pg_is_in_recovery() as "isInRecovery", coalesce(pg_wal_lsn_diff(
        case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end,
        '0/0'), 0)::bigint as position,
      system_identifier::text as system, current_database() as database
    from pg_control_system()`;
  return { ...answer, membership: await findMembership(sql) };
}

/** A node that does not answer, and how many shops are refused for that. */
export interface SilentNode {
  readonly name: string;
  readonly shops: number;
}

/** @param missing what `listMissingSettings` has found */
export async function listSilentNodes(
  sql: Sql,
  missing?: ReadonlyMap<string, readonly string[] | undefined>,
): Promise<SilentNode[]> {
  const found = [...(missing ?? (await listMissingSettings(sql)))];
  const silent = found.filter(([, settings]) => settings === undefined);
  if (silent.length === 0) return [];
  const shopsOf = await countShopsOfNodes(sql);
  return silent.map(([name]) => ({ name, shops: shopsOf.get(name) ?? 0 }));
}

/** How many shops each node has, by its name. */
async function countShopsOfNodes(sql: Sql): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ name: string; shops: number }[]>`
    select n.nodename || ':' || n.nodeport as name, count(*) as shops
    from shops s
    join pg_dist_placement p
      on p.shardid = get_shard_id_for_distribution_column('metric_shops', s.shop_id)
    join pg_dist_node n using (groupid)
    where n.noderole = 'primary' group by 1`;
  return new Map(rows.map(({ name, shops }) => [name, shops]));
}

/** @returns the group of the node where the shop's rows are */
export async function findGroupOfShop(sql: Sql, shopId: number): Promise<number | undefined> {
  const [found] = await sql<{ group: number }[]>`
    select groupid as group from pg_dist_placement
    where shardid = get_shard_id_for_distribution_column('metric_shops', ${shopId}::bigint)`;
  return found?.group;
}

/** Shards rarely move, and a moved one can be read from any node, only not as fast. */
const rememberedMilliseconds = 60_000;
const maxShops = 10_000;

/** Remembers on which node each shop is. */
export class ShopNodes {
  readonly #sql: Sql;
  /** Undefined while a shop is being looked up, or if it was not found. */
  #groups = new Map<number, number | undefined>();
  #since = systemClock.monotonic();

  /** @param sql a connection to a node of the cluster */
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** @returns the node's group; undefined if it is not known yet */
  groupOf(shopId: number): number | undefined {
    const now = systemClock.monotonic();
    if (now - this.#since > rememberedMilliseconds || this.#groups.size >= maxShops) {
      this.#groups = new Map();
      this.#since = now;
    }
    if (!this.#groups.has(shopId)) void this.#find(shopId);
    return this.#groups.get(shopId);
  }

  async #find(shopId: number): Promise<void> {
    const groups = this.#groups;
    groups.set(shopId, undefined);
    // Without an answer any node will do.
    const group = await findGroupOfShop(this.#sql, shopId).catch(() => undefined);
    groups.set(shopId, group);
  }
}
