import { roundHalfAway, shopDigitsOf } from '../../money.ts';
import type { Transaction } from '../../store/database.ts';
import { day } from '../bounds.ts';
import { type ChurnCause, type ChurnGroup, listChurnDays, listChurnGroups } from '../churn.ts';
import { type Cohort, type CohortOptions, listMonths, toCohorts } from '../cohort-rows.ts';
import { listCohorts } from '../cohorts.ts';
import { toSummary } from '../figures.ts';
import {
  type SessionCount,
  countSessions,
  sessionCountsFromRecords,
} from '../cancel-flow/sessions.ts';
import { keptFromRecords } from '../segments/kept.ts';
import { type Kept, summariseKept } from '../cancel-flow/kept.ts';
import { projectionFromRecords } from './renewals.ts';
import { type RenewalWeek, projectRenewals, toProjectedWeeks } from '../revenue/projection.ts';
import { summariseMovements, toMovements } from '../movements.ts';
import { cohortsFromRecords } from '../segments/cohorts.ts';
import { churnFromRecords, movementsFromRecords } from '../segments/movements.ts';
import { summariseFromRecords } from '../segments/summary.ts';
import { attemptsIn } from '../recovery/attempts.ts';
import {
  type Cases,
  type ClosedCases,
  type OpenCases,
  listClosed,
  listOutstanding,
  totalOf,
} from '../recovery/figures.ts';
import { type PlainAttempt, recoveryFromRecords } from './cases.ts';
import { summariseMetrics } from '../summary.ts';

/** A figure whose served value is not what the records give. */
export interface FigureDifference {
  readonly figure: string;
  readonly served: unknown;
  readonly plain: unknown;
}

interface ShopOfFigures {
  readonly id: number;
  readonly currency: string;
}

type Figures = ReadonlyMap<string, unknown>;

const cohortMonths = 12;

/**
 * Compares a shop's summary, the movements, the churn, the recovery and the cancel-flow sessions of the last 30 days,
 * the subscriptions kept in them, the renewals of the next weeks, and the cohorts of the last 12 months with what its
 * records give.
 * Reads all of them; others must not write meanwhile.
 * @param now epoch milliseconds
 */
export async function findFigureDifferences(
  tx: Transaction,
  shop: ShopOfFigures,
  now: number,
): Promise<FigureDifference[]> {
  const served = await readServed(tx, shop, now);
  const plain = await readPlain(tx, shop, now);
  return [...new Set([...plain.keys(), ...served.keys()])]
    .filter((figure) => served.get(figure) !== plain.get(figure))
    .map((figure) => ({
      figure,
      served: served.get(figure) ?? null,
      plain: plain.get(figure) ?? null,
    }));
}

async function readServed(tx: Transaction, shop: ShopOfFigures, now: number): Promise<Figures> {
  const window = { from: now - 30 * day, until: now, now };
  const days = await listChurnDays(tx, shop.id, window);
  const count = (cause: ChurnCause) => days.reduce((total, each) => total + each[cause], 0);
  const closed = await listClosed(tx, shop.id, window);
  return new Map([
    ...listFigures('', toSummary(await summariseMetrics(tx, shop.id, now), shop.currency, now)),
    ...listFigures(
      'movements ',
      toMovements(await summariseMovements(tx, shop.id, window.from, now), shop.currency),
    ),
    ...listFigures('churned ', { cancelled: count('cancelled'), failed: count('failed') }),
    ...listChurnFigures(await listChurnGroups(tx, shop.id, window)),
    ...listCohortFigures(await listCohorts(tx, shop, { months: cohortMonths, now })),
    ...listSessionCounts(await countSessions(tx, shop.id, window)),
    ...listKept(await summariseKept(tx, shop.id, window), shop),
    ...listProjected(await projectRenewals(tx, shop.id, now), shop),
    ...listRecoveryFigures({
      outstanding: await listOutstanding(tx, shop.id, now),
      closed,
      attempts: attemptsIn(closed).flatMap(({ number, succeeded, failed }) => [
        { ...succeeded, number, hasSucceeded: true },
        { ...failed, number, hasSucceeded: false },
      ]),
    }),
  ]);
}

