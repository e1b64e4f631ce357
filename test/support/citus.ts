import type { Sql } from '../../src/store/database.ts';
import { openClient } from './client.ts';

export interface ClusterDatabase {
  /** Its address on the coordinator. */
  readonly target: string;
  /** Its address on each worker. */
  readonly workers: readonly string[];
  /** Makes it a database of the cluster. */
  addCitus(): Promise<void>;
  drop(): Promise<void>;
}

interface Node {
  readonly host: string;
  readonly port: number;
  readonly isCoordinator: boolean;
}

/**
 * Creates an empty database on all nodes of the cluster of TEST_CITUS_URL, which do not know each other in it yet.
 * @param owner the login that its addresses name, by default that of TEST_CITUS_URL
 */
export async function createClusterDatabase(
  name: string,
  owner?: string,
): Promise<ClusterDatabase> {
  const coordinator = new URL(process.env['TEST_CITUS_URL'] as string);
  const addressOf = ({ host, port }: Node, database: string) =>
    Object.assign(new URL(coordinator), { hostname: host, port, pathname: `/${database}` }).href;
  const ownersAddressOf = (node: Node) =>
    Object.assign(new URL(addressOf(node, name)), owner !== undefined && { username: owner }).href;
  const nodes = await using(
    coordinator.href,
    (sql) =>
      sql<Node[]>`
      select nodename as host, nodeport as port, groupid = 0 as "isCoordinator" from pg_dist_node
      where noderole = 'primary' order by groupid`,
  );
  const admin = coordinator.pathname.slice(1);
  const [first, ...workers] = [...nodes] as [Node, ...Node[]];
  // The cluster's own database sends a new login to all nodes.
  if (owner !== undefined) {
    await using(coordinator.href, (sql) => sql.unsafe(`create role ${owner} login`));
  }
  for (const node of nodes) {
    const ownedBy = owner === undefined ? '' : ` owner ${owner}`;
    await using(addressOf(node, admin), (sql) => sql.unsafe(`create database ${name}${ownedBy}`));
  }
  return {
    target: ownersAddressOf(first),
    workers: workers.map(ownersAddressOf),
    async addCitus() {
      for (const node of nodes) {
        await using(addressOf(node, name), (sql) => sql.unsafe('create extension citus'));
      }
      await using(addressOf(first, name), async (sql) => {
        await sql`select citus_set_coordinator_host(${first.host}, ${first.port})`;
        for (const { host, port } of workers) await sql`select citus_add_node(${host}, ${port})`;
      });
    },
    async drop() {
      for (const node of nodes) {
        await using(addressOf(node, admin), (sql) =>
          sql.unsafe(`drop database ${name} with (force)`),
        );
      }
      if (owner !== undefined) {
        await using(coordinator.href, (sql) => sql.unsafe(`drop role ${owner}`));
      }
    },
  };
}

async function using<Result>(address: string, work: (sql: Sql) => Promise<Result>) {
  const sql = openClient(address);
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}
