import type { Sql, Transaction } from './database.ts';

/**
 * Makes the commit of this transaction wait until the synchronous standbys have it on disk, even where
 * a lower `synchronous_commit` is the default of the role or database. Without
 * `synchronous_standby_names`, it waits for the server's own disk. A promoted standby replays all that
 * it has before it answers, so nothing is won by waiting for `remote_apply`; where that is set, it stays.
 */
export async function requireSynchronousCommit(tx: Transaction): Promise<void> {
  await tx`
    select set_config('synchronous_commit', 'on', true)
    where current_setting('synchronous_commit') not in ('on', 'remote_apply')`;
}

export interface Replication {
  /** `synchronous_standby_names`; empty where no commit waits for a standby. */
  readonly synchronousNames: string;
  /** How many standbys stream from this server right now. */
  readonly standbys: number;
}

/** What any login may see of the replication of a PostgreSQL server. */
export async function findReplication(sql: Sql): Promise<Replication> {
  // A login without pg_read_all_stats sees neither the state nor the kind of a sender, but its name. Only
  // consumers of logical replication have a logical slot; backups are no standbys either.
  const [row] = await sql<Replication[]>`
    select current_setting('synchronous_standby_names') as "synchronousNames",
      (select count(*)::int from pg_stat_replication r
        where r.application_name not in ('pg_basebackup', 'pg_receivewal')
          and not exists (
            select from pg_replication_slots s
            where s.active_pid = r.pid and s.slot_type = 'logical')) as standbys`;
  if (!row) throw new Error('The server answered nothing.');
  return row;
}
