import { existsSync } from 'node:fs';
import path from 'node:path';
import {
  type PostgresServer,
  findPostgresPrograms,
  startPostgres,
} from '../test/support/postgres.ts';
import { onServer } from '../test/support/replication.ts';
import { until } from '../test/support/until.ts';

const host = '127.0.0.1';
const maxAttempts = 5;
const settings = [
  'shared_preload_libraries=citus',
  'citus.node_conninfo=sslmode=disable',
  'wal_level=logical',
  'max_prepared_transactions=200',
  'max_connections=300',
];

/** @returns the names of missing programs */
export function listMissingPrograms(): string[] {
  const programs = findPostgresPrograms();
  if (programs === undefined) return ['PostgreSQL (postgres and initdb)', 'Citus'];
  const folders = ['../lib', '../lib/postgresql', '../lib64'];
  const isThere = folders
    .flatMap((folder) => ['citus.so', 'citus.dylib'].map((name) => path.join(folder, name)))
    .some((library) => existsSync(path.join(programs, library)));
  return isThere ? [] : [`Citus for the PostgreSQL in ${programs}`];
}

/** A server of the cluster. */
export class Node {
  readonly name: string;
  /** Changes when the standby takes over. */
  server: PostgresServer;
  #standby: PostgresServer | undefined;
  readonly #lost: PostgresServer[] = [];

  private constructor(name: string, server: PostgresServer) {
    this.name = name;
    this.server = server;
  }

  static async start(deferred: AsyncDisposableStack, name: string): Promise<Node> {
    const server = await startPostgres(settings, { isNew: true });
    if (!server) throw new Error('PostgreSQL is not installed.');
    const node = new Node(name, server);
    deferred.defer(() => node.#destroy());
    return node;
  }

  get port(): number {
    return this.server.port;
  }

  run<Row extends object>(statement: string): Promise<Row[]> {
    return onServer<Row>(this.server.url, statement);
  }

  /** @returns the port of a new standby */
  async startStandby(): Promise<number> {
    this.#standby = await this.server.startReplica();
    return this.#standby.port;
  }

  /** From now on no acknowledged write can be lost with the server. */
  async replicateSynchronously(): Promise<void> {
    await this.run(`alter system set synchronous_standby_names = '*'`);
    await this.run('select pg_reload_conf()');
    await until(async () => {
      const sql = `select from pg_stat_replication where sync_state = 'sync'`;
      return (await this.run(sql)).length > 0;
    });
  }

  /** Makes the standby the server; the old one must have ended. */
  async promoteStandby(): Promise<void> {
    if (!this.#standby) throw new Error(`The ${this.name} has no standby.`);
    // Deleting its files now would hold up the clients, which are in this process.
    this.#lost.push(this.server);
    this.server = this.#standby;
    this.#standby = undefined;
    await this.run(`alter system set synchronous_standby_names = ''`);
    await this.run('select pg_promote()');
    await this.run('select pg_reload_conf()');
  }

  async #destroy(): Promise<void> {
    this.server.thaw();
    for (const server of [this.#standby, this.server, ...this.#lost]) await server?.destroy();
  }
}

/** A coordinator and its workers. */
export class Cluster {
  readonly coordinator: Node;
  readonly workers: Node[] = [];
  /** How often a move had to be repeated. */
  deadlocks = 0;
  readonly #deferred: AsyncDisposableStack;

  private constructor(deferred: AsyncDisposableStack, coordinator: Node) {
    this.#deferred = deferred;
    this.coordinator = coordinator;
  }

  /** @param fill the coordinator, before it has the extension */
  static async start(
    deferred: AsyncDisposableStack,
    workers: number,
    fill: (coordinator: Node) => Promise<void> = async () => {},
  ): Promise<Cluster> {
    const cluster = new Cluster(deferred, await Node.start(deferred, 'coordinator'));
    await fill(cluster.coordinator);
    await cluster.coordinator.run('create extension citus');
    await cluster.announceCoordinator();
    while (cluster.workers.length < workers) await cluster.addWorker();
    return cluster;
  }

  /** Tells all nodes where the coordinator is. */
  async announceCoordinator(): Promise<void> {
    const { port } = this.coordinator;
    await this.coordinator.run(`select citus_set_coordinator_host('${host}', ${port})`);
  }

  async addWorker(): Promise<void> {
    const worker = await Node.start(this.#deferred, `worker ${this.workers.length + 1}`);
    this.workers.push(worker);
    await worker.run('create extension citus');
    await this.coordinator.run(`select citus_add_node('${host}', ${worker.port})`);
  }

  /** Tells all nodes that a worker has another port. */
  async announceWorker(worker: Node, oldPort: number): Promise<void> {
    await this.coordinator.run(
      `select citus_update_node(nodeid, '${host}', ${worker.port})
       from pg_dist_node where nodeport = ${oldPort}`,
    );
  }

  /** The shard in which a shop is, and the worker that has it. */
  async placementOf(shopId: number): Promise<{ shardId: number; worker: Node }> {
    const [found] = await this.coordinator.run<{ shardId: number; port: number }>(
      `select p.shardid as "shardId", n.nodeport as port
       from pg_dist_placement p join pg_dist_node n using (groupid)
       where p.shardid = get_shard_id_for_distribution_column('metric_shops', ${shopId})`,
    );
    const worker = this.workers.find(({ port }) => port === found?.port);
    if (!found || !worker) throw new Error(`No worker has shop ${shopId}.`);
    return { shardId: found.shardId, worker };
  }

  /** @param mode how writes are handled meanwhile */
  async moveShard(
    shardId: number,
    from: Node,
    to: Node,
    mode: 'block_writes' | 'force_logical',
  ): Promise<void> {
    await this.#repeatAfterDeadlock(
      `select citus_move_shard_placement(
         ${shardId}, '${host}', ${from.port}, '${host}', ${to.port}, '${mode}')`,
    );
  }

  /** Gives a shop a shard of its own. */
  async isolateShop(shopId: number): Promise<void> {
    await this.#repeatAfterDeadlock(
      `select isolate_tenant_to_new_shard(
         'metric_shops', ${shopId}, 'CASCADE', shard_transfer_mode => 'block_writes')`,
    );
  }

  async #repeatAfterDeadlock(statement: string): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.coordinator.run(statement);
        return;
      } catch (error) {
        const isDeadlock = error instanceof Error && 'code' in error && error.code === '40P01';
        if (!isDeadlock || attempt === maxAttempts) throw error;
        this.deadlocks += 1;
      }
    }
  }
}
