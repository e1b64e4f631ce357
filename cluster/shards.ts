import type { Cluster } from './nodes.ts';

interface Parts {
  readonly name: string;
  readonly triggers: number;
  readonly foreignKeys: number;
}

/** Rows must have a table's name as `relname` and its oid as `oid`. */
const countParts = (tables: string) => `
  select relname as name,
    (select count(*)::int from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal)
      as triggers,
    (select count(*)::int from pg_constraint f where f.conrelid = c.oid and f.contype = 'f')
      as "foreignKeys"
  from (${tables}) c`;

/** Shards that lack triggers or foreign keys of their table, or are missing, one sentence each. */
export async function listDamagedShards({ coordinator, workers }: Cluster): Promise<string[]> {
  const expected = await coordinator.run<Parts>(
    countParts(`select logicalrelid::oid as oid, logicalrelid::text as relname
      from pg_dist_partition where partmethod = 'h'`),
  );
  const damaged: string[] = [];
  for (const worker of workers) {
    const placements = await coordinator.run<{ table: string; shard: string }>(
      `select s.logicalrelid::text as table, s.logicalrelid::text || '_' || shardid as shard
       from pg_dist_shard s
       join pg_dist_partition d using (logicalrelid)
       join pg_dist_placement p using (shardid) join pg_dist_node n using (groupid)
       where d.partmethod = 'h' and n.nodeport = ${worker.port}`,
    );
    // Otherwise workers hide shards.
    const found = await worker.run<Parts>(
      `set citus.override_table_visibility = off;
       ${countParts(`select oid, relname from pg_class where relkind = 'r'`)}`,
    );
    const byName = new Map(found.map((parts) => [parts.name, parts]));
    for (const { table, shard } of placements) {
      const whole = expected.find(({ name }) => name === table);
      const { triggers, foreignKeys } = byName.get(shard) ?? {};
      if (triggers === whole?.triggers && foreignKeys === whole?.foreignKeys) continue;
      damaged.push(
        `${shard} on ${worker.name} has ${triggers} triggers and ${foreignKeys} foreign keys, not ${whole?.triggers} and ${whole?.foreignKeys}`,
      );
    }
  }
  return damaged;
}
