import type { ReadConnections } from '../../store/connections/read-connections.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import { type SessionFilter, listSessions } from '../../store/records/cancellations.ts';
import type { Paging } from '../../store/records/listing.ts';
import type { Period } from '../bounds.ts';
import {
  summariseKept,
  keptFromRecords,
  countSessions,
  listSessionDays,
  sessionCountsFromRecords,
  sessionDaysFromRecords,
  outcomesByReason,
} from '../cancel-flow.ts';
import {
  type ChurnedPage,
  type Window,
  listChurnDays,
  listChurnGroups,
  listChurned,
} from '../churn.ts';
import { type CohortOptions, listMonths, toCohorts, listCohorts } from '../cohorts.ts';
import { type MovementDay, listMovementDays, movementsOf } from '../movements.ts';
import { listDays, toHistory } from '../history.ts';
import { summariseRetention } from '../retention.ts';
import { cohortsFromRecords, movementsFromRecords, retentionFromRecords } from './periods.ts';
import { summariseFromRecords, daysFromRecords } from './summary.ts';
import { type PaymentWindow, type PaymentsPage, listPayments } from '../payments.ts';
import {
  type RenewalsOf,
  type RenewingPage,
  listRenewing,
  renewingFromRecords,
} from '../renewing.ts';
import {
  type ClosedFilter,
  type ClosedPage,
  listClosedCases,
  listClosed,
  listOutstanding,
} from '../recovery.ts';
import {
  type OpenFilter,
  type OpenPage,
  listOpenCases,
  summariseExpected,
} from '../dunning/open-cases.ts';
import { summariseMetrics } from '../summary.ts';
import { type SegmentAt, rowsInSegment } from './subscriptions.ts';
import { churnDaysFromRecords, churnGroupsFromRecords, churnedFromRecords } from './churn.ts';
import { type InTurn, segmentMilliseconds, withinTimeLimit } from './time-limit.ts';

interface ShopOfFigures {
  readonly id: number;
  readonly currency: string;
}

/** What pages show, of a whole shop or of a segment of it. */
export type Figures = ReturnType<typeof figuresFromLedger>;

/** Figures of the whole shop from the ledger, as pages and operations have them. */
export function figuresFromLedger(sql: Sql | Transaction, { id, currency }: ShopOfFigures) {
  // A page shows the days and the movements of the same periods.
  const moved = new Map<string, Promise<MovementDay[]>>();
  const movementDays = (period: Period) => {
    const key = `${period.from} ${period.until}`;
    const days = moved.get(key) ?? listMovementDays(sql, id, period);
    moved.set(key, days);
    return days;
  };
  return {
    /** @param now epoch milliseconds; the period ends then or earlier */
    summary: (period: Period, now: number) => summariseMetrics(sql, id, now, period),
    history: async (period: Period) =>
      toHistory(await listDays(sql, id, period, movementDays(period)), currency),
    reasons: async (period: Period) => outcomesByReason(await countSessions(sql, id, period)),
    movements: async (period: Period) => movementsOf(await movementDays(period)),
    retention: (period: Period) => summariseRetention(sql, id, period),
    churnDays: (window: Window) => listChurnDays(sql, id, window),
    churnGroups: (window: Window) => listChurnGroups(sql, id, window),
    churned: (window: Window, page: ChurnedPage) => listChurned(sql, id, window, page),
    cohorts: (options: CohortOptions) => listCohorts(sql, { id, currency }, options),
    sessionCounts: (period: Period) => countSessions(sql, id, period),
    sessionDays: (period: Period) => listSessionDays(sql, id, period),
    kept: (window: Window) => summariseKept(sql, id, window),
    /** Of a segment, only the first week is known. */
    renewing: (week: RenewalsOf, page: RenewingPage) => listRenewing(sql, id, week, page),
    ...figuresOfRows(sql, id, undefined),
  };
}

/**
 * The same from the records, of a segment or of all subscriptions. Only dunning cases are read as they are stored.
 */
export function figuresFromRecords(
  sql: Transaction,
  { id, currency }: ShopOfFigures,
  segment: SegmentAt | undefined,
): Figures {
  return {
    summary: (period, now) => summariseFromRecords(sql, id, now, period, segment),
    history: async (period) => toHistory(await daysFromRecords(sql, id, period, segment), currency),
    reasons: async (period) =>
      outcomesByReason(await sessionCountsFromRecords(sql, id, period, segment)),
    movements: (period) => movementsFromRecords(sql, id, period, segment),
    retention: (period) => retentionFromRecords(sql, id, period, segment),
    churnDays: (window) => churnDaysFromRecords(sql, id, window, segment),
    churnGroups: (window) => churnGroupsFromRecords(sql, id, window, segment),
    churned: (window, page) => churnedFromRecords(sql, id, window, page, segment),
    cohorts: async (options) =>
      toCohorts(await cohortsFromRecords(sql, id, options, segment), listMonths(options), currency),
    sessionCounts: (period) => sessionCountsFromRecords(sql, id, period, segment),
    sessionDays: (period) => sessionDaysFromRecords(sql, id, period, segment),
    kept: (window) => keptFromRecords(sql, id, window, segment),
    renewing: ({ now }, page) => renewingFromRecords(sql, id, now, page, segment),
    ...figuresOfRows(sql, id, segment),
  };
}

/** What is read from rows in both ways. */
function figuresOfRows(sql: Sql | Transaction, id: number, segment: SegmentAt | undefined) {
  return {
    sessions: (filter: SessionFilter, page: Paging) =>
      listSessions(sql, id, filter, page, (all) => rowsInSegment(sql, id, all, segment)),
    /** @param at epoch milliseconds */
    outstanding: (at: number) => listOutstanding(sql, id, at, segment),
    closed: (period: Period) => listClosed(sql, id, period, segment),
    openCases: (page: OpenPage) => listOpenCases(sql, id, page, segment),
    expected: (cases: OpenFilter) => summariseExpected(sql, id, cases, segment),
    closedCases: (filter: ClosedFilter, page: ClosedPage) =>
      listClosedCases(sql, id, filter, page, segment),
    payments: (window: PaymentWindow, page: PaymentsPage) =>
      listPayments(sql, id, window, page, segment),
  };
}

/**
 * Reads figures of a shop from the ledger, or those of a segment from its records. Only the subscriptions of the
 * segment exist then; payments, refunds, dunning and cancel-flow sessions count through their subscription.
 * @throws SegmentTooLarge if reading a segment takes longer than the limit, in all
 */
export async function readFigures<Result>(
  { analyse, segments }: Pick<ReadConnections, 'analyse' | 'segments'>,
  shop: ShopOfFigures,
  segment: SegmentAt | undefined,
  work: (figures: Figures) => Promise<Result>,
  { milliseconds = segmentMilliseconds } = {},
): Promise<Result> {
  if (!segment) return work(figuresFromLedger(analyse, shop));
  return withinTimeLimit(segments, milliseconds, (tx, inTurn) =>
    work(eachInTurn(figuresFromRecords(tx, shop, segment), inTurn)),
  );
}

/** The same figures, each read once those before it have been. */
function eachInTurn(figures: Figures, inTurn: InTurn): Figures {
  const reads = Object.entries(figures).map(([name, read]) => [
    name,
    (...of: unknown[]) => inTurn(() => (read as (...of: unknown[]) => Promise<unknown>)(...of)),
  ]);
  return Object.fromEntries(reads) as Figures;
}
