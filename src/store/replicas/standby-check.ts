import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../clock.ts';
import { type Sql, connect } from '../database.ts';
import { type PrimaryAnswer, primaryQuestion } from './primary-positions.ts';
import {
  type StandbyAnswer,
  boundMilliseconds,
  standbyQuestion,
  strangenessOf,
} from './standby-answer.ts';

const pauseMilliseconds = 20;

/**
 * Whether a standby could be read from: how long it takes to get to where the primary is.
 * @throws when one of them cannot be asked
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
    // Connected beforehand, so that it does not count as lag.
    await sql`select 1`;
    const askedAt = systemClock.monotonic();
    const [leader] = await primary.unsafe<PrimaryAnswer[]>(primaryQuestion);
    for (;;) {
      const [standby] = await sql.unsafe<StandbyAnswer[]>(standbyQuestion);
      const lag = systemClock.monotonic() - askedAt;
      if (!leader || !standby) throw new Error('the server answered nothing');
      const strangeness = strangenessOf(standby, leader);
      if (strangeness) return { ok: false, detail: strangeness };
      if ((standby.position ?? 0) >= leader.position) {
        return { ok: true, detail: `in recovery, lags ${Math.ceil(lag)} ms` };
      }
      if (lag > boundMilliseconds) {
        return { ok: false, detail: `in recovery, lags more than ${boundMilliseconds} ms` };
      }
      await sleep(pauseMilliseconds);
    }
  } finally {
    await sql.end(0);
  }
}
