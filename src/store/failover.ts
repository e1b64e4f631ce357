import type { Transaction } from './database.ts';

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
