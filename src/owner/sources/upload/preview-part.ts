import type { ImportRecord } from '../../../records/records.ts';
import type { Preview } from '../../../mapping/suggest/preview.ts';
import { type Html, type HtmlValue, html } from '../../../http/html.ts';
import type { ShopVisit } from '../../pages.ts';
import { formatCount, formatMoney } from '../../ui/locale.ts';

const shownReasons = 10;

/** What an import would give: figures, what would be refused, and the first records. */
export function previewPart(visit: ShopVisit, preview: Preview): Html {
  const { refused, refusedRows, isWhole } = preview;
  const count = (number: number) => formatCount(visit, number);
  return html`<section class="preview" aria-labelledby="preview-title">
    <h2 id="preview-title">What would be stored</h2>
    <p>${isWhole ? 'The file has' : 'The beginning of the file has'} ${figures(visit, preview)}</p>
    ${
      refusedRows === 0
        ? html`<p>
            ${isWhole ? 'No line would be refused.' : 'Nothing of that would be refused.'}
          </p>`
        : html`<p>
              <strong
                >${count(refusedRows)} ${refusedRows === 1 ? 'record' : 'records'} would be
                refused:</strong
              >
            </p>
            <ul>
              ${refused.slice(0, shownReasons).map(
                ({ rows, line, reason }) =>
                  html`<li>
                    ${reason}
                    <span class="quiet"
                      >(${rows === 1 ? '' : `${count(rows)}, the first in `}line
                      ${count(line)})</span
                    >
                  </li>`,
              )}
            </ul>`
    }
    ${firstRecords(preview)}
  </section>`;
}

const plural: Readonly<Record<string, string>> = {
  plan: 'plans',
  subscription: 'subscriptions',
  payment: 'payments',
  refund: 'refunds',
  cancellation: 'cancel-flow sessions',
  delete: 'deletions',
};

/** Such as "7,000 subscriptions of 6,900 customers on 3 plans: 5,000 active, 2,000 cancelled". */
function figures(visit: ShopVisit, preview: Preview): Html {
  const { subscriptions, customers, plans, statuses, mrr, counts, skipped } = preview;
  const show = (number: number, type: string) => {
    const noun = plural[type] ?? type;
    return `${formatCount(visit, number)} ${number === 1 ? noun.replace(/s$/, '') : noun}`;
  };
  const others = Object.entries(counts)
    .filter(([type]) => !['plan', 'subscription'].includes(type))
    .map(([type, number]) => show(number, type));
  const byStatus = Object.entries(statuses).map(
    ([status, number]) => `${formatCount(visit, number)} ${status}`,
  );
  const own =
    subscriptions === 0
      ? plans > 0 || others.length === 0
        ? [show(plans, 'plan')]
        : []
      : [
          `${show(subscriptions, 'subscription')} of ${show(customers, 'customers')} on ${show(plans, 'plan')}`,
        ];
  const list = new Intl.ListFormat('en').format([...own, ...others]);
  return html`${list}${byStatus.length === 0 ? '' : `: ${byStatus.join(', ')}`}.
  ${
    subscriptions === 0
      ? undefined
      : html`MRR would be <strong>${formatMoney(visit, visit.shop, mrr)}</strong>.`
  }
  ${
    skipped === 0
      ? undefined
      : `${formatCount(visit, skipped)} ${skipped === 1 ? 'row is' : 'rows are'} left out, such as drafts.`
  }`;
}

interface Column<Row> {
  readonly label: string;
  cell(row: Row): HtmlValue;
}

type First = Preview['first'][number];
type Other = Preview['others'][number];

const dash = html`<span class="quiet">–</span>`;
const day = (at: number | null | undefined) =>
  typeof at === 'number' ? new Date(at).toISOString().slice(0, 10) : dash;

const subscriptionColumns: readonly Column<First>[] = [
  { label: 'Line', cell: ({ line }) => line },
  { label: 'Subscription', cell: ({ id }) => id || dash },
  { label: 'Status', cell: ({ status }) => status },
  { label: 'Since', cell: ({ createdAt }) => createdAt },
  { label: 'Ended', cell: ({ endedAt }) => endedAt || dash },
  { label: 'Price', cell: ({ price }) => price },
  { label: 'Every', cell: ({ interval }) => interval },
  { label: 'Plan', cell: ({ plan }) => plan || dash },
];

const otherColumns: readonly Column<Other>[] = [
  { label: 'Line', cell: ({ line }) => line },
  { label: 'Type', cell: ({ record }) => record.type },
  { label: 'ID', cell: ({ record }) => String(record.id) },
  { label: 'What', cell: ({ record }) => what(record) || dash },
  { label: 'When', cell: ({ record }) => when(record) },
  {
    label: 'Amount',
    cell: ({ record }) =>
      record.type === 'payment' || record.type === 'refund' ? String(record.amount) : dash,
  },
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

function firstRecords({ first, others }: Preview): Html | undefined {
  if (first.length > 0) return table('The first subscriptions', subscriptionColumns, first);
  return others.length > 0 ? table('The first records', otherColumns, others) : undefined;
}

function table<Row>(caption: string, columns: readonly Column<Row>[], rows: readonly Row[]): Html {
  return html`<h3 id="first-title">${caption}</h3>
    <table class="brief" aria-labelledby="first-title">
      <thead>
        <tr>
          ${columns.map(({ label }) => html`<th scope="col">${label}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${columns.map(({ label, cell }) => html`<td data-label="${label}">${cell(row)}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>`;
}
