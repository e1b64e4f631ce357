import { CommandError } from '../../errors.ts';
import { type Sql, type Transaction, arrayText } from '../database.ts';
import { lockMigrations } from '../locks.ts';
import {
  type Cluster,
  coordinatorTables,
  inspectCluster,
  isDistributed,
  listCopiedTables,
  listMissingFunctions,
  listMissingSettings,
  listMissingTables,
  nodeSettings,
  namesWorker,
  ownSchemas,
} from './cluster.ts';

/** The table that all others are placed like: a row for each shop. */
const firstTable = 'metric_shops';

interface Plan {
  readonly cluster: Cluster;
  /** What `distribute` would do, in words; empty if there is nothing to do. */
  readonly steps: readonly string[];
}

/** @throws CommandError if the database is not on a usable Citus cluster */
export async function planDistribution(sql: Sql): Promise<Plan> {
  const cluster = await requireCluster(sql);
  const settings = (await listRequiredSettings(sql)).filter(([, missing]) => missing.length > 0);
  const leftovers = await listLeftovers(sql);
  return {
    cluster,
    steps: [
      ...settings.map(([node, missing]) => `set on ${node}: ${missing.join(', ')}`),
      ...describe('create on all nodes', cluster.missingFunctions),
      ...describe('keep on the coordinator only', cluster.copiedTables),
      ...describe('distribute by shop_id', cluster.missingTables),
      ...describe('free the space of what was moved from the coordinator', leftovers),
    ],
  };
}

