import type { Figure } from '../../metrics/figures.ts';
import type { Chart } from '../charts/chart.ts';
import { overTime, spansOf, seriesOf, sumOf, unitsOf } from '../charts/series.ts';
import { type Comparison, viewPath } from '../view/view.ts';
import type { Dashboard, DashboardDay, Figures } from './dashboard.ts';
import { html } from '../../http/html.ts';
import type { ReasonRow } from '../../metrics/cancel-flow.ts';
import { type Exhibit, bar, tableExhibit } from '../framework/exhibits.ts';
import { outcomeLabels, reasonLabels } from '../ui/labels.ts';
import { countFormat } from '../ui/formats.ts';
import { shopPath } from '../site.ts';
import type { FiguresVisit } from '../framework/page.ts';

/** What a chart is compared with. */
const befores: Readonly<Record<Comparison, string>> = {
  before: 'Period before',
  year: 'Year before',
};

type Values = ReturnType<typeof unitsOf>['counts'];

/** The charts of the period, with the one compared with: what no card has the line of. */
export function chartsOf(visit: FiguresVisit, data: Dashboard): Chart[] {
  const { counts } = unitsOf(visit);
  return events.map((each) => eventsChart(visit, data, counts, each));
}

interface Kind extends Pick<Figure, 'rows' | 'filter'> {
  readonly name: string;
  readonly tone: Chart['series'][number]['tone'];
  byDay(day: DashboardDay): number;
  total(figures: Figures, days: readonly DashboardDay[]): number;
}

interface Events extends Pick<Chart, 'id' | 'title' | 'caption'> {
  readonly kinds: readonly Kind[];
}

/** What happened in each day or week, of two kinds. */
function eventsChart(
  visit: FiguresVisit,
  data: Dashboard,
  values: Values,
  { kinds, ...texts }: Events,
): Chart {
  const { view, history, historyBefore, earlier } = data;
  const { spans, frame, span, rows } = overTime(visit, history);
  const spansBefore = historyBefore && spansOf(historyBefore);
  const totals = (figures: Figures, days: readonly DashboardDay[]) =>
    kinds
      .map(({ name, total }) => `${values.format(total(figures, days))} ${name.toLowerCase()}`)
      .join(', ');
  return {
    ...texts,
    ...frame,
    ...values,
    caption: `Per ${span}, UTC. ${texts.caption}`,
    marks: 'bars',
    series: kinds.map(({ name, tone, byDay, rows: path, filter }) => ({
      ...seriesOf(name, tone, spans, sumOf(byDay), spansBefore),
      hrefs: rows(path, filter),
    })),
    headline: {
      now: totals(data, history),
      before: historyBefore && `${befores[view.comparison]}: ${totals(earlier, historyBefore)}`,
    },
  };
}

const recovered = (each: DashboardDay) => each.recoveredPayments;

const events: readonly Events[] = [
  {
    id: 'chart-growth',
    title: 'New and cancelled',
    caption: 'New customers, cancelled subscriptions',
    kinds: [
      {
        name: 'New',
        tone: 'plain',
        rows: '/subscriptions',
        filter: { figure: 'new' },
        byDay: (each) => each.newSubscribers,
        total: ({ summary }) => summary.newSubscribers30d,
      },
      {
        name: 'Cancelled',
        tone: 'bad',
        rows: '/subscriptions',
        filter: { figure: 'cancelled' },
        byDay: (each) => each.cancelled,
        total: ({ summary }) => summary.cancelled30d,
      },
    ],
  },
  {
    id: 'chart-payments',
    title: 'Failed and recovered payments',
    caption: 'A billing cycle counts once, on the day on which it failed last',
    kinds: [
      {
        name: 'Failed',
        tone: 'bad',
        rows: '/payments',
        filter: { kind: 'failed' },
        byDay: (each) => each.failedPayments,
        total: ({ summary }) => summary.failedPayments30d,
      },
      {
        name: 'Recovered',
        tone: 'plain',
        rows: '/recovery/closed',
        filter: { result: 'recovered' },
        byDay: recovered,
        total: (_, days) => sumOf(recovered)(days),
      },
    ],
  },
];

const outcomes = [
  { field: 'saved', tone: 'plain' },
  { field: 'cancelled', tone: 'bad' },
  { field: 'abandoned', tone: 'quiet' },
] as const;

const totalOf = (row: ReasonRow) => row.saved + row.cancelled + row.abandoned;

/** Cancellation reasons and their outcomes. */
export function reasonsTable(visit: FiguresVisit, { reasons, bases }: Dashboard): Exhibit {
  const format = countFormat(visit);
  const saved = reasons.reduce((sum, row) => sum + row.saved, 0);
  const rows = (reason: ReasonRow['reason'], outcome: string) =>
    viewPath(shopPath(visit.shop, '/cancel-flow/sessions'), visit.view, { reason, outcome });
  const most = Math.max(...reasons.map(totalOf), 1);
  return tableExhibit<ReasonRow>({
    id: 'reasons',
    title: html`<small>Reasons and outcomes of the cancel flow</small>
      <span class="headline"
        >${format(bases.sessionsEnded)} sessions ended, ${format(saved)} saved</span
      >`,
    caption:
      'Sessions started in the period, UTC, by detected reason and outcome. Those in progress are not counted',
    look: 'reasons',
    isWide: true,
    rows: reasons,
    none: reasons.length === 0 ? 'No cancel-flow sessions from this period have ended.' : undefined,
    columns: [
      {
        label: 'Reason',
        kind: 'head',
        cell: ({ reason }) => reasonLabels[reason],
        href: ({ reason }) => rows(reason, 'ended'),
        file: { Reason: ({ reason }) => reasonLabels[reason] },
      },
      {
        label: '',
        kind: 'bar',
        cell: (row) =>
          bar(
            outcomes.map(({ field, tone }) => ({ tone, count: row[field] })),
            most,
          ),
      },
      ...outcomes.map(({ field, tone }) => {
        const [label] = outcomeLabels[field];
        return {
          label,
          tone,
          cell: (row: ReasonRow) => format(row[field]),
          href: ({ reason }: ReasonRow) => rows(reason, field),
          file: { [label]: (row: ReasonRow) => row[field] },
        };
      }),
    ],
  });
}
