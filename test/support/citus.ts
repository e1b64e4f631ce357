import type { Sql } from '../../src/store/database.ts';
import { openClient } from './client.ts';

export interface ClusterDatabase {
  /** Its address on the coordinator. */
  readonly target: string;
  /** Its address on each worker. */
  readonly workers: readonly string[];
  drop(): Promise<void>;
}

interface Node {
  readonly host: string;
  readonly port: number;
  readonly isCoordinator: boolean;
}

/** Creates an empty database on all nodes of the cluster of TEST_CITUS_URL. */
export async function createClusterDatabase(name: string): Promise<ClusterDatabase> {
  const coordinator = new URL(process.env['TEST_CITUS_URL'] as string);
  const addressOf = ({ host, port }: Node, database: string) =>
    Object.assign(new URL(coordinator), { hostname: host, port, pathname: `/${database}` }).href;
  const nodes = await using(
    coordinator.href,
    (sql) =>
      sql<Node[]>`
      select nodename as host, nodeport as port, groupid = 0 as "isCoordinator" from pg_dist_node
      where noderole = 'primary' order by groupid`,
  );
  const admin = coordinator.pathname.slice(1);
  for (const node of nodes) {
    await using(addressOf(node, admin), (sql) => sql.unsafe(`create database ${name}`));
    await using(addressOf(node, name), (sql) => sql.unsafe('create extension citus'));
  }
  const [first, ...workers] = [...nodes] as [Node, ...Node[]];
  await using(addressOf(first, name), async (sql) => {
    await sql`select citus_set_coordinator_host(${first.host}, ${first.port})`;
    for (const { host, port } of workers) await sql`select citus_add_node(${host}, ${port})`;
  });
  return {
    target: addressOf(first, name),
    workers: workers.map((node) => addressOf(node, name)),
    async drop() {
      for (const node of nodes) {
        await using(addressOf(node, admin), (sql) =>
          sql.unsafe(`drop database ${name} with (force)`),
        );
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
