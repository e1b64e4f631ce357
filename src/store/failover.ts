import type { Sql, Transaction } from './database.ts';

/**
 * Makes this transaction's commit wait until the synchronous standbys have written it to disk, even if the
 * role or database defaults to a lower `synchronous_commit`. Without `synchronous_standby_names` it waits
 * for the server's own disk. `remote_apply` is kept but not required: a promoted standby replays its whole
 * log before it accepts queries.
 */
export async function requireSynchronousCommit(tx: Transaction): Promise<void> {
  await tx`
    select set_config('synchronous_commit', 'on', true)
    where current_setting('synchronous_commit') not in ('on', 'remote_apply')`;
}

export interface Replication {
  /** `synchronous_standby_names`; empty if no commit waits for a standby. */
  readonly synchronousNames: string;
  /** How many standbys currently stream from this server. */
  readonly standbys: number;
}

/** The server's replication, as far as any login may see it. */
export async function findReplication(sql: Sql): Promise<Replication> {
  // Without pg_read_all_stats a login sees a sender's name, but not its state or kind. Only logical
  // replication uses a logical slot; backup programs are not standbys either.
  const [row] = await sql<Replication[]>`
    select current_setting('synchronous_standby_names') as "synchronousNames",
      (select count(*)::int from pg_stat_replication r
        where r.application_name not in ('pg_basebackup', 'pg_receivewal')
          and not exists (
            select from pg_replication_slots s
            where s.active_pid = r.pid and s.slot_type = 'logical')) as standbys`;
  if (!row) throw new Error('The server returned no rows.');
  return row;
}
