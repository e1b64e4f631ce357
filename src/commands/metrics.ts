import { systemClock } from '../clock.ts';
import {
  type LedgerDifference,
  findLedgerDifferences,
  rebuildMetrics,
} from '../metrics/verify/sums.ts';
import { type FigureDifference, findFigureDifferences } from '../metrics/verify/figures.ts';
import type { Store } from '../store/open.ts';
import type { Shop } from '../store/shops.ts';
import {
  defineCommand,
  exitStatus,
  firstTime,
  flag,
  id,
  oneOf,
  optional,
  past,
  required,
  whole,
  withDefault,
} from './framework/command.ts';
import { table } from './framework/io.ts';
import { shopOption, withShop } from './store.ts';
import { CommandError, UsageError } from '../errors.ts';
import { type Period, day } from '../metrics/bounds.ts';
import type { Cohort, CohortOptions } from '../metrics/cohorts.ts';
import { type ExplainedValue, type Explanation, explain } from '../metrics/explain/explain.ts';
import { dimensions, dimensionsOf, explainedFigures } from '../metrics/explain/question.ts';
import { listHistory } from '../metrics/history.ts';
import { summariseMovements, toMovements } from '../metrics/movements.ts';
import { retentionByCohort, toRetention } from '../metrics/retention.ts';
import { readFigures } from '../metrics/segments/figures.ts';
import type { Transaction } from '../store/database.ts';
import { hasPlan } from '../store/records/plans.ts';

const verify = defineCommand({
  name: 'metrics verify',
  about: "compares a shop's figures with the records behind them",
  notes: [
    'Compares with what the records give: the summary, the movements and the churn of the last 30',
    'days, the cohorts of the last 12 months, and all sums behind them.',
    'Exit status 1 if anything differs; "retention metrics rebuild" repairs that.',
  ],
  options: shopOption,
  run: ({ shop }, context) =>
    withShop(context, shop, async (store, found) => {
      const { at, figures, sums } = await compare(store, found);
      return { shop, at, ok: figures.length === 0 && sums.length === 0, figures, sums };
    }),
  show: ({ shop, ok, figures, sums }) =>
    ok ? `The figures of shop ${shop} match its records.` : describe(figures, sums),
  end: ({ ok }) => (ok ? exitStatus.done : exitStatus.failed),
});

/** Runs in one transaction, so that both computations see the same records. */
function compare(store: Store, shop: Shop) {
  return store.write.begin('isolation level repeatable read read only', (tx) =>
    listDifferences(tx, shop),
  );
}

/** What of a shop's figures is not what its records give. Others must not write meanwhile. */
export async function listDifferences(tx: Transaction, shop: Shop) {
  const now = systemClock.now();
  const figures = await findFigureDifferences(tx, shop, now);
  const sums = [...(await findLedgerDifferences(tx, shop.id))];
  return { at: new Date(now).toISOString(), figures, sums };
}

function describe(figures: readonly FigureDifference[], sums: readonly LedgerDifference[]): string {
  const tables = [
    figures.length > 0 &&
      table(figures, {
        FIGURE: ({ figure }) => figure,
        SERVED: ({ served }) => `${served}`,
        'FROM RECORDS': ({ plain }) => `${plain}`,
      }),
    sums.length > 0 &&
      table(sums, {
        TABLE: (sum) => sum.table,
        ROW: ({ key }) => key,
        STORED: ({ stored }) => stored ?? '(none)',
        EXPECTED: ({ expected }) => expected ?? '(none)',
      }),
  ];
  return tables.filter((each) => each !== false).join('\n\n');
}

const rebuild = defineCommand({
  name: 'metrics rebuild',
  about: "recomputes a shop's figures from its records",
  notes: ['Reads go on meanwhile; imports into the shop wait until it is done.'],
  options: shopOption,
  run: ({ shop }, context) =>
    withShop(context, shop, async (store) => {
      await rebuildMetrics(store.write, shop);
      return { shop, state: 'recomputed' };
    }),
  show: ({ shop }) => `The figures of shop ${shop} have been recomputed.`,
});

export const checkCommands = [verify, rebuild];

const maxDays = 3660;
const maxMonths = 36;

