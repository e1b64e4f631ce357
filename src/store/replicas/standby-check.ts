import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../clock.ts';
import { type Sql, connect } from '../database.ts';
import { askPrimary } from './primary-positions.ts';
import { askStandby, isWorker, maxLagMilliseconds, mismatchOf } from './standby-answer.ts';

const pauseMilliseconds = 20;

/**
 * Checks whether a standby can be read from, by measuring how long it takes to reach the primary's position.
 * @throws if a server cannot be queried
 */
export async function checkStandby(
  primary: Sql,
  address: string,
): Promise<{ readonly ok: boolean; readonly detail: string }> {
  const sql = connect(address, {
    name: 'doctor',
    connections: 1,
    readOnly: true,
    allowStandby: true,
    statementTimeoutMilliseconds: 5_000,
  });
  try {
    // Connect first, so that it does not count as lag.
    await sql`select 1`;
    const askedAt = systemClock.monotonic();
    const leader = await askPrimary(primary);
    for (;;) {
      const standby = await askStandby(sql);
      const lag = systemClock.monotonic() - askedAt;
      if (!leader || !standby) throw new Error('the server returned no rows');
      const mismatch = mismatchOf(standby, leader);
      if (mismatch) return { ok: false, detail: mismatch };
      if (isWorker(standby)) return { ok: true, detail: 'a worker of the cluster' };
      if ((standby.position ?? 0) >= leader.position) {
        return { ok: true, detail: `in recovery, lags ${Math.ceil(lag)} ms` };
      }
      if (lag > maxLagMilliseconds) {
        return { ok: false, detail: `in recovery, lags more than ${maxLagMilliseconds} ms` };
      }
      await sleep(pauseMilliseconds);
    }
  } finally {
    await sql.end(0);
  }
}