function describe(what: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${what}: ${names.join(', ')}`];
}

async function requireCluster(sql: Sql): Promise<Cluster> {
  const cluster = await inspectCluster(sql);
  if (!cluster) {
    throw new CommandError(
      'The database is not on Citus. Run "create extension citus" in it on every node, and add the nodes to the coordinator ("Citus" in docs/scaling.md).',
    );
  }
  const { version, isCoordinator, nodes } = cluster;
  if (Number.parseInt(version, 10) < 13) {
    throw new CommandError(`The database has Citus ${version}, but 13 or newer is needed.`);
  }
  if (!isCoordinator) throw new CommandError(namesWorker);
  if (!nodes.some((node) => node.isCoordinator)) {
    throw new CommandError(
      `The coordinator does not know its own address, by which workers reach it. Run there: select citus_set_coordinator_host('host', 5432)`,
    );
  }
  if (!nodes.some(({ takesShards, isActive }) => takesShards && isActive)) {
    throw new CommandError(
      `There is no node to distribute tables to. Run on the coordinator, for each worker: select citus_add_node('host', 5432)`,
    );
  }
  return cluster;
}

/**
 * Distributes all tables of shops' data by shop, with what they have. If interrupted, the data is as before or
 * distributed, and another call completes the rest. Everything else waits while tables are moved.
 * @param sql connections to the coordinator that can write
 * @throws CommandError if it is no usable Citus cluster, or a node does not take a setting
 */
export async function distribute(sql: Sql): Promise<void> {
  await requireCluster(sql);
  await setOnNodes(sql);
  await createSchemas(sql);
  await sql.begin(async (tx) => {
    await lockMigrations(tx);
    await allowOnNodes(tx);
    await distributeMissing(tx);
  });
  const leftovers = await listLeftovers(sql);
  if (leftovers.length > 0) await sql.begin((tx) => freeLeftovers(tx, leftovers));
}

/** The settings that each node lacks. @throws CommandError if a node does not answer */
async function listRequiredSettings(sql: Sql): Promise<[node: string, readonly string[]][]> {
  return [...(await listMissingSettings(sql))].map(([node, settings]) => {
    if (settings) return [node, settings];
    throw new CommandError(`The node ${node} does not answer. Start or replace it first.`);
  });
}

/** On the coordinator, from which Citus sends it on to the other nodes. */
async function setOnNodes(sql: Sql): Promise<void> {
  const missing = new Set((await listRequiredSettings(sql)).flatMap(([, settings]) => settings));
  const [database] = await sql<{ name: string }[]>`select quote_ident(current_database()) as name`;
  for (const [name, value] of Object.entries(nodeSettings)) {
    if (!missing.has(`${name}=${value}`)) continue;
    await sql.unsafe(`alter database ${database?.name} set ${name} = ${value}`);
  }
  for (const [node, settings] of await listRequiredSettings(sql)) {
    if (settings.length === 0) continue;
    throw new CommandError(
      `The node ${node} lacks ${settings.join(', ')}. Set it there by "alter database ${database?.name} set …", then run this again.`,
    );
  }
}

/**
 * Views of distributed tables take their schemas along. Citus notes these as a superuser, who would not see one that the
 * service's login has created in the same transaction.
 */
async function createSchemas(sql: Sql): Promise<void> {
  const schemas = await sql<{ name: string }[]>`
    select quote_ident(nspname) as name from pg_namespace n
    where nspname ~ ${ownSchemas} and nspname <> 'public'
      and not exists (
        select from pg_dist_object o where o.classid = 'pg_namespace'::regclass and o.objid = n.oid)`;
  for (const { name } of schemas) await sql.unsafe(`create schema if not exists ${name}`);
}

/** Part of each migration, so that what it adds is distributed with it. Needs allowOnNodes. */
export async function distributeAdded(tx: Transaction): Promise<void> {
  if (await isDistributed(tx)) await distributeMissing(tx);
}

interface Definition {
  readonly table: string;
  readonly name: string;
  readonly definition: string;
}

/** Citus copies rows without running triggers, and checks foreign keys only between distributed tables. */
async function distributeMissing(tx: Transaction): Promise<void> {
  await distributeFunctions(tx);
  const tables = await listMissingTables(tx);
  const copied = await listCopiedTables(tx);
  if (tables.length + copied.length === 0) return;
  // All at once, so that nothing can be in the way later.
  await tx.unsafe(`lock table ${[...tables, ...copied].join(', ')} in access exclusive mode`);
  const [foreignKeys, triggers] = await Promise.all([
    listForeignKeys(tx, tables, copied),
    listTriggers(tx, tables),
  ]);
  for (const { table, name } of foreignKeys) {
    await tx.unsafe(`alter table ${table} drop constraint ${name}`);
  }
  for (const { table, name } of triggers) await tx.unsafe(`drop trigger ${name} on ${table}`);
  for (const table of copied) await tx`select undistribute_table(${table})`;
  for (const table of tables.toSorted(byPlacement)) {
    const others = table === firstTable ? 'none' : firstTable;
    await tx`select create_distributed_table(${table}, 'shop_id', colocate_with => ${others})`;
  }
  for (const { table, name, definition, isKept } of foreignKeys) {
    if (isKept) await tx.unsafe(`alter table ${table} add constraint ${name} ${definition}`);
  }
  for (const { definition } of triggers) await tx.unsafe(definition);
}

/** Unchecked, on the nodes as well: one may call another that is sent later. */
async function distributeFunctions(tx: Transaction): Promise<void> {
  const functions = await listMissingFunctions(tx);
  if (functions.length === 0) return;
  await tx.script(`
    set local citus.propagate_set_commands = 'local';
    set local check_function_bodies = off`);
  for (const name of functions) await tx`select create_distributed_function(${name})`;
}

const byPlacement = (one: string, other: string) =>
  Number(other === firstTable) - Number(one === firstTable);

/** For this transaction: triggers, and one connection to each node, which sees what was done on it before. */
export async function allowOnNodes(tx: Transaction): Promise<void> {
  await tx.script(`
    set local citus.multi_shard_modify_mode = 'sequential';
    set local citus.enable_unsafe_triggers = on`);
}

/**
 * Foreign keys of missing tables, and foreign keys to copied tables. Citus allows none from a distributed table to one
 * that stays on the coordinator. Parents first: the order in which the keys were made.
 */
function listForeignKeys(
  tx: Transaction,
  missing: readonly string[],
  copied: readonly string[],
): Promise<(Definition & { readonly isKept: boolean })[]> {
  const own = arrayText(coordinatorTables);
  return tx<(Definition & { readonly isKept: boolean })[]>`
    select conrelid::regclass::text as table, quote_ident(conname) as name,
      pg_get_constraintdef(oid) as definition,
      confrelid::regclass::text <> all (${own}::text[]) or conrelid::regclass::text = any (${own}::text[])
        as "isKept"
    from pg_constraint
    where contype = 'f' and (conrelid::regclass::text = any (${arrayText(missing)}::text[])
      or confrelid::regclass::text = any (${arrayText(copied)}::text[]))
    order by oid`;
}

/** Those that follow a `truncate` are left out: a shard cannot tell which shops are concerned. */
function listTriggers(tx: Transaction, tables: readonly string[]): Promise<Definition[]> {
  return tx<Definition[]>`
    select t.tgrelid::regclass::text as table, quote_ident(t.tgname) as name,
      case when t.tgtype & 32 = 0 then pg_get_triggerdef(t.oid) else '' end as definition
    from pg_trigger t
    join unnest(${`{${tables.join(',')}}`}::text[]) missing (name) on missing.name::regclass = t.tgrelid
    where not t.tgisinternal order by t.oid`;
}

/** Distributed tables whose rows from before still take space on the coordinator, though nothing reads them. */
async function listLeftovers(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select logicalrelid::text as name from pg_dist_partition
    where partmethod = 'h' and pg_relation_size(logicalrelid) > 0 order by logicalrelid`;
  return rows.map(({ name }) => name);
}

async function freeLeftovers(tx: Transaction, tables: readonly string[]): Promise<void> {
  for (const table of tables) {
    await tx`select truncate_local_data_after_distributing_table(${table}::regclass)`;
  }
}
