import { referenceTables } from '../store/cluster/distribute.ts';
import {
  type Node,
  inspectCluster,
  listMissingSettings,
  namesWorker,
} from '../store/cluster/cluster.ts';
import type { Sql } from '../store/database.ts';
import type { Finding } from './finding.ts';

/** Whether a Citus cluster has everything everywhere; nothing if the database is not on one. */
export async function examineCluster(sql: Sql): Promise<Finding[]> {
  const cluster = await inspectCluster(sql);
  if (!cluster) return [];
  const { version, isCoordinator, isDistributed, nodes, missingTables, missingFunctions } = cluster;
  if (!isCoordinator) return [{ check: 'cluster', ok: false, detail: namesWorker }];
  if (!isDistributed) {
    const detail = `Citus ${version}, but nothing is distributed; run "retention distribute"`;
    return [{ check: 'cluster', ok: true, warning: true, detail }];
  }
  const missing = [...missingTables, ...missingFunctions];
  return [
    {
      check: 'cluster',
      ok: missing.length === 0,
      detail:
        missing.length === 0
          ? `Citus ${version}, everything is distributed`
          : `not distributed: ${missing.join(', ')}; run "retention distribute"`,
    },
    ...(await examineNodes(sql, nodes)),
  ];
}

async function examineNodes(sql: Sql, nodes: readonly Node[]): Promise<Finding[]> {
  const missing = await listMissingSettings(sql);
  return nodes.map(({ name, isCoordinator, isActive, takesShards, shards }) => {
    const settings = missing.get(name) ?? [];
    const what = `${isCoordinator ? 'coordinator' : 'worker'}, ${shards} shards`;
    const check = `node ${name}`;
    if (!isActive) return { check, ok: false, detail: `${what}, but it is not active` };
    if (settings.length > 0) {
      const detail = `${what}, but it lacks ${settings.join(', ')}; run "retention distribute"`;
      return { check, ok: false, detail };
    }
    // Reference tables have a shard on every node.
    const isEmpty = takesShards && shards <= referenceTables.size;
    return isEmpty
      ? { check, ok: true, warning: true, detail: `${what}: no shop is there yet; rebalance` }
      : { check, ok: true, detail: what };
  });
}
