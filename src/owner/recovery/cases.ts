import { z } from 'zod';
import { type Html, html } from '../../http/html.ts';
import type { CaseRow } from '../../metrics/recovery.ts';
import { failureCodeForm, failureCodePattern } from '../../vocabulary.ts';
import type { ShopVisit } from '../pages.ts';
import type { Column } from '../framework/columns.ts';
import { positionSchema } from '../framework/place.ts';
import { shopPath } from '../ui/layout.ts';
import { formatCount } from '../ui/locale.ts';
import { showFailureCode } from './failure-codes.ts';

/*
 * What the lists of open and of closed cases have in common.
 */

/** In addresses, cases without a failure code; no code has parentheses. */
const noCode = '(none)';

export function codeParameter(code: string | null): string {
  return code ?? noCode;
}

/** null: only cases without a code; undefined: any. */
export const codeFilter = z
  .string()
  .refine((text) => text === noCode || failureCodePattern.test(text), {
    error: `code must be ${failureCodeForm}, or ${noCode}.`,
  })
  .transform((text) => (text === noCode ? null : text))
  .optional();

const { createdAt: time, id } = positionSchema.shape;

/** The place of a case among those that opened at the same time. */
export const casePlace = z.object({
  openedAt: time,
  subscriptionId: id,
  position: z
    .int()
    .min(0)
    .max(2 ** 31 - 1),
});

export const failure: Column<CaseRow> = {
  label: 'Failure',
  kind: 'name',
  cell: ({ failureCode }) => showFailureCode(failureCode),
  file: { 'Failure code': ({ failureCode }) => failureCode },
};

export const attempts: Column<CaseRow> = {
  label: 'Attempts',
  kind: 'number',
  cell: ({ attempts: count }, visit) => `${formatCount(visit, count)} failed`,
  file: { 'Failed attempts': ({ attempts: count }) => count },
};

export const customer: Column<CaseRow> = {
  label: 'Customer',
  kind: 'minor',
  cell: ({ customerId }, { shop }) =>
    html`<a href="${shopPath(shop, `/subscriptions?customer=${customerId}`)}">${customerId}</a>`,
  file: { Customer: ({ customerId }) => customerId },
};

/** A number of payments. */
export function payments(visit: ShopVisit, count: number): Html {
  return html`<strong
    >${formatCount(visit, count)} ${count === 1 ? 'payment' : 'payments'}</strong
  >`;
}

/** What the files of outstanding and of closed payments begin with. */
export const fileHeads = [
  'Subscription',
  'Customer',
  'Failure code',
  'Failed attempts',
  'Amount',
  'Currency',
  'First failed (UTC)',
];
