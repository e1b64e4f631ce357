import { html } from '../../http/html.ts';
import type { ReasonRow } from '../../metrics/cancel-flow.ts';
import { type Exhibit, bar, tableExhibit } from '../framework/exhibits.ts';
import type { FiguresVisit } from '../framework/figures.ts';
import { outcomeLabels, reasonLabels } from '../ui/labels.ts';
import { shopPath } from '../ui/layout.ts';
import { countFormat } from '../ui/locale.ts';
import { viewPath } from '../view/view.ts';
import type { Dashboard } from './dashboard.ts';

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
