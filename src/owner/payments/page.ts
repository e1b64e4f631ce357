import type { Answer, AnswerBody } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import type { PaymentKind, PaymentRow } from '../../metrics/revenue/payments.ts';
import type { Shop } from '../../store/shops.ts';
import { csvFile, pagedRows } from '../csv/csv.ts';
import type { ShopVisit } from '../pages.ts';
import { showFailureCode } from '../recovery/failure-codes.ts';
import type { SegmentChoices } from '../segments/choices.ts';
import { segmentPicker } from '../segments/picker.ts';
import { type Tone, paymentLabels, state } from '../ui/labels.ts';
import { shopPath } from '../ui/layout.ts';
import {
  type Column,
  type PageOfRows,
  listing,
  parameter,
  sourcesLink,
  subscriptionColumns,
} from '../ui/listing.ts';
import { formatCount, moneyFormat } from '../ui/locale.ts';
import { showDay } from '../ui/times.ts';
import { periodPicker, showPeriod } from '../view/picker.ts';
import { type View, viewPath, viewQuery } from '../view/view.ts';
import { type PaymentChoice, type PaymentFilter, type PaymentTotals, windowOf } from './list.ts';

const kindLabels: Readonly<Record<PaymentKind, readonly [label: string, tone: Tone]>> = {
  paid: paymentLabels.succeeded,
  refunded: ['Refunded', 'over'],
  failed: paymentLabels.failed,
};

const choiceLabels: Readonly<Record<PaymentChoice, readonly [label: string]>> = {
  succeeded: ['Payments'],
  refunds: ['Refunds'],
  failed: ['Failed payments'],
};

interface Parts extends PageOfRows<PaymentRow> {
  readonly view: View;
  readonly filter: PaymentFilter;
  readonly totals: PaymentTotals;
  readonly choices: SegmentChoices;
}

/** The payments and refunds that make a figure, with filters. */
export function paymentsContent(visit: ShopVisit, parts: Parts): Html {
  const { view, filter, rows, nextCursor, choices } = parts;
  const { shop } = visit;
  const path = shopPath(shop, '/payments');
  const { choice, days } = filter;
  // Another period has other days.
  const query = new URLSearchParams(visit.query);
  for (const name of ['first', 'last']) query.delete(name);
  return html`${periodPicker({ ...visit, query }, view, path)}
  ${segmentPicker({ ...visit, query }, view.segment, choices, path)} ${total(visit, parts)}
  ${listing({
    caption: 'Payments, the newest first',
    noun: 'payments',
    path,
    query: { ...Object.fromEntries(viewQuery(view)), kind: choice, ...days },
    filter: { name: 'kind', label: 'Kind', options: choiceLabels, none: 'Payments and refunds' },
    columns: columnsFor(visit, choice),
    rows,
    cursor: parameter(visit, 'cursor'),
    nextCursor,
    csv: shopPath(shop, '/payments.csv'),
    emptyState: html`<h2>No payments in this period</h2>
      <p>Payments and refunds appear here once a source brings them.</p>
      <p>${sourcesLink(visit)}</p>`,
  })}`;
}

function total(visit: ShopVisit, { view, filter, totals }: Parts): Html {
  const { choice, days } = filter;
  const when = showPeriod(visit, windowOf(view, filter));
  const hasDays = days.first !== undefined || days.last !== undefined;
  const more = choice === undefined ? {} : { kind: choice };
  const whole = viewPath(shopPath(visit.shop, '/payments'), view, more);
  return html`<p>
    ${sumOf(visit, choice, totals, when)} Times are in UTC.
    ${hasDays ? html`<a href="${whole}">Show the whole period</a>` : undefined}
  </p>`;
}

function sumOf(
  visit: ShopVisit,
  choice: PaymentChoice | undefined,
  totals: PaymentTotals,
  when: string,
): Html {
  if ('failed' in totals) {
    const { failed } = totals;
    const cycles = `${formatCount(visit, failed)} billing ${failed === 1 ? 'cycle' : 'cycles'}`;
    return html`<strong>${cycles} with a failed payment</strong> ${when}. Each has one row, its last
      failed payment of the period. Failures due to missing stock do not count.`;
  }
  const money = moneyFormat(visit, visit.shop);
  const [paid, refunded] = [money(totals.paid), money(totals.refunded)];
  if (choice === 'succeeded') {
    return html`<strong>${paid} in payments</strong> ${when}, before refunds.`;
  }
  if (choice === 'refunds') {
    return html`<strong>${refunded} in refunds</strong> ${when}, by when they were made.`;
  }
  return html`<strong>${money(totals.revenue)} revenue</strong> ${when}: ${paid} in payments, less
    ${refunded} in refunds.`;
}

/** Below 0 for refunds; a failed payment moved nothing, and is what was asked for. */
const amountOf = ({ kind, amount }: PaymentRow) =>
  kind === 'refunded' && Number(amount) !== 0 ? -Number(amount) : Number(amount);

function columnsFor(
  visit: ShopVisit,
  choice: PaymentChoice | undefined,
): readonly Column<PaymentRow>[] {
  const money = moneyFormat(visit, visit.shop);
  const code: Column<PaymentRow> = {
    label: 'Failure',
    kind: 'minor',
    cell: ({ failureCode }) => showFailureCode(failureCode),
  };
  return [
    ...subscriptionColumns(visit.shop),
    { label: 'What', kind: 'state', cell: ({ kind }) => state(kindLabels[kind]) },
    ...(choice === 'failed' ? [code] : []),
    {
      label: 'Amount',
      kind: 'amount',
      cell: (row) => {
        const amount = amountOf(row);
        return html`<bdi>${amount < 0 ? '−' : ''}${money(Math.abs(amount))}</bdi>`;
      },
    },
    { label: 'When', kind: 'date', cell: ({ at }) => showDay(visit, new Date(at)) },
  ];
}

const heads = [
  'Subscription',
  'Customer',
  'Plan',
  'What',
  'Number',
  'Failure code',
  'Amount',
  'Currency',
  'Time (UTC)',
];

/** @param read a page of the list from a cursor on */
export async function paymentsFile(
  shop: Shop,
  now: number,
  read: (cursor?: string) => Promise<PageOfRows<PaymentRow>>,
): Promise<Answer<AnswerBody>> {
  const rows = await pagedRows(read, (page) =>
    page.rows.map((row) => [
      row.subscriptionId,
      row.customerId,
      row.planName,
      kindLabels[row.kind][0],
      row.id,
      row.failureCode,
      amountOf(row),
      shop.currency,
      new Date(row.at).toISOString(),
    ]),
  );
  return csvFile({ shop, noun: 'payments', now, heads, rows });
}
