import type { Transaction } from '../../store/database.ts';
import {
  listValues,
  noteValuesSince,
  updatePastValues,
} from '../../store/records/subscription-writes.ts';
import type { Entry } from '../batch.ts';
import type { SeenValue } from '../../records/past-values.ts';
import { knownOf, pastWithSighting } from './past-values.ts';
import type { Histories } from './status-histories.ts';

/**
 * Stores what records show of what their subscriptions were once worth, once these are stored. The records themselves
 * may be unchanged or stale.
 * @param now the time of the import
 */
export async function storeValueSightings(
  tx: Transaction,
  shopId: number,
  entries: readonly Entry[],
  { histories, now }: { histories: Histories; now: number },
): Promise<void> {
  const showing = entries.filter(({ seenValues }) => seenValues !== undefined);
  if (showing.length === 0) return;
  const seen = Map.groupBy(showing, ({ record }) =>
    record.type === 'payment' ? record.subscriptionId : record.id,
  );
  const changed: { id: number; pastValues: readonly SeenValue[] | null }[] = [];
  let since = now;
  for (const row of await listValues(tx, shopId, [...seen.keys()])) {
    const { id, createdAt, planInterval } = row;
    const known = knownOf(row, histories.sightings.undatedTimesOf(row.sightings));
    const isMixed = Object.keys(known.amounts).length > 1;
    // The newest first: what only changed is proved by what came after it.
    const sightings = (seen.get(id) ?? [])
      .flatMap(({ seenValues = [] }) => seenValues)
      .filter(({ at, shows }) => at >= createdAt && at <= now && (shows === 'all' || !isMixed))
      .toSorted((one, other) => other.at - one.at);
    let { past } = known;
    for (const each of sightings) {
      past = pastWithSighting({ ...known, past }, each, planInterval);
      since = Math.min(since, each.at);
    }
    if (JSON.stringify(past) !== JSON.stringify(known.past)) changed.push({ id, pastValues: past });
  }
  await updatePastValues(tx, shopId, changed);
  if (since < now) await noteValuesSince(tx, shopId, since);
}
