import type { Config } from '../config/config.ts';
import { CommandError } from '../errors.ts';
import { NotReplicated } from '../store/connections/session.ts';
import type { Sql } from '../store/database.ts';
import { findReplication } from '../store/failover.ts';
import type { Context } from './framework/command.ts';
import { type Io, tell } from './framework/io.ts';

const noticeMilliseconds = 3_000;

/** Waits for a revocation to commit; if that takes long, prints why. */
export async function awaitCommit<Result>(revocation: Promise<Result>, io: Io): Promise<Result> {
  const timer = setTimeout(() => {
    tell(
      io,
      'The database has not confirmed the revocation yet. If synchronous_standby_names is set, it waits for a standby. Until this command ends, a failover can undo the revocation.',
    );
  }, noticeMilliseconds);
  try {
    return await revocation;
  } catch (error) {
    if (error instanceof NotReplicated) {
      throw new CommandError(`${error.message} Run the command again to wait again.`);
    }
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** `no standby`: neither the server nor the configuration has one. */
export type FailoverSafety = 'no standby' | 'waits' | 'blocked' | 'can be undone' | 'unknown';

/** Whether a failover can undo a revocation that this server has just acknowledged. */
export async function assessFailover(config: Config, sql: Sql): Promise<FailoverSafety> {
  if (config.databaseUrl === undefined) return 'no standby';
  try {
    const { synchronousNames, standbys } = await findReplication(sql);
    if (synchronousNames !== '') return standbys > 0 ? 'waits' : 'blocked';
    return standbys > 0 || config.databaseReadUrls.length > 0 ? 'can be undone' : 'no standby';
  } catch {
    // Some logins cannot read these views. A completed revocation must not look as if it failed.
    return 'unknown';
  }
}

/** Warns if a failover can bring back the keys that were just revoked. */
export async function warnAboutFailover({ config, io }: Context, sql: Sql): Promise<void> {
  const safety = await assessFailover(config, sql);
  if (safety === 'can be undone') {
    tell(
      io,
      'The standbys are asynchronous: a failover right now can undo this. "After a failover" in docs/operations.md says how to revoke again.',
    );
  } else if (safety === 'unknown') {
    tell(
      io,
      'This login cannot see whether a failover can undo this; "retention doctor" explains why.',
    );
  }
}
