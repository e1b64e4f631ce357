import { CommandError } from '../../errors.ts';
import type { Cohort } from '../../metrics/cohort-rows.ts';
import { readFigures } from '../../metrics/segments/figures.ts';
import type { Store } from '../../store/open.ts';
import type { Shop } from '../../store/shops.ts';
import type { Cell } from '../framework/csv.ts';
import { tableFile } from '../framework/csv.ts';
import { type OwnerPage, type OwnerParts, shopPage } from '../pages.ts';
import { redirect } from '../ui/answers.ts';
import { readSegmentChoices } from '../segments/choices.ts';
import { shopPath } from '../ui/layout.ts';
import { fileOrPage } from '../framework/page.ts';
import { cohortsPage } from './page.ts';
import { monthsOver, shareOf } from './shares.ts';
import { selectionOf, understood } from '../view/view.ts';
import { type CohortView, cohortViewOf } from './view.ts';

const base = '/cohorts';

/** The customers of each month, and how many were kept. */
export function cohortPages(parts: OwnerParts): OwnerPage[] {
  const { store, clock } = parts;
  return [
    shopPage(base, {
      label: 'Cohorts',
      navigation: { group: 'Insights', icon: 'cohorts' },
      async show(visit) {
        const { shop } = visit;
        const view = cohortViewOf(visit.query);
        const now = clock.now();
        const [found, choices] = await Promise.all([
          readCohorts(store, shop, view, now),
          readSegmentChoices(parts, shop),
        ]);
        return cohortsPage(visit, { view, now, choices, ...found });
      },
    }),
    shopPage(`${base}.csv`, {
      show: (visit) =>
        fileOrPage(visit, '/cohorts', async () => {
          const { shop, query } = visit;
          const now = clock.now();
          const view = understood(cohortViewOf(query));
          const { cohorts, problem } = await readCohorts(store, shop, view, now);
          // The page says what is wrong.
          if (problem !== undefined) return redirect(shopPath(shop, `/cohorts?${query}`));
          const rows = cohorts.flatMap((cohort) => rowsOf(cohort, shop.currency, now));
          return tableFile({ shop, noun: 'cohorts', now, heads, rows });
        }),
    }),
  ];
}

interface Found {
  readonly cohorts: readonly Cohort[];
  /** Why there are none: they took too long. */
  readonly problem?: string;
}

async function readCohorts(
  store: Store,
  shop: Shop,
  { months, segment }: CohortView,
  now: number,
): Promise<Found> {
  try {
    return {
      cohorts: await store.readRecent(shop.id, (from) =>
        readFigures(from, shop, selectionOf({ segment, now }), (figures) =>
          figures.cohorts({ months, now }),
        ),
      ),
    };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { cohorts: [], problem: error.message };
  }
}

const heads = [
  'Cohort',
  'Months since',
  'Month is over',
  'Customers',
  'Kept',
  'Share kept',
  'MRR',
  'Share of first MRR',
  'Currency',
];

function rowsOf(cohort: Cohort, currency: string, now: number): Cell[][] {
  const share = (measure: CohortView['measure'], since: number) => {
    const exact = shareOf(cohort, measure, since);
    return exact === undefined ? null : Math.round(exact * 10_000) / 10_000;
  };
  return cohort.retained.map((kept, since) => [
    cohort.month,
    since,
    since < monthsOver(cohort, now) ? 'yes' : 'no',
    cohort.customers,
    kept,
    share('customers', since),
    cohort.mrr[since] ?? null,
    share('revenue', since),
    currency,
  ]);
}