async function readPlain(tx: Transaction, shop: ShopOfFigures, now: number): Promise<Figures> {
  const window = { from: now - 30 * day, until: now, now };
  const cohorts: CohortOptions = { months: cohortMonths, now };
  const churned = await churnFromRecords(tx, shop.id, window);
  const rows = await cohortsFromRecords(tx, shop.id, cohorts);
  return new Map([
    ...listFigures('', toSummary(await summariseFromRecords(tx, shop.id, now), shop.currency, now)),
    ...listFigures(
      'movements ',
      toMovements(await movementsFromRecords(tx, shop.id, window.from, now), shop.currency),
    ),
    ...listFigures('churned ', countByCause(churned)),
    ...listChurnFigures(churned),
    ...listCohortFigures(toCohorts(rows, listMonths(cohorts), shop.currency)),
    ...listSessionCounts(await sessionCountsFromRecords(tx, shop.id, window)),
    ...listKept(await keptFromRecords(tx, shop.id, window), shop),
    ...listProjected(await projectionFromRecords(tx, shop.id, now), shop),
    ...listRecoveryFigures(await recoveryFromRecords(tx, shop.id, window, now)),
  ]);
}

function listFigures(prefix: string, figures: object): [string, unknown][] {
  return Object.entries(figures).map(([name, value]) => [`${prefix}${name}`, value]);
}

function countByCause(groups: readonly ChurnGroup[]): Readonly<Record<ChurnCause, number>> {
  const count = (cause: ChurnCause) =>
    groups.reduce((total, each) => total + (each.cause === cause ? each.count : 0), 0);
  return { cancelled: count('cancelled'), failed: count('failed') };
}

function listChurnFigures(groups: readonly ChurnGroup[]): [string, unknown][] {
  return groups.map(({ planId, cause, age, count }) => [
    `churned of plan ${planId} ${cause} at ${age.name} days`,
    count,
  ]);
}

function listCohortFigures(cohorts: readonly Cohort[]): [string, unknown][] {
  return cohorts.flatMap(({ month, customers, retained, mrr }) => [
    [`cohort ${month} customers`, customers] as [string, unknown],
    ...listFigures(`cohort ${month} retained `, retained),
    ...listFigures(`cohort ${month} mrr `, mrr),
  ]);
}

function listSessionCounts(counts: readonly SessionCount[]): [string, unknown][] {
  return counts.map(({ outcome, reason, offer, sessions }) => [
    `sessions ${outcome ?? 'open'} ${reason} ${offer ?? 'no offer'}`,
    sessions,
  ]);
}

function listKept({ subscriptions, value }: Kept, { currency }: ShopOfFigures) {
  const mrr = roundHalfAway(value, shopDigitsOf(currency));
  return listFigures('kept ', { subscriptions, mrr });
}

function listProjected(weeks: readonly RenewalWeek[], { currency }: ShopOfFigures) {
  return toProjectedWeeks(weeks, currency).flatMap(({ renewals, value }, index) =>
    listFigures(`projected week ${index + 1} `, { renewals, value }),
  );
}

interface RecoveryCases {
  readonly outstanding: readonly OpenCases[];
  readonly closed: readonly ClosedCases[];
  readonly attempts: readonly PlainAttempt[];
}

/** Numbers and amounts of cases, by all that tells them apart. */
function listRecoveryFigures({
  outstanding,
  closed,
  attempts,
}: RecoveryCases): [string, unknown][] {
  return [
    ...listSums(outstanding, (each) => `outstanding ${codeOf(each)}`),
    ...listSums(closed, (each) =>
      [isoDay(each.day), each.result, each.attempts, codeOf(each)].join(' '),
    ),
    ...listSums(
      attempts.filter(({ count }) => count > 0),
      ({ number, hasSucceeded }) => `attempt ${number} ${hasSucceeded ? 'succeeded' : 'failed'}`,
    ),
  ];
}

function listSums<Kind extends Cases>(cases: readonly Kind[], nameOf: (each: Kind) => string) {
  return [...Map.groupBy(cases, nameOf)].map(([name, alike]): [string, unknown] => {
    const { count, units } = totalOf(alike);
    return [`recovery ${name}`, `${count} ${units}`];
  });
}

const codeOf = ({ failureCode }: OpenCases) => failureCode ?? 'without a code';
const isoDay = (at: number) => new Date(at).toISOString().slice(0, 10);
