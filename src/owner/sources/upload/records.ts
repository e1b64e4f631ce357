import type { Preview } from '../../../mapping/suggest/preview.ts';
import type { ImportRecord } from '../../../records/records.ts';
import { type Html, type HtmlValue, html } from '../../../http/html.ts';
import { type TableColumn, plainTable } from '../../ui/table.ts';
import { isoDay } from '../../view/view.ts';

type First = Preview['first'][number];
type Other = Preview['others'][number];

const dash = html`<span class="quiet">–</span>`;
const day = (at: number | null | undefined) => (typeof at === 'number' ? isoDay(at) : dash);

const subscriptionColumns: readonly TableColumn<First>[] = [
  ['Line', ({ line }) => line],
  ['Subscription', ({ id }) => id || dash],
  ['Status', ({ status }) => status],
  ['Since', ({ createdAt }) => createdAt],
  ['Ended', ({ endedAt }) => endedAt || dash],
  ['Price', ({ price }) => price],
  ['Every', ({ interval }) => interval],
  ['Plan', ({ plan }) => plan || dash],
];

const otherColumns: readonly TableColumn<Other>[] = [
  ['Line', ({ line }) => line],
  ['Type', ({ record }) => record.type],
  ['ID', ({ record }) => String(record.id)],
  ['What', ({ record }) => what(record) || dash],
  ['When', ({ record }) => when(record)],
  [
    'Amount',
    ({ record }) =>
      record.type === 'payment' || record.type === 'refund' ? String(record.amount) : dash,
  ],
];

function what(record: ImportRecord): string {
  switch (record.type) {
    case 'plan':
      return record.name;
    case 'subscription':
    case 'payment':
      return record.status;
    case 'cancellation':
      return record.outcome ?? record.detectedReason ?? '';
    case 'delete':
      return record.record;
    case 'refund':
      return '';
  }
}

function when(record: ImportRecord): HtmlValue {
  switch (record.type) {
    case 'subscription':
    case 'cancellation':
      return day(record.createdAt);
    case 'payment':
      return day(record.processedAt);
    case 'refund':
      return day(record.refundedAt);
    case 'plan':
    case 'delete':
      return dash;
  }
}

/** The first records of a file, as they would be stored. */
export function firstRecords({ first, others }: Preview): Html | undefined {
  const around = { look: 'brief', labelledBy: 'first-title' } as const;
  if (first.length > 0) {
    return html`<h3 id="first-title">The first subscriptions</h3>
      ${plainTable(first, subscriptionColumns, around)}`;
  }
  if (others.length === 0) return undefined;
  return html`<h3 id="first-title">The first records</h3>
    ${plainTable(others, otherColumns, around)}`;
}
