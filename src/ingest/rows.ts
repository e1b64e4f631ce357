import { hash } from 'node:crypto';
import { decimalText, parseDecimal } from '../money.ts';
import { type PlanRow, type Row, toStored } from '../records/columns.ts';
import type { SubscriptionStatus } from '../vocabulary.ts';
import type { RecordOf } from '../records/records.ts';

/** Converts records to database rows. Times are epoch milliseconds, amounts are decimal text. */

/** 128 bits of SHA-256 in hex: two records with the same digest are the same record. */
function digestOf(record: unknown): string {
  return hash('sha256', toStored(JSON.stringify(record))).slice(0, 32);
}

export function planRow(record: RecordOf<'plan'>, currency: string, minorDigits: number): PlanRow {
  const { discountType = 'none', discountValue = '0', summary = null } = record.pricing ?? {};
  return {
    ...record,
    groupName: record.groupName ?? '',
    productCount: record.productCount ?? record.productIds.length,
    discountType,
    discountValue,
    summary: summary ?? summarise(discountType, discountValue, currency, minorDigits),
    digest: digestOf(record),
  };
}

function summarise(type: string, value: string, currency: string, minorDigits: number): string {
  if (type === 'none') return 'No discount';
  if (type === 'percentage') return `${Number(value)}% off`;
  const money = new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency,
    minimumFractionDigits: minorDigits,
    maximumFractionDigits: minorDigits,
  }).format(Number(value));
  return type === 'price' ? `${money} each time` : `${money} off`;
}

export interface StatusChange {
  /** Null if it is unknown, as only that of the last change may be. */
  readonly at: number | null;
  readonly from: SubscriptionStatus;
  readonly to: SubscriptionStatus;
}

type Changes = readonly Pick<StatusChange, 'at' | 'to'>[];

/**
 * The status changes of a subscription, which starts as active at createdAt. Without a date, a status other than active
 * applies from updatedAt; or if a feed does not tell that, from the import that saw it first after another one. If none
 * has, the date is unknown.
 * @param now the time of the import
 * @param stored the changes of the stored record, of one that is undated; undefined if it is new
 */
export function statusChangesOf(
  record: RecordOf<'subscription'>,
  now: number,
  stored?: readonly StatusChange[],
): StatusChange[] {
  const { status: to, createdAt, updatedAt, statusEvents } = record;
  if (!isUndated(record)) {
    const events = statusEvents.length > 0 ? statusEvents : [{ at: updatedAt ?? createdAt, to }];
    return statusChangesFrom(events, createdAt);
  }
  if (stored && (stored.at(-1)?.to ?? 'active') === to) return [...stored];
  const at = updatedAt ?? (stored ? now : null);
  return statusChangesFrom([...(stored ?? []), { at, to }], createdAt);
}

/** Whether a record does not say since when its status is as it is, so that the date depends on what is stored. */
export function isUndated(record: RecordOf<'subscription'>): boolean {
  const { status, updatedAt, statusEvents, preserve } = record;
  if (statusEvents.length > 0) return false;
  return preserve === 'history' || (status !== 'active' && updatedAt === null);
}

/**
 * Changes in their order, without those to the same status, and not before createdAt. One with an unknown
 * date that was followed by another counts from createdAt if it is the first; any other is left out.
 */
export function statusChangesFrom(stated: Changes, createdAt: number): StatusChange[] {
  const changes: StatusChange[] = [];
  let from: SubscriptionStatus = 'active';
  let last = createdAt;
  for (const [index, { at, to }] of stated.entries()) {
    const isLast = index === stated.length - 1;
    if (to === from || (at === null && !isLast && changes.length > 0)) continue;
    last = Math.max(last, at ?? 0);
    changes.push({ at: at === null && isLast ? null : last, from, to });
    from = to;
  }
  return changes;
}

type DatedChange = StatusChange & { readonly at: number };
const isDated = (change: StatusChange): change is DatedChange => change.at !== null;

