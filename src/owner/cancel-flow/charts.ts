import type { Chart } from '../charts/chart.ts';
import type { Series } from '../charts/drawing.ts';
import { spanName, spansOf, timesOf } from '../charts/times.ts';
import { seriesOf, unitsOf } from '../charts/values.ts';
import { totalsOf } from '../../metrics/cancel-flow/sessions.ts';
import type { FiguresVisit } from '../framework/figures.ts';
import { shopPath } from '../ui/layout.ts';
import { formatCount, formatShare } from '../ui/locale.ts';
import { daysPath } from '../view/days.ts';
import { type Flow, daysOf, saveRateOf } from './flow.ts';

/** What became of the sessions, and the share that was saved, over time. */
export function flowCharts(visit: FiguresVisit, flow: Flow): Chart[] {
  const { view } = visit;
  const { counts, shares } = unitsOf(visit);
  const groups = spansOf(daysOf(flow, view));
  const spans = groups.map((days) => totalsOf(days.flatMap(({ sessions }) => sessions)));
  const { times, timeHeading } = timesOf(visit, groups);
  /** The sessions of each time. */
  const rows = (more: Readonly<Record<string, string>> = {}) =>
    times.map((time) => daysPath(shopPath(visit.shop, '/cancel-flow/sessions'), view, time, more));
  const outcome = (
    name: string,
    tone: Series['tone'],
    value: 'saved' | 'cancelled' | 'abandoned',
  ): Series => ({
    ...seriesOf(name, tone, spans, (each) => each[value]),
    hrefs: rows({ outcome: value }),
  });
  const frame = {
    initial: 'last',
    times,
    timeHeading,
  } as const;
  const caption = `Per ${spanName(groups)}, UTC, by when a session began`;
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
        outcome('Saved', 'good', 'saved'),
        outcome('Cancelled', 'bad', 'cancelled'),
        outcome('Abandoned', 'quiet', 'abandoned'),
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
      hrefs: rows({ outcome: 'ended' }),
      ...frame,
      ...shares,
    },
  ];
}
