import type { Chart } from '../charts/chart.ts';
import { spansOf, timesOf } from '../charts/times.ts';
import { seriesOf, unitsOf } from '../charts/values.ts';
import { totalsOf } from '../../metrics/cancel-flow/sessions.ts';
import type { ShopVisit } from '../pages.ts';
import { shopPath } from '../ui/layout.ts';
import { formatCount, formatShare } from '../ui/locale.ts';
import { type View, viewPath } from '../view/view.ts';
import { type Flow, daysOf, saveRateOf } from './flow.ts';

/** What became of the sessions, and the share that was saved, over time. */
export function flowCharts(visit: ShopVisit, view: View, flow: Flow): Chart[] {
  const { counts, shares } = unitsOf(visit);
  const groups = spansOf(daysOf(flow, view));
  const spans = groups.map((days) => totalsOf(days.flatMap(({ sessions }) => sessions)));
  const { times, timeHeading } = timesOf(visit, groups);
  const frame = {
    initial: 'last',
    times,
    timeHeading,
    hrefs: times.map(({ first, last }) =>
      viewPath(shopPath(visit.shop, '/cancel-flow/sessions'), {
        ...view,
        range: { from: first, to: last },
      }),
    ),
  } as const;
  const per = groups.some((days) => days.length > 1) ? 'Per 7 days, UTC' : 'Per day, UTC';
  const caption = `${per}, by when a session began`;
  const { totals, before } = flow;
  const count = (value: number) => formatCount(visit, value);
  const share = (rate: number | null) => (rate === null ? '–' : formatShare(visit, rate));
  return [
    {
      id: 'chart-outcomes',
      title: 'Sessions by outcome',
      headline: {
        now: `${count(totals.saved)} saved, ${count(totals.cancelled)} cancelled, ${count(totals.abandoned)} abandoned`,
        before:
          before &&
          `Compared with ${count(before.saved)}, ${count(before.cancelled)} and ${count(before.abandoned)}`,
      },
      caption,
      marks: 'bars',
      series: [
        seriesOf('Saved', 'good', spans, ({ saved }) => saved),
        seriesOf('Cancelled', 'bad', spans, ({ cancelled }) => cancelled),
        seriesOf('Abandoned', 'quiet', spans, ({ abandoned }) => abandoned),
      ],
      ...frame,
      ...counts,
    },
    {
      id: 'chart-save-rate',
      title: 'Save rate',
      headline: {
        now: share(saveRateOf(totals)),
        before: before && `Compared with ${share(saveRateOf(before))}`,
      },
      caption: `${caption}; none where no session ended`,
      marks: 'line',
      series: [{ name: 'Save rate', tone: 'plain', values: spans.map(saveRateOf) }],
      ...frame,
      ...shares,
    },
  ];
}