const history = defineCommand({
  name: 'metrics history',
  about: 'prints the figures of each of the last complete UTC days',
  options: {
    ...shopOption,
    days: withDefault(whole('N', 1, maxDays), '30', `from 1 to ${maxDays}`),
  },
  run({ shop: shopId, days }, context) {
    const today = Math.floor(systemClock.now() / day) * day;
    return withShop(context, shopId, (store, shop) =>
      listHistory(store.primary, shop, { from: today - days * day, until: today }),
    );
  },
  show: (rows) =>
    table(rows, {
      DAY: (row) => row.day,
      ACTIVE: (row) => row.activeSubscribers,
      MRR: (row) => row.mrr,
      NEW: (row) => row.newSubscribers,
      CANCELLED: (row) => row.cancelled,
      REVENUE: (row) => row.revenue,
      FAILED: (row) => row.failedPayments,
      RECOVERED: (row) => row.recoveredPayments,
      SAVED: ({ sessions }) => sessions.saved,
      SESSIONS: ({ sessions }) =>
        sessions.saved + sessions.cancelled + sessions.abandoned + sessions.inProgress,
    }),
});

const cohorts = defineCommand({
  name: 'metrics cohorts',
  about:
    'prints how many customers of each month, and how much of their MRR, were left by month since',
  notes: ['A customer belongs to the UTC month of their first subscription. MRR is that of then.'],
  options: {
    ...shopOption,
    months: withDefault(
      whole('M', 1, maxMonths),
      '12',
      `how many months, including the current one: from 1 to ${maxMonths}`,
    ),
    plan: optional(id, "as if there were only this plan's subscriptions"),
  },
  run: ({ shop: shopId, months, plan }, context) =>
    withShop(context, shopId, async (store, shop) => ({
      currency: shop.currency,
      cohorts: await readCohorts(store, shop, plan, { months, now: systemClock.now() }),
    })),
  show: (found) => describeCohorts(found.cohorts, found.currency),
});

async function readCohorts(
  { primary }: Store,
  shop: Shop,
  planId: number | undefined,
  options: CohortOptions,
): Promise<Cohort[]> {
  if (planId !== undefined && !(await hasPlan(primary.analyse, shop.id, planId))) {
    throw new CommandError(`Shop ${shop.id} has no plan ${planId}.`);
  }
  const segment =
    planId === undefined ? undefined : { segment: { plan: planId }, now: options.now };
  return readFigures(primary, shop, segment, (figures) => figures.cohorts(options));
}

function describeCohorts(rows: readonly Cohort[], currency: string): string {
  if (rows.length === 0) return 'No customer began in these months.';
  const longest = Math.max(...rows.map(({ retained }) => retained.length));
  const tableOf = (values: 'retained' | 'mrr') =>
    table(rows, {
      COHORT: ({ month }) => month,
      CUSTOMERS: ({ customers }) => customers,
      ...Object.fromEntries(
        Array.from({ length: longest }, (_, k) => [`+${k}`, (row: Cohort) => row[values][k]]),
      ),
    });
  return [
    'Customers retained at the end of each month since; the last month ends now',
    tableOf('retained'),
    '',
    `Their MRR then, in ${currency}`,
    tableOf('mrr'),
  ].join('\n');
}

const ends = {
  from: required(
    past,
    'a date, an ISO 8601 time such as 2026-11-01T08:00:00Z, how long ago (2h, 30d), or now',
  ),
  to: required(past, 'the same'),
};

type Named = readonly [time: Date, option: string];

function periodOf([from, first]: Named, [to, last]: Named): Period {
  if (from >= to) throw new UsageError(`${first} must be earlier than ${last}.`);
  return { from: from.getTime(), until: to.getTime() };
}

const movements = defineCommand({
  name: 'metrics movements',
  about: 'prints what changed the MRR between two times',
  notes: ['What happens exactly at --from is included, what happens exactly at --to is not.'],
  options: { ...shopOption, ...ends },
  run({ shop: shopId, from, to }, context) {
    const period = periodOf([from, '--from'], [to, '--to']);
    return withShop(context, shopId, async ({ primary }, { currency }) => {
      return toMovements(await summariseMovements(primary.analyse, shopId, period), currency);
    });
  },
  show: ({ currency, ...values }) =>
    table(Object.entries(values), { MRR: ([name]) => name, [currency]: ([, value]) => value }),
});

