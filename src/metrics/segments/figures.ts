import type { ReadConnections } from '../../store/connections/read-connections.ts';
import {
  type SessionFilter,
  type SessionRow,
  listSessions,
} from '../../store/records/cancellations.ts';
import type { Paging } from '../../store/records/paging.ts';
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
import { type DayOfHistory, listHistory, toHistory } from '../history.ts';
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
import { reasonsFromRecords } from './reasons.ts';
import { segmentMilliseconds, withinTimeLimit } from './time-limit.ts';

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
  if (!selection) {
    return work({
      summary: (period, now) => summariseMetrics(analyse, shop.id, now, period),
      history: (period) => listHistory({ analyse }, shop, period),
      reasons: async (period) => outcomesByReason(await countSessions(analyse, shop.id, period)),
      movements: ({ from, until }) => summariseMovements(analyse, shop.id, from, until),
      churnDays: (window) => listChurnDays(analyse, shop.id, window),
      churnGroups: (window) => listChurnGroups(analyse, shop.id, window),
      churned: (window, page) => listChurned(analyse, shop.id, window, page),
      cohorts: (options) => listCohorts(analyse, shop, options),
      sessionCounts: (period) => countSessions(analyse, shop.id, period),
      sessionDays: (period) => listSessionDays(analyse, shop.id, period),
      sessions: (filter, page) => listSessions(analyse, shop.id, filter, page),
      kept: (window) => summariseKept(analyse, shop.id, window),
      outstanding: (at) => listOutstanding(analyse, shop.id, at),
      closed: (period) => listClosed(analyse, shop.id, period),
      openCases: (page) => listOpenCases(analyse, shop.id, page),
      closedCases: (filter, page) => listClosedCases(analyse, shop.id, filter, page),
      payments: (window, page) => listPayments(analyse, shop.id, window, page),
      renewing: (week, page) => listRenewing(analyse, shop.id, week, page),
    });
  }
  return withinTimeLimit(segments, milliseconds, (inTurn) =>
    work({
      summary: (period, now) =>
        inTurn((tx) => summariseFromRecords(tx, shop.id, now, period, selection)),
      history: (period) =>
        inTurn(async (tx) =>
          toHistory(await daysFromRecords(tx, shop.id, period, selection), shop.currency),
        ),
      reasons: (period) => inTurn((tx) => reasonsFromRecords(tx, shop.id, period, selection)),
      movements: ({ from, until }) =>
        inTurn((tx) => movementsFromRecords(tx, shop.id, from, until, selection)),
      churnDays: (window) => inTurn((tx) => churnDaysFromRecords(tx, shop.id, window, selection)),
      churnGroups: (window) =>
        inTurn((tx) => churnGroupsFromRecords(tx, shop.id, window, selection)),
      churned: (window, page) =>
        inTurn((tx) => churnedFromRecords(tx, shop.id, window, page, selection)),
      cohorts: (options) =>
        inTurn(async (tx) => {
          const rows = await cohortsFromRecords(tx, shop.id, options, selection);
          return toCohorts(rows, listMonths(options), shop.currency);
        }),
      sessionCounts: (period) =>
        inTurn((tx) => sessionCountsFromRecords(tx, shop.id, period, selection)),
      sessionDays: (period) =>
        inTurn((tx) => sessionDaysFromRecords(tx, shop.id, period, selection)),
      sessions: (filter, page) =>
        inTurn((tx) =>
          listSessions(tx, shop.id, filter, page, (all) =>
            ofSelection(tx, shop.id, all, selection),
          ),
        ),
      kept: (window) => inTurn((tx) => keptFromRecords(tx, shop.id, window, selection)),
      outstanding: (at) => inTurn((tx) => listOutstanding(tx, shop.id, at, selection)),
      closed: (period) => inTurn((tx) => listClosed(tx, shop.id, period, selection)),
      openCases: (page) => inTurn((tx) => listOpenCases(tx, shop.id, page, selection)),
      closedCases: (filter, page) =>
        inTurn((tx) => listClosedCases(tx, shop.id, filter, page, selection)),
      payments: (window, page) =>
        inTurn((tx) => listPayments(tx, shop.id, window, page, selection)),
      renewing: ({ now }, page) =>
        inTurn((tx) => renewingFromRecords(tx, shop.id, now, page, selection)),
    }),
  );
}
