import type { Chart } from '../charts/chart.ts';
import { overTime, seriesOf, sumOf, unitsOf } from '../charts/series.ts';
import { type Comparison, viewPath } from '../view/view.ts';
import type { Dashboard, DashboardDay, Figures } from './dashboard.ts';
import { html } from '../../http/html.ts';
import type { ReasonRow } from '../../metrics/cancel-flow.ts';
import { type Exhibit, bar, tableExhibit } from '../framework/exhibits.ts';
import { outcomeLabels, reasonLabels } from '../ui/labels.ts';
import { countFormat, countOf } from '../ui/formats.ts';
import { shopPath } from '../site.ts';
import { sessionOutcomes } from '../../vocabulary.ts';
import type { FiguresVisit } from '../framework/page.ts';

/** What a chart is compared with. */
const befores: Readonly<Record<Comparison, string>> = {
  before: 'Period before',
  year: 'Year before',
};

/** Who came and who left, beside each other: what no card has. */
export function growthChart(visit: FiguresVisit, data: Dashboard): Chart {
  const { view, history, historyBefore, earlier } = data;
  const { counts } = unitsOf(visit);
  const held = Math.max(data.summary.newSubscribers30d, data.summary.cancelled30d);
  const { spans, frame, span, rows, spansOf } = overTime(visit, history, held);
  const spansBefore = historyBefore && spansOf(historyBefore);
  const totals = ({ summary }: Pick<Figures, 'summary'>) =>
    `${counts.format(summary.newSubscribers30d)} new, ${counts.format(summary.cancelled30d)} cancelled`;
  const kind = (
    name: string,
    tone: Chart['series'][number]['tone'],
    figure: string,
    byDay: (day: DashboardDay) => number,
  ) => ({
    ...seriesOf(name, tone, spans, sumOf(byDay), spansBefore),
    hrefs: rows('/subscriptions', { figure }),
  });
  return {
    id: 'chart-growth',
    title: 'New and cancelled',
    ...frame,
    ...counts,
    caption: `Per ${span}, UTC. New customers, subscriptions cancelled and not back`,
    marks: 'bars',
    series: [
      kind('New', 'new', 'new', (each) => each.newSubscribers),
      kind('Cancelled', 'lost', 'cancelled', (each) => each.cancelled),
    ],
    headline: {
      now: totals(data),
      before: historyBefore && `${befores[view.comparison]}: ${totals(earlier)}`,
    },
  };
}

const totalOf = (row: ReasonRow) => row.saved + row.cancelled + row.abandoned;

/** Cancellation reasons and their outcomes. */
export function reasonsTable(visit: FiguresVisit, { reasons, bases }: Dashboard): Exhibit {
  const format = countFormat(visit);
  const saved = reasons.reduce((sum, row) => sum + row.saved, 0);
  const sessions = shopPath(visit.shop, '/cancel-flow/sessions');
  const most = Math.max(...reasons.map(totalOf), 1);
  return tableExhibit<ReasonRow>({
    id: 'reasons',
    title: html`<small>Reasons and outcomes of the cancel flow</small>
      <span class="headline"
        >${countOf(visit, bases.sessionsEnded, 'session ended', 'sessions ended')}, ${format(saved)}
        saved</span
      >`,
    caption:
      'Sessions started in the period, UTC, by detected reason and outcome. Those in progress are not counted',
    look: 'parts reasons',
    isWide: true,
    narrow: 'stacks',
    rows: reasons,
    none: reasons.length === 0 ? 'No cancel-flow sessions from this period have ended.' : undefined,
    columns: [
      {
        label: 'Reason',
        kind: 'head',
        cell: ({ reason }) => reasonLabels[reason],
        href: ({ reason }) => viewPath(sessions, visit.view, { reason, outcome: 'ended' }),
        file: { Reason: ({ reason }) => reasonLabels[reason] },
      },
      {
        label: '',
        kind: 'bar',
        cell: (row) =>
          bar(
            sessionOutcomes.map((outcome) => ({
              tone: outcomeLabels[outcome][1],
              count: row[outcome],
            })),
            most,
          ),
      },
      ...sessionOutcomes.map((outcome) => {
        const [label, tone] = outcomeLabels[outcome];
        return {
          label,
          tone,
          cell: (row: ReasonRow) => format(row[outcome]),
          sets: { outcome },
          file: { [label]: (row: ReasonRow) => row[outcome] },
        };
      }),
    ],
  });
}
