import type { ReadConnections } from '../../store/connections/read-connections.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import {
  type SessionFilter,
  type SessionRow,
  listSessions,
} from '../../store/records/cancellations.ts';
import type { Paging } from '../../store/records/listing.ts';
import type { Period } from '../bounds.ts';
import { type Kept, summariseKept } from '../cancel-flow/kept.ts';
import { keptFromRecords } from './kept.ts';
import {
  type SessionCount,
  type SessionDay,
  countSessions,
  listSessionDays,
  sessionCountsFromRecords,
  sessionDaysFromRecords,
} from '../cancel-flow/sessions.ts';
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
import { type Cohort, type CohortOptions, listMonths, toCohorts } from '../cohort-rows.ts';
import { listCohorts } from '../cohorts.ts';
import { type MovementValues, summariseMovements } from '../movements.ts';
import { listDays } from '../history-rows.ts';
import { type DayOfHistory, toHistory } from '../history.ts';
import { cohortsFromRecords } from './cohorts.ts';
import { movementsFromRecords } from './movements.ts';
import { summariseFromRecords } from './summary.ts';
import type { MetricsRow } from '../row.ts';
import {
  type PaymentRow,
  type PaymentWindow,
  type PaymentsPage,
  listPayments,
} from '../revenue/payments.ts';
import {
  type RenewalsOf,
  type RenewingPage,
  type RenewingRow,
  listRenewing,
  renewingFromRecords,
} from '../revenue/renewing.ts';
import { type ReasonRow, outcomesByReason } from '../cancel-flow/reasons.ts';
import {
  type ClosedCaseRow,
  type ClosedFilter,
  type ClosedPage,
  type OpenCaseRow,
  type OpenPage,
  listClosedCases,
  listOpenCases,
} from '../recovery/cases.ts';
import {
  type ClosedCases,
  type OpenCases,
  listClosed,
  listOutstanding,
} from '../recovery/figures.ts';
import { summariseMetrics } from '../summary.ts';
import { type Selection, ofSelection } from './chosen.ts';
import { churnDaysFromRecords, churnGroupsFromRecords, churnedFromRecords } from './churn.ts';
import { daysFromRecords } from './days.ts';
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
  /** Of a selection, only the first week is known. */
  renewing(week: RenewalsOf, page: RenewingPage): Promise<RenewingRow[]>;
}

/** Figures of the whole shop from the ledger, as pages and operations have them. */
export function servedFigures(sql: Sql | Transaction, { id, currency }: ShopOfFigures): Figures {
  return {
    summary: (period, now) => summariseMetrics(sql, id, now, period),
    history: async (period) => toHistory(await listDays(sql, id, period), currency),
    reasons: async (period) => outcomesByReason(await countSessions(sql, id, period)),
    movements: ({ from, until }) => summariseMovements(sql, id, from, until),
    churnDays: (window) => listChurnDays(sql, id, window),
    churnGroups: (window) => listChurnGroups(sql, id, window),
    churned: (window, page) => listChurned(sql, id, window, page),
    cohorts: (options) => listCohorts(sql, { id, currency }, options),
    sessionCounts: (period) => countSessions(sql, id, period),
    sessionDays: (period) => listSessionDays(sql, id, period),
    sessions: (filter, page) => listSessions(sql, id, filter, page),
    kept: (window) => summariseKept(sql, id, window),
    outstanding: (at) => listOutstanding(sql, id, at),
    closed: (period) => listClosed(sql, id, period),
    openCases: (page) => listOpenCases(sql, id, page),
    closedCases: (filter, page) => listClosedCases(sql, id, filter, page),
    payments: (window, page) => listPayments(sql, id, window, page),
    renewing: (week, page) => listRenewing(sql, id, week, page),
  };
}

/**
 * The same from the records, of a selection or of all subscriptions: a second way to each figure. Only dunning cases
 * are read as they are stored.
 */
export function figuresFromRecords(
  inTurn: InTurn,
  { id, currency }: ShopOfFigures,
  selection: Selection | undefined,
): Figures {
  return {
    summary: (period, now) => inTurn((tx) => summariseFromRecords(tx, id, now, period, selection)),
    history: (period) =>
      inTurn(async (tx) => toHistory(await daysFromRecords(tx, id, period, selection), currency)),
    reasons: (period) =>
      inTurn(async (tx) =>
        outcomesByReason(await sessionCountsFromRecords(tx, id, period, selection)),
      ),
    movements: ({ from, until }) =>
      inTurn((tx) => movementsFromRecords(tx, id, from, until, selection)),
    churnDays: (window) => inTurn((tx) => churnDaysFromRecords(tx, id, window, selection)),
    churnGroups: (window) => inTurn((tx) => churnGroupsFromRecords(tx, id, window, selection)),
    churned: (window, page) => inTurn((tx) => churnedFromRecords(tx, id, window, page, selection)),
    cohorts: (options) =>
      inTurn(async (tx) =>
        toCohorts(
          await cohortsFromRecords(tx, id, options, selection),
          listMonths(options),
          currency,
        ),
      ),
    sessionCounts: (period) => inTurn((tx) => sessionCountsFromRecords(tx, id, period, selection)),
    sessionDays: (period) => inTurn((tx) => sessionDaysFromRecords(tx, id, period, selection)),
    sessions: (filter, page) =>
      inTurn((tx) =>
        listSessions(tx, id, filter, page, (all) => ofSelection(tx, id, all, selection)),
      ),
    kept: (window) => inTurn((tx) => keptFromRecords(tx, id, window, selection)),
    outstanding: (at) => inTurn((tx) => listOutstanding(tx, id, at, selection)),
    closed: (period) => inTurn((tx) => listClosed(tx, id, period, selection)),
    openCases: (page) => inTurn((tx) => listOpenCases(tx, id, page, selection)),
    closedCases: (filter, page) => inTurn((tx) => listClosedCases(tx, id, filter, page, selection)),
    payments: (window, page) => inTurn((tx) => listPayments(tx, id, window, page, selection)),
    renewing: ({ now }, page) => inTurn((tx) => renewingFromRecords(tx, id, now, page, selection)),
  };
}

/**
 * Reads figures of a shop from the ledger, or those of a selection from its records. Only the subscriptions of the
 * selection exist then; payments, refunds, dunning and cancel-flow sessions count through their subscription.
 * @throws SegmentTooLarge if reading a selection takes longer than the limit, in all
 */
export async function readFigures<Result>(
  { analyse, segments }: Pick<ReadConnections, 'analyse' | 'segments'>,
  shop: ShopOfFigures,
  selection: Selection | undefined,
  work: (figures: Figures) => Promise<Result>,
  { milliseconds = segmentMilliseconds } = {},
): Promise<Result> {
  if (!selection) return work(servedFigures(analyse, shop));
  return withinTimeLimit(segments, milliseconds, (inTurn) =>
    work(figuresFromRecords(inTurn, shop, selection)),
  );
}
