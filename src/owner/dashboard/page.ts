import { type Html, html } from '../../http/html.ts';
import { feedsOf, platforms } from '../../platforms/registry.ts';
import type { FeedStatus } from '../../store/feeds/feeds.ts';
import type { Shop } from '../../store/shops.ts';
import { type Cell, csvLink } from '../framework/csv.ts';
import { type Exhibit, bar, tableExhibit } from '../framework/exhibits.ts';
import { type FiguresVisit, definePage, periodAndSegment } from '../framework/page.ts';
import { type Sources, arrivals, lastArrival } from '../sources/sources.ts';
import { opens, shopPath } from '../site.ts';
import { day } from '../../metrics/bounds.ts';
import { sumLeft } from '../churn/left.ts';
import { showMoney } from '../framework/columns.ts';
import type { RowSum } from '../framework/list.ts';
import { countOf, showTime, countFormat } from '../ui/formats.ts';
import { type Comparison, viewPath } from '../view/view.ts';
import { attention, readConcerns } from './attention.ts';
import { changeOf } from './changes.ts';
import { type Counted, type Dashboard, type DashboardDay, readDashboard } from './dashboard.ts';
import { emptyOverview } from './empty.ts';
import { allFigures, figureRows, heroFigures } from './figures.ts';
import { howMade, verdict } from './verdict.ts';
import type { Chart } from '../charts/chart.ts';
import { overTime, seriesOf, sumOf, unitsOf } from '../charts/series.ts';
import type { ReasonRow } from '../../metrics/cancel-flow.ts';
import { outcomeLabels, reasonLabels } from '../ui/labels.ts';
import { sessionOutcomes } from '../../vocabulary.ts';

/** The figures of a shop, and what needs attention. */
export const overview = (sources: Sources) =>
  definePage({
    path: '',
    title: 'Overview',
    navigation: { group: 'Insights', icon: 'overview', isInBar: true },
    assets: ['charts', 'help', 'dashboard'],
    pickers: periodAndSegment,
    files: { path: '/charts.csv', by: 'chart' },
    read: ({ parts: { store }, shop, view }) => readDashboard(store, shop, view),
    beside,
    answer(visit, data: Dashboard, found, [growth]) {
      const { summary, view } = data;
      const isCurrent = view.period.until === view.now;
      // Needs attention whatever is chosen; a segment knows only its own.
      const outstanding = isCurrent && !view.segment ? summary.dunningActive : undefined;
      return {
        text: verdict(visit, data),
        more: html` ${found && attention(visit, found.concerns, { outstanding, now: view.now })}
        ${heroFigures(visit, data, growth?.times)} ${found?.left && showLeft(visit, found.left)}
        ${howMade}`,
      };
    },
    charts: (visit, data) => [growthChart(visit, data)],
    tables: (visit, data) => [figuresTable(visit, data), reasonsTable(visit, data)],
    rows: notes,
    async empty(visit, found) {
      const { shop } = visit;
      const listed = await sources.list(shop.id);
      return html`${emptyOverview(visit, listed, found?.concerns)} ${aboutShop(shop)}`;
    },
  });

/** How many days before now count as lately. */
const lately = 7;

/** What needs attention, and who left lately, of all subscriptions and in a period that ends now. */
async function beside({ parts, shop, view }: FiguresVisit) {
  const { now, segment, period } = view;
  const [concerns, left] = await Promise.all([
    readConcerns(parts, shop.id),
    segment || period.until !== now
      ? undefined
      : sumLeft({ parts, shop, view }, { from: now - lately * day, until: now, now }),
  ]);
  return { concerns, left };
}

function showLeft(visit: FiguresVisit, { count, worth }: RowSum<number>): Html {
  const path = viewPath(shopPath(visit.shop, '/churn/left'), {
    range: { days: lately },
    comparison: 'before',
    segment: undefined,
  });
  if (count === 0) return html`<p>No subscription left in the last ${lately} days.</p>`;
  const text = `${countOf(visit, count, 'subscription')} left in the last ${lately} days`;
  return html`<p>
    <a href="${path}">${text}</a>${worth ? html`, worth ${showMoney(visit, worth)} a month` : ''}.
  </p>`;
}

/** How new the data is. */
function notes(visit: FiguresVisit, { summary, feeds, firstDay }: Dashboard): Html {
  const { shop, view } = visit;
  const receivedAt = lastArrival(feeds);
  const link = html`<a href="${shopPath(shop, '/sources')}">Manage sources</a>`;
  return html`${arrivals(visit, feeds, opens(visit, '/sources') ? { link } : {})}
    <p class="quiet">
      As of ${showTime(visit, new Date(summary.generatedAt))}.
      ${receivedAt && html`Data last received ${showTime(visit, receivedAt)}.`}
      ${
        firstDay > view.before.from &&
        html`The first data is from ${showTime(visit, new Date(firstDay))}.`
      }
      ${feeds.some(isFirstSync) && 'The first sync is still running, so figures are too low.'}
    </p>
    ${aboutShop(shop)}`;
}

const aboutShop = ({ id, currency }: Shop) =>
  html`<p class="quiet">Shop ID ${id}. All amounts in ${currency}.</p>`;

/** The figures below the three largest; the file has all, with their values in the period compared with. */
function figuresTable(visit: FiguresVisit, data: Dashboard): Exhibit {
  return {
    id: 'figures',
    show: (csv) =>
      html`<div class="wide">
        ${figureRows(visit, data)}
        <div class="figures-file">${csvLink(csv)}</div>
      </div>`,
    file: () => ({
      noun: 'figures',
      heads: ['Figure', 'Value', 'Before', 'Currency'],
      rows: allFigures.map((figure): Cell[] => {
        const change = changeOf(figure, data);
        return [
          figure.name,
          data.undefinedFigures.has(figure.field) ? null : data.summary[figure.field],
          typeof change === 'object' ? change.from : null,
          figure.format === 'money' ? visit.shop.currency : null,
        ];
      }),
    }),
  };
}

/** Whether a platform has been read in part, but never completely. */
function isFirstSync({ feed, completedAt }: FeedStatus): boolean {
  return completedAt === null && platforms.some((each) => feedsOf(each).sync === feed);
}

/** What a chart is compared with. */
const befores: Readonly<Record<Comparison, string>> = {
  before: 'Period before',
  year: 'Year before',
};

/** Who came and who left, beside each other: what no card has. */
function growthChart(visit: FiguresVisit, data: Dashboard): Chart {
  const { view, history, historyBefore, earlier } = data;
  const { counts } = unitsOf(visit);
  const held = Math.max(data.summary.newSubscribers30d, data.summary.cancelled30d);
  const { spans, frame, span, rows, paired } = overTime(visit, history, held);
  const spansBefore = historyBefore && paired(historyBefore);
  const totals = ({ summary }: Pick<Counted, 'summary'>) =>
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
function reasonsTable(visit: FiguresVisit, { reasons, bases }: Dashboard): Exhibit {
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