const retention = defineCommand({
  name: 'metrics retention',
  about: 'prints what became of the MRR between two times',
  notes: [
    'net and gross are of the customers who had MRR at --from: what they bring at --to, gross without what any of them',
    'brings more. quickRatio is what came over what left, arpa the MRR of a subscriber at --to.',
  ],
  options: {
    ...shopOption,
    ...ends,
    byCohort: flag('by the months in which the first subscriptions of customers began'),
  },
  run({ shop: shopId, from, to, byCohort }, context) {
    const period = periodOf([from, '--from'], [to, '--to']);
    return withShop(context, shopId, async ({ primary }, shop) => {
      const { currency } = shop;
      if (byCohort) {
        return { currency, cohorts: await retentionByCohort(primary.analyse, shop, period) };
      }
      return readFigures(primary, shop, undefined, async (figures) => {
        const [retained, { activeSubscribers }] = await Promise.all([
          figures.retention(period),
          figures.summary(period, systemClock.now()),
        ]);
        return toRetention(retained, activeSubscribers, currency);
      });
    });
  },
  show: (values) =>
    'cohorts' in values
      ? table(values.cohorts, {
          COHORT: ({ month }) => month,
          [`OPENING (${values.currency})`]: ({ opening }) => opening,
          CLOSING: ({ closing }) => closing,
          NET: ({ net }) => net ?? 'none',
          GROSS: ({ gross }) => gross ?? 'none',
        })
      : table(Object.entries(values), {
          FIGURE: ([name]) => name,
          VALUE: ([, value]) => value ?? 'none',
        }),
});

const explanation = defineCommand({
  name: 'metrics explain',
  about: 'prints what explains the change of a figure between two periods',
  notes: [
    'Each value of a dimension adds to the change with its own rate, and with its share of the whole.',
    'Churn goes by the status at the end of a period, MRR is that of the end.',
  ],
  options: {
    ...shopOption,
    figure: required(oneOf('FIGURE', explainedFigures), 'what changed'),
    by: required(oneOf('DIMENSION', dimensions), 'by what; a reason only of saveRate'),
    ...ends,
    beforeFrom: optional(past, 'the start of the period before; default: as long before --from'),
    beforeTo: optional(past, 'its end; default: --from'),
  },
  run({ shop: shopId, figure, by, from, to, beforeFrom, beforeTo }, context) {
    const known = dimensionsOf(figure);
    if (!known.includes(by)) {
      throw new UsageError(`${figure} has no ${by}: --by must be one of ${known.join(', ')}.`);
    }
    if ((beforeFrom === undefined) !== (beforeTo === undefined)) {
      throw new UsageError('--before-from and --before-to must be given together.');
    }
    const now = periodOf([from, '--from'], [to, '--to']);
    const before =
      beforeFrom && beforeTo
        ? periodOf([beforeFrom, '--before-from'], [beforeTo, '--before-to'])
        : { from: 2 * now.from - now.until, until: now.from };
    if (before.from < firstTime) {
      throw new UsageError(
        'The period before would begin before the year 1; give --before-from and --before-to.',
      );
    }
    return withShop(context, shopId, ({ primary }, shop) =>
      explain(primary.analyse, shop.id, { figure, by, before, now }, systemClock.now()),
    );
  },
  show: describeExplanation,
});

/** Rates with four digits, sums with all that are paid. */
const shown = (value: number | null | undefined) => {
  if (value === null || value === undefined) return '–';
  return `${Number(Math.abs(value) < 1 ? value.toPrecision(4) : value.toFixed(4))}`;
};
const count = ({ n, d }: ExplainedValue['now']) => (d === undefined ? shown(n) : `${n} of ${d}`);

function describeExplanation({ figure, by, before, now, change, values }: Explanation): string {
  const isRate = values.some(({ rate }) => rate !== undefined);
  return [
    `${figure}: ${shown(before)} before, ${shown(now)} now, change ${shown(change)}`,
    table(values, {
      [by.toUpperCase()]: ({ label }) => label,
      BEFORE: (value) => count(value.before),
      NOW: (value) => count(value.now),
      ...(isRate && { RATE: ({ rate }) => shown(rate), MIX: ({ mix }) => shown(mix) }),
      PART: ({ part }) => shown(part),
      '': ({ isChance }) => (isChance ? 'may be chance' : ''),
    }),
  ].join('\n');
}

export const historyCommands = [history, cohorts, movements, retention, explanation];
