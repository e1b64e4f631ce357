import { roundHalfAway, shopDigitsOf } from '../../money.ts';
import type { Transaction } from '../../store/database.ts';
import { monthBefore } from '../bounds.ts';
import type { ChurnCause } from '../churn.ts';
import { toSummary } from '../figures.ts';
import { toMovements } from '../movements.ts';
import { attemptsIn } from '../recovery/attempts.ts';
import { type Cases, type ClosedCases, type OpenCases, totalOf } from '../recovery/figures.ts';
import { type RenewalWeek, projectRenewals, toProjectedWeeks } from '../revenue/projection.ts';
import { type Figures, figuresFromRecords, servedFigures } from '../segments/figures.ts';
import { type PlainAttempt, recoveryFromRecords } from './cases.ts';
import { projectionFromRecords } from './renewals.ts';

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

/** What is verified, computed in one of two ways. */
interface Verified extends Figures {
  /** @param closed the closed cases, which only the served ones come from */
  attempts(closed: readonly ClosedCases[]): Promise<PlainAttempt[]>;
  projected(): Promise<readonly RenewalWeek[]>;
}

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
  const served = await listValues(asServed(tx, shop, now), shop, now);
  const plain = await listValues(await fromRecords(tx, shop, now), shop, now);
  return [...new Set([...plain.keys(), ...served.keys()])]
    .filter((figure) => served.get(figure) !== plain.get(figure))
    .map((figure) => ({
      figure,
      served: served.get(figure) ?? null,
      plain: plain.get(figure) ?? null,
    }));
}

function asServed(tx: Transaction, shop: ShopOfFigures, now: number): Verified {
  const figures = servedFigures(tx, shop);
  return {
    ...figures,
    projected: () => projectRenewals(tx, shop.id, now),
    attempts: async (closed) =>
      attemptsIn(closed).flatMap(({ number, succeeded, failed }) => [
        { ...succeeded, number, hasSucceeded: true },
        { ...failed, number, hasSucceeded: false },
      ]),
  };
}

/** The figures of a segment that has everything, except for what those read from precomputed dunning cases. */
async function fromRecords(tx: Transaction, shop: ShopOfFigures, now: number): Promise<Verified> {
  const figures = figuresFromRecords((read) => read(tx), shop, undefined);
  const { outstanding, closed, attempts } = await recoveryFromRecords(
    tx,
    shop.id,
    monthBefore(now),
    now,
  );
  return {
    ...figures,
    summary: async (period) => ({
      ...(await figures.summary(period, now)),
      dunningActive: outstanding.length,
      dunningRecovered: closed.filter(({ result }) => result === 'recovered').length,
      dunningClosed: closed.length,
    }),
    outstanding: async () => outstanding,
    closed: async () => closed,
    attempts: async () => attempts,
    projected: () => projectionFromRecords(tx, shop.id, now),
  };
}

/** Each verified value by its name. */
async function listValues(
  figures: Verified,
  { currency }: ShopOfFigures,
  now: number,
): Promise<ReadonlyMap<string, unknown>> {
  const period = monthBefore(now);
  const window = { ...period, now };
  const days = await figures.churnDays(window);
  const count = (cause: ChurnCause) => days.reduce((total, each) => total + each[cause], 0);
  const kept = await figures.kept(window);
  const closed = await figures.closed(period);
  const weeks = toProjectedWeeks(await figures.projected(), currency);
  return new Map<string, unknown>([
    ...named('', toSummary(await figures.summary(period, now), currency, now)),
    ...named('movements ', toMovements(await figures.movements(period), currency)),
    ...named('churned ', { cancelled: count('cancelled'), failed: count('failed') }),
    ...(await figures.churnGroups(window)).map(
      (each) =>
        [
          `churned of plan ${each.planId} ${each.cause} at ${each.age.name} days`,
          each.count,
        ] as const,
    ),
    ...(await figures.cohorts({ months: cohortMonths, now })).flatMap(
      ({ month, customers, retained, mrr }) => [
        ...named(`cohort ${month} `, { customers }),
        ...named(`cohort ${month} retained `, retained),
        ...named(`cohort ${month} mrr `, mrr),
      ],
    ),
    ...(await figures.sessionCounts(period)).map(
      ({ outcome, reason, offer, sessions }) =>
        [`sessions ${outcome ?? 'open'} ${reason} ${offer ?? 'no offer'}`, sessions] as const,
    ),
    ...named('kept ', {
      subscriptions: kept.subscriptions,
      mrr: roundHalfAway(kept.value, shopDigitsOf(currency)),
    }),
    ...weeks.flatMap(({ renewals, value }, index) =>
      named(`projected week ${index + 1} `, { renewals, value }),
    ),
    ...listSums(await figures.outstanding(now), (each) => `outstanding ${codeOf(each)}`),
    ...listSums(closed, (each) =>
      [isoDay(each.day), each.result, each.attempts, codeOf(each)].join(' '),
    ),
    ...listSums(
      (await figures.attempts(closed)).filter((each) => each.count > 0),
      ({ number, hasSucceeded }) => `attempt ${number} ${hasSucceeded ? 'succeeded' : 'failed'}`,
    ),
  ]);
}

function named(prefix: string, values: object): [string, unknown][] {
  return Object.entries(values).map(([name, value]) => [`${prefix}${name}`, value]);
}

/** Numbers and amounts of cases, by all that tells them apart. */
function listSums<Kind extends Cases>(cases: readonly Kind[], nameOf: (each: Kind) => string) {
  return [...Map.groupBy(cases, nameOf)].map(([name, alike]): [string, unknown] => {
    const { count, units } = totalOf(alike);
    return [`recovery ${name}`, `${count} ${units}`];
  });
}

const codeOf = ({ failureCode }: OpenCases) => failureCode ?? 'without a code';
const isoDay = (at: number) => new Date(at).toISOString().slice(0, 10);
