import type { Clock } from '../../clock.ts';
import type { Log } from '../../log/log.ts';
import type { Sql } from '../../store/database.ts';
import { appendOmitted, installation, listAuditHeads } from '../../store/owners/audit.ts';
import { Periodic } from '../../store/periodic.ts';

const headsPerLine = 100;

/**
 * Logs the heads of the audit log's chains that have changed, at start and daily: kept with the log, they show whether
 * the end of a chain was cut.
 */
export function logHeads(sql: Sql, clock: Clock, log: Log): Periodic {
  const logged = new Map<number, number>();
  const report = async () => {
    await appendOmitted(sql, installation, new Date(clock.now()));
    const heads = (await listAuditHeads(sql)).filter(
      ({ shopId, number }) => number > (logged.get(shopId) ?? 0),
    );
    for (let from = 0; from < heads.length; from += headsPerLine) {
      log.info({ heads: heads.slice(from, from + headsPerLine) }, 'audit heads');
    }
    for (const { shopId, number } of heads) logged.set(shopId, number);
  };
  const daily = { everyMilliseconds: 24 * 3_600_000 };
  return new Periodic(daily, report, log, 'could not log the heads of the audit log');
}
