import type { ReadConnections } from '../../store/connections/read-connections.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import {
  type SessionFilter,
  type SessionRow,
  listSessions,
} from '../../store/records/cancellations.ts';
import type { Paging } from '../../store/records/paging.ts';
import type { Period } from '../bounds.ts';
import {
  type Kept,
  type SessionCount,
  type SessionDay,
  type ReasonRow,
  summariseKept,
  keptFromRecords,
  countSessions,
  listSessionDays,
  sessionCountsFromRecords,
  sessionDaysFromRecords,
  outcomesByReason,
} from '../cancel-flow.ts';
import {
  type ChurnDay,
  type ChurnGroup,
  type ChurnedPage,
  type ChurnedRow,
  type Window,
  listChurnDays,
  listChurnGroups,
  listChurned,
} from '../churn.ts';
import { type Cohort, type CohortOptions, listMonths, toCohorts, listCohorts } from '../cohorts.ts';
import { type MovementValues, summariseMovements } from '../movements.ts';
import type { DayOfHistory } from '../figures.ts';
import { listDays, toHistory } from '../history.ts';
import { cohortsFromRecords, movementsFromRecords } from './periods.ts';
import { summariseFromRecords, daysFromRecords } from './summary.ts';
import type { MetricsRow } from '../facts.ts';
import {
  type PaymentRow,
  type PaymentWindow,
  type PaymentsPage,
  listPayments,
} from '../payments.ts';
import {
  type RenewalsOf,
  type RenewingPage,
  type RenewingRow,
  listRenewing,
  renewingFromRecords,
} from '../renewing.ts';
import {
  type ClosedCaseRow,
  type ClosedFilter,
  type ClosedPage,
  type OpenCaseRow,
  type OpenPage,
  type ClosedCases,
  type OpenCases,
  listClosedCases,
  listOpenCases,
  listClosed,
  listOutstanding,
} from '../recovery.ts';
import { summariseMetrics } from '../summary.ts';
import { type SegmentAt, rowsInSegment } from './subscriptions.ts';
import { churnDaysFromRecords, churnGroupsFromRecords, churnedFromRecords } from './churn.ts';
import { type InTurn, segmentMilliseconds, withinTimeLimit } from './time-limit.ts';

interface ShopOfFigures {
  readonly id: number;
  readonly currency: string;
}

/** What pages show, of a whole shop or of a segment of it. */
export interface Figures {
  /** @param now epoch milliseconds; the period ends then or earlier */
  summary(period: Period, now: number): Promise<MetricsRow>;
  history(period: Period): Promise<DayOfHistory[]>;
  reasons(period: Period): Promise<ReasonRow[]>;
  movements(period: Period): Promise<MovementValues>;
  churnDays(window: Window): Promise<ChurnDay[]>;
  churnGroups(window: Window): Promise<ChurnGroup[]>;
  churned(window: Window, page: ChurnedPage): Promise<ChurnedRow[]>;
  cohorts(options: CohortOptions): Promise<Cohort[]>;
  sessionCounts(period: Period): Promise<SessionCount[]>;
  sessionDays(period: Period): Promise<SessionDay[]>;
  sessions(filter: SessionFilter, page: Paging): Promise<SessionRow[]>;
  kept(window: Window): Promise<Kept>;
  /** @param at epoch milliseconds */
  outstanding(at: number): Promise<OpenCases[]>;
  closed(period: Period): Promise<ClosedCases[]>;
  openCases(page: OpenPage): Promise<OpenCaseRow[]>;
  closedCases(filter: ClosedFilter, page: ClosedPage): Promise<ClosedCaseRow[]>;
  payments(window: PaymentWindow, page: PaymentsPage): Promise<PaymentRow[]>;
  /** Of a segment, only the first week is known. */
  renewing(week: RenewalsOf, page: RenewingPage): Promise<RenewingRow[]>;
}

/** Figures of the whole shop from the ledger, as pages and operations have them. */
export function figuresFromLedger(
  sql: Sql | Transaction,
  { id, currency }: ShopOfFigures,
): Figures {
  return {
    summary: (period, now) => summariseMetrics(sql, id, now, period),
    history: async (period) => toHistory(await listDays(sql, id, period), currency),
    reasons: async (period) => outcomesByReason(await countSessions(sql, id, period)),
    movements: (period) => summariseMovements(sql, id, period),
    churnDays: (window) => listChurnDays(sql, id, window),
    churnGroups: (window) => listChurnGroups(sql, id, window),
    churned: (window, page) => listChurned(sql, id, window, page),
    cohorts: (options) => listCohorts(sql, { id, currency }, options),
    sessionCounts: (period) => countSessions(sql, id, period),
    sessionDays: (period) => listSessionDays(sql, id, period),
    kept: (window) => summariseKept(sql, id, window),
    renewing: (week, page) => listRenewing(sql, id, week, page),
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
    sessions: (filter, page) =>
      listSessions(sql, id, filter, page, (all) => rowsInSegment(sql, id, all, segment)),
    outstanding: (at) => listOutstanding(sql, id, at, segment),
    closed: (period) => listClosed(sql, id, period, segment),
    openCases: (page) => listOpenCases(sql, id, page, segment),
    closedCases: (filter, page) => listClosedCases(sql, id, filter, page, segment),
    payments: (window, page) => listPayments(sql, id, window, page, segment),
  } satisfies Partial<Figures>;
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
