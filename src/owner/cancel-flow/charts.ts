import type { Chart } from '../charts/chart.ts';
import type { Series } from '../charts/drawing.ts';
import { overTime } from '../charts/times.ts';
import { seriesOf, unitsOf } from '../charts/values.ts';
import { totalsOf } from '../../metrics/cancel-flow.ts';
import type { FiguresVisit } from '../framework/figures.ts';
import { formatCount, formatShare } from '../ui/locale.ts';
import { daysOf } from '../view/days.ts';
import { type Flow, saveRateOf } from './flow.ts';

/** What became of the sessions, and the share that was saved, over time. */
export function flowCharts(visit: FiguresVisit, flow: Flow): Chart[] {
  const { counts, shares } = unitsOf(visit);
  const byDay = Map.groupBy(flow.days, (each) => each.day);
  const days = daysOf(visit.view.period, (at) => ({ sessions: byDay.get(isoDay(at)) ?? [] }));
  const { spans: groups, frame, span, rows } = overTime(visit, days);
  const spans = groups.map((group) => totalsOf(group.flatMap(({ sessions }) => sessions)));
  const list = '/cancel-flow/sessions';
  const outcome = (
    name: string,
    tone: Series['tone'],
    value: 'saved' | 'cancelled' | 'abandoned',
  ): Series => ({
    ...seriesOf(name, tone, spans, (each) => each[value]),
    hrefs: rows(list, { outcome: value }),
  });
  const caption = `Per ${span}, UTC, by when a session began`;
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
      hrefs: rows(list, { outcome: 'ended' }),
      ...frame,
      ...shares,
    },
  ];
}

const isoDay = (at: number) => new Date(at).toISOString().slice(0, 10);
