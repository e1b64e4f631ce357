import { z } from 'zod';
import * as column from '../framework/columns.ts';
import { html } from '../../http/html.ts';
import {
  type PaymentKind,
  type PaymentRow,
  type PaymentWindow,
  paymentKinds,
} from '../../metrics/payments.ts';
import { parseDecimal, subtract } from '../../money.ts';
import type { TimeOrder } from '../../store/records/listing.ts';
import { choice, dayFilters } from '../framework/address.ts';
import { positionSchema } from '../framework/cursor.ts';
import { type ListVisit, figuresOf } from '../framework/list.ts';
import { defineList } from '../framework/define-list.ts';
import { type Tone, paymentLabels } from '../ui/labels.ts';
import { shopPath } from '../site.ts';
import { formatMoney, countOf, rounded } from '../ui/formats.ts';
import { partOf, viewPath, isoDay } from '../view/view.ts';
import { showPeriod } from '../view/picker.ts';

/** What the address can choose; without it, what makes the revenue. */
const kinds = {
  succeeded: ['Payments', ['paid']],
  refunds: ['Refunds', ['refunded']],
  failed: ['Failed payments', ['failed']],
} as const satisfies Record<string, readonly [label: string, kinds: readonly PaymentKind[]]>;

const kindLabels: Readonly<Record<PaymentKind, readonly [label: string, tone: Tone]>> = {
  paid: paymentLabels.succeeded,
  refunded: ['Refunded', 'neutral'],
  failed: paymentLabels.failed,
};

const paymentFilters = { kind: choice('a kind of payment', kinds), ...dayFilters };

type Visit = ListVisit<typeof paymentFilters, TimeOrder>;

/** What all pages of the list come to: amounts, or a number of billing cycles that failed. */
type Totals =
  | {
      readonly paid: number;
      readonly refunded: number;
      readonly revenue: number;
      readonly payments: number;
      readonly refunds: number;
    }
  | { readonly failed: number };

/** The days that the list is of, as seen from the end of their period. */
const windowOf = ({ view: { period }, filters }: Visit): PaymentWindow => ({
  ...partOf(period, filters),
  seen: period.until,
});

/** Below 0 for refunds; a failed payment moved nothing, and is what was asked for. */
const amountOf = ({ kind, amount }: PaymentRow) =>
  kind === 'refunded' && Number(amount) !== 0 ? -Number(amount) : Number(amount);

/** The payments and refunds behind revenue, and the failed payments. */
export const payments = defineList<PaymentRow, Totals>()({
  path: '/payments',
  title: 'Payments',
  parent: '/revenue',
  label: 'Payments',
  hint: 'Refunds, failed payments',
  noun: 'payments',
  caption: 'Payments',
  pickers: ['period', 'segment'],
  // Another period has other days.
  endWithView: ['first', 'last'],
  filters: paymentFilters,
  links: { name: 'kind', label: 'Kind', options: kinds, none: 'Payments and refunds' },
  orders: { newest: 'The newest first', oldest: 'The oldest first' },
  // A payment and a refund may have the same number and time.
  place: positionSchema.extend({ kind: z.enum(paymentKinds) }),
  placeOf: ({ placedAt, id, kind }) => ({ createdAt: placedAt, id, kind }),
  read: (visit, page) => {
    const { kind } = visit.filters;
    const only = kind === undefined ? (['paid', 'refunded'] as const) : kinds[kind][1];
    return figuresOf(visit, (figures) =>
      figures.payments(windowOf(visit), { ...page, kinds: only }),
    );
  },
  summarise: readTotals,
  count({ filters: { kind } }, totals) {
    if ('failed' in totals) return totals.failed;
    return (kind === 'refunds' ? 0 : totals.payments) + (kind === 'succeeded' ? 0 : totals.refunds);
  },
  head(visit, totals) {
    const { view, shop, filters } = visit;
    const { kind, first, last } = filters;
    const whole = viewPath(shopPath(shop, '/payments'), view, kind === undefined ? {} : { kind });
    return html`<p>
      ${sumOf(visit, totals)} Times are in UTC.
      ${first || last ? html`<a href="${whole}">Show the whole period</a>` : undefined}
    </p>`;
  },
  columns: ({ filters: { kind } }) => [
    column.subscription,
    column.customer,
    column.plan,
    column.state('What', (row) => kindLabels[row.kind]),
    { label: 'Number', file: { Number: ({ id }) => id } },
    { ...column.failure, kind: 'minor', ...(kind !== 'failed' && { cell: undefined }) },
    column.money('Amount', amountOf, {
      sum: (totals) => {
        if ('failed' in totals) return undefined;
        if (kind === 'refunds') return -totals.refunded;
        return kind === 'succeeded' ? totals.paid : totals.revenue;
      },
    }),
    column.time('When', ({ at }) => at, { head: 'Time (UTC)', sort: ['oldest', 'newest'] }),
  ],
  empty: {
    title: 'No payments in this period',
    text: 'Payments and refunds appear here once a source brings them.',
    isOfSource: true,
  },
});

function readTotals(visit: Visit): Promise<Totals> {
  const { shop, view, filters } = visit;
  const { from, until } = windowOf(visit);
  return figuresOf(visit, async (figures) => {
    if (filters.kind === 'failed') {
      const [first, last] = [from, until - 1].map(isoDay) as [string, string];
      // A cycle that failed on several days of the period counts on the last of them.
      const days = (await figures.history(view.period)).filter(
        ({ day }) => day >= first && day <= last,
      );
      return { failed: days.reduce((sum, { failedPayments }) => sum + failedPayments, 0) };
    }
    const row = await figures.summary({ from, until }, view.now);
    const [paid, refunded] = [parseDecimal(row.paid), parseDecimal(row.refunded)];
    return {
      paid: rounded(paid, shop),
      refunded: rounded(refunded, shop),
      revenue: rounded(subtract(paid, refunded), shop),
      payments: row.payments,
      refunds: row.refunds,
    };
  });
}

function sumOf(visit: Visit, totals: Totals) {
  const when = showPeriod(visit, windowOf(visit));
  if ('failed' in totals) {
    const { failed } = totals;
    const cycles = countOf(visit, failed, 'billing cycle');
    return html`<strong>${cycles} with a failed payment</strong> ${when}. Each has one row, its last
      failed payment of the period. Failures due to missing stock do not count.`;
  }
  const show = (amount: number) => formatMoney(visit, amount);
  const [paid, refunded] = [show(totals.paid), show(totals.refunded)];
  const { kind } = visit.filters;
  if (kind === 'succeeded') {
    return html`<strong>${paid} in payments</strong> ${when}, before refunds.`;
  }
  if (kind === 'refunds') {
    return html`<strong>${refunded} in refunds</strong> ${when}, by when they were made.`;
  }
  return html`<strong>${show(totals.revenue)} revenue</strong> ${when}: ${paid} in payments, less
    ${refunded} in refunds.`;
}
