import type { Preview } from '../../../mapping/suggest/preview.ts';
import type { ImportRecord } from '../../../records/records.ts';
import { type Html, html } from '../../../http/html.ts';
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
  ['What', ({ record }) => partsOf(record).what || dash],
  ['When', ({ record }) => day(partsOf(record).at)],
  ['Amount', ({ record }) => partsOf(record).amount ?? dash],
];

interface Parts {
  readonly what?: string | null;
  readonly at?: number;
  readonly amount?: string;
}

/** What a list of records shows of one. */
function partsOf(record: ImportRecord): Parts {
  switch (record.type) {
    case 'plan':
      return { what: record.name };
    case 'subscription':
      return { what: record.status, at: record.createdAt };
    case 'payment':
      return { what: record.status, at: record.processedAt, amount: record.amount };
    case 'refund':
      return { at: record.refundedAt, amount: record.amount };
    case 'cancellation':
      return { what: record.outcome ?? record.detectedReason, at: record.createdAt };
    case 'delete':
      return { what: record.record };
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
