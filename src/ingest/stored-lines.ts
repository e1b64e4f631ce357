import type { Transaction } from '../store/database.ts';
import { type StoredLine, listStoredLines } from '../store/records/stored-lines.ts';
import type { RecordOf } from '../records/records.ts';

type Subscription = RecordOf<'subscription'>;

/** Completes records whose feed does not know all prices, or not all lines, by what is stored. */
export async function withStoredLines(
  records: readonly Subscription[],
  tx: Transaction,
  shopId: number,
): Promise<readonly Subscription[]> {
  const isPartial = (record: Subscription) =>
    record.stays !== undefined || record.lines.some(({ preserve }) => preserve !== undefined);
  const ids = records.filter(isPartial).map(({ id }) => id);
  if (ids.length === 0) return records;
  const lines = await listStoredLines(tx, shopId, ids);
  const stored = Map.groupBy(lines, ({ subscriptionId }) => subscriptionId);
  return records.map((record) =>
    isPartial(record) ? complete(record, stored.get(record.id) ?? []) : record,
  );
}

/** A line stays what is stored of its variant; its quantity is known, so what stays is the price of a unit. */
function complete(
  { stays = [], ...record }: Subscription,
  stored: readonly StoredLine[],
): Subscription {
  const left = stored.toSorted((a, b) => a.position - b.position);
  const lines = record.lines.map(({ preserve, ...line }) => {
    const at = left.findIndex(({ variantId }) => variantId === line.variantId);
    const [before] = at === -1 ? [] : left.splice(at, 1);
    if (preserve === undefined || !before) return line;
    const { currentPrice, intervalUnit, intervalCount } = lineOf(before, record);
    return { ...line, currentPrice, intervalUnit, intervalCount };
  });
  const last = Math.max(...lines.map(({ lineId }) => lineId));
  const others = left.map((line, index) => ({ ...lineOf(line, record), lineId: last + index + 1 }));
  const timeOf = (name: 'trialEndsAt' | 'paidThroughAt') =>
    record[name] ?? (stays.includes(name) ? stored[0]?.[name] : undefined);
  return {
    ...record,
    trialEndsAt: timeOf('trialEndsAt') ?? undefined,
    paidThroughAt: timeOf('paidThroughAt') ?? null,
    lines: stays.includes('lines') ? [...lines, ...others] : lines,
  };
}

/** A stored line as one of a record, which may be on another plan. */
function lineOf(stored: StoredLine, record: Subscription) {
  const { subscriptionId: _s, position: _p, trialEndsAt: _t, paidThroughAt: _e, ...found } = stored;
  const { planId, unit, count, ...line } = found;
  const isSame = planId === record.planId;
  const [intervalUnit, intervalCount] = isSame
    ? [line.intervalUnit ?? undefined, line.intervalCount ?? undefined]
    : [unit, count];
  return { ...line, intervalUnit, intervalCount };
}
