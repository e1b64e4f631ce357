import type { Config } from '../config.ts';
import { CommandError } from '../errors.ts';
import { NotReplicated } from '../store/connections/session.ts';
import type { Sql } from '../store/database.ts';
import { findReplication } from '../store/failover.ts';
import { tell } from './command.ts';

const noticeMilliseconds = 3_000;

/** Waits for the commit of a revocation, and says what keeps it where that takes long. */
export async function committed<Result>(revocation: Promise<Result>): Promise<Result> {
  const timer = setTimeout(() => {
    tell(
      'The database has not confirmed the revocation yet. Where synchronous_standby_names is set, it waits for a standby; until this command ends, a failover can undo it.',
    );
  }, noticeMilliseconds);
  try {
    return await revocation;
  } catch (error) {
    if (error instanceof NotReplicated) {
      throw new CommandError(`${error.message} Run the command again: it waits again.`);
    }
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** `no standby` as far as this server and the configuration say. */
export type FailoverSafety = 'no standby' | 'waits' | 'waits in vain' | 'can be undone' | 'unknown';

/** What a failover does with a revocation that this server has just acknowledged. */
export async function assessFailover(config: Config, sql: Sql): Promise<FailoverSafety> {
  if (config.databaseUrl === undefined) return 'no standby';
  try {
    const { synchronousNames, standbys } = await findReplication(sql);
    if (synchronousNames !== '') return standbys > 0 ? 'waits' : 'waits in vain';
    return standbys > 0 || config.databaseReadUrls.length > 0 ? 'can be undone' : 'no standby';
  } catch {
    // A login may be kept from these views; a revocation that is done must not look as if it failed.
    return 'unknown';
  }
}

/** Says so where a failover can bring back the keys that were just revoked. */
export async function tellOfFailover(config: Config, sql: Sql): Promise<void> {
  const safety = await assessFailover(config, sql);
  if (safety === 'can be undone') {
    tell(
      'The standbys are asynchronous: a failover right now can undo this. "After a failover" in docs/operations.md says how to revoke again.',
    );
  } else if (safety === 'unknown') {
    tell('This login cannot see whether a failover can undo this; "retention doctor" says more.');
  }
}