/** The status of a subscription, and how it came to it. */
export function historyRows(
  subscriptionId: number,
  changes: readonly StatusChange[],
  createdAt: number,
) {
  const last = changes.at(-1);
  return {
    status: last?.to ?? ('active' as const),
    statusSince: last ? last.at : createdAt,
    events: changes
      .filter(isDated)
      .map((change, position) => ({ ...change, subscriptionId, position })),
  };
}

/** Any other transition is stored as well, but logged. */
const usualTransitions: Readonly<Record<SubscriptionStatus, readonly SubscriptionStatus[]>> = {
  active: ['paused', 'cancelled', 'expired', 'failed'],
  paused: ['active', 'cancelled', 'expired', 'failed'],
  failed: ['active', 'paused', 'cancelled'],
  cancelled: [],
  expired: [],
};

export function isUsualTransition(from: SubscriptionStatus, to: SubscriptionStatus): boolean {
  return from === to || usualTransitions[from].includes(to);
}

/** @param now, stored as in statusChangesOf */
export function subscriptionRows(
  record: RecordOf<'subscription'>,
  now: number,
  stored?: readonly StatusChange[],
) {
  const { id, createdAt, lines } = record;
  const { events, statusSince } = historyRows(id, statusChangesOf(record, now, stored), createdAt);
  return {
    subscription: {
      ...record,
      statusSince,
      currentPrice: priceOf(lines),
      otherIntervals: otherIntervalsOf(lines),
      digest: digestOf(record),
    },
    lines: lines.map((line, position) => ({
      ...line,
      variantTitle: line.variantTitle ?? '',
      subscriptionId: id,
      position,
    })),
    events,
  };
}

type Line = RecordOf<'subscription'>['lines'][number];
type Priced = Pick<Line, 'currentPrice' | 'quantity'>;

/** Sum of line price times quantity, exact, as a decimal text. */
export function priceOf(lines: readonly Priced[]): string {
  const decimals = lines.reduce(
    (most, line) => Math.max(most, line.currentPrice.split('.')[1]?.length ?? 0),
    0,
  );
  const scale = 10n ** BigInt(decimals);
  const units = lines.reduce((sum, line) => {
    const { numerator, denominator } = parseDecimal(line.currentPrice);
    return sum + numerator * (scale / denominator) * BigInt(line.quantity);
  }, 0n);
  return decimalText(units, decimals);
}

/** The sums of the lines that have an interval of their own, by interval, such as `year 1`; null if none has. */
export function otherIntervalsOf(lines: readonly Line[]): Readonly<Record<string, string>> | null {
  const own = lines.filter(({ intervalUnit }) => intervalUnit !== undefined);
  if (own.length === 0) return null;
  const groups = Object.groupBy(own, (line) => `${line.intervalUnit} ${line.intervalCount}`);
  return Object.fromEntries(
    Object.entries(groups).map(([interval, alike = []]) => [interval, priceOf(alike)]),
  );
}

/** A value that does not replace a stored one makes no difference. */
function digestWithoutKept(record: RecordOf<'payment' | 'refund' | 'cancellation'>): string {
  return digestOf(
    record.preserve === undefined ? record : { ...record, [record.preserve]: undefined },
  );
}

export function paymentRow(record: RecordOf<'payment'>): Row<'payment'> {
  const hasFailed = record.status === 'failed';
  return {
    ...record,
    failureKind: hasFailed ? (record.failureKind ?? 'payment') : null,
    failureCode: hasFailed ? (record.failureCode ?? null) : null,
    digest: digestWithoutKept(record),
  };
}

export function refundRow(record: RecordOf<'refund'>): Row<'refund'> {
  return { ...record, digest: digestWithoutKept(record) };
}

export function cancellationRow(record: RecordOf<'cancellation'>): Row<'cancellation'> {
  return { ...record, digest: digestWithoutKept(record) };
}
