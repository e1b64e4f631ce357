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
  const { discountType, discountValue, summary } = record.pricing ?? {
    discountType: 'none' as const,
    discountValue: '0',
    summary: null,
  };
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
  /** Null where nobody knows it, which only the last change may have. */
  readonly at: number | null;
  readonly from: SubscriptionStatus;
  readonly to: SubscriptionStatus;
}

/**
 * The status changes of a subscription, which starts as active at createdAt. Events that change
 * nothing are left out, and events before createdAt count at createdAt. Without events, a status
 * other than active applies from updatedAt, or if a feed does not tell that, from the import that saw it first.
 * @param now the time of the import
 * @param stored the changes to which a record that keeps its history adds its status
 */
export function statusChangesOf(
  record: RecordOf<'subscription'>,
  now: number,
  stored: readonly StatusChange[] = [],
): StatusChange[] {
  if (stored.length > 0) return withStatus(stored, record, now);
  const events =
    record.statusEvents.length > 0
      ? record.statusEvents
      : [{ at: unknownChangeOf(record, now), to: record.status }];
  const changes: StatusChange[] = [];
  let from: SubscriptionStatus = 'active';
  for (const { at, to } of events) {
    if (to !== from)
      changes.push({ at: at === null ? null : Math.max(at, record.createdAt), from, to });
    from = to;
  }
  return changes;
}

/** The time of a change of status that the record does not date. */
function unknownChangeOf(
  { preserve, updatedAt, createdAt }: RecordOf<'subscription'>,
  now: number,
): number {
  return updatedAt ?? (preserve === 'history' ? now : createdAt);
}

type DatedChange = StatusChange & { readonly at: number };
const isDated = (change: StatusChange): change is DatedChange => change.at !== null;

/** Adds the record's status, as of updatedAt or now, unless it is already the last stored one. */
function withStatus(
  stored: readonly StatusChange[],
  record: RecordOf<'subscription'>,
  now: number,
): StatusChange[] {
  const { status: to, createdAt } = record;
  if (stored.at(-1)?.to === to) return [...stored];
  // What is known of the past is what has a date.
  const dated = stored.filter(isDated);
  const { at: last = createdAt, to: from = 'active' } = dated.at(-1) ?? {};
  if (from === to) return dated;
  return [...dated, { at: Math.max(unknownChangeOf(record, now), last, createdAt), from, to }];
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
  const changes = statusChangesOf(record, now, stored);
  return {
    subscription: {
      ...record,
      statusSince: changes.length === 0 ? record.createdAt : (changes.at(-1)?.at ?? null),
      currentPrice: priceOf(record.lines),
      otherIntervals: otherIntervalsOf(record.lines),
      digest: digestOf(record),
    },
    lines: record.lines.map((line, position) => ({
      ...line,
      variantTitle: line.variantTitle ?? '',
      subscriptionId: record.id,
      position,
    })),
    events: changes
      .filter(isDated)
      .map((change, position) => ({ ...change, subscriptionId: record.id, position })),
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
function otherIntervalsOf(lines: readonly Line[]): Readonly<Record<string, string>> | null {
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
