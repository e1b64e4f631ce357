import { ServiceError } from '../../errors.ts';
import {
  type PaymentKind,
  type PaymentRow,
  type PaymentWindow,
  paymentKinds,
} from '../../metrics/revenue/payments.ts';
import { readFigures } from '../../metrics/segments/figures.ts';
import { type Ratio, parseDecimal, roundHalfAway, shopDigitsOf, subtract } from '../../money.ts';
import { decodeCursor } from '../../operations/cursor.ts';
import { cursorError } from '../../operations/parameters.ts';
import type { Store } from '../../store/open.ts';
import type { Shop } from '../../store/shops.ts';
import type { ShopVisit } from '../pages.ts';
import { type PageOfRows, pageOfRows, parameter } from '../ui/listing.ts';
import { type Days, daysIn, partOf } from '../view/days.ts';
import { type View, selectionOf, viewQuery } from '../view/view.ts';

/** What the address can choose; without it, what makes the revenue. */
const choices = {
  succeeded: ['paid'],
  refunds: ['refunded'],
  failed: ['failed'],
} as const satisfies Record<string, readonly PaymentKind[]>;
export type PaymentChoice = keyof typeof choices;

export interface PaymentFilter {
  readonly choice: PaymentChoice | undefined;
  readonly days: Days;
}

/** @throws ServiceError invalid */
export function paymentFilter(visit: ShopVisit): PaymentFilter {
  const text = parameter(visit, 'kind');
  const known = Object.keys(choices) as PaymentChoice[];
  const choice = known.find((each) => each === text);
  if (text !== undefined && choice === undefined) {
    throw new ServiceError('invalid', `kind must be one of ${known.join(', ')}.`);
  }
  return { choice, days: daysIn(visit) };
}

/** The days that the list is of, as seen from the end of their period. */
export function windowOf({ period }: View, { days }: PaymentFilter): PaymentWindow {
  return { ...partOf(period, days), seen: period.until };
}

/**
 * A page of payments and refunds, the newest first.
 * @throws ServiceError invalid, for a cursor of another list
 */
export async function readPayments(
  store: Store,
  shop: Shop,
  view: View,
  filter: PaymentFilter,
  { cursor, limit }: { readonly cursor: string | undefined; readonly limit: number },
): Promise<PageOfRows<PaymentRow>> {
  const { choice, days } = filter;
  // A payment and a refund may have the same number and time, so a place says which of them it is of, too.
  const identityOf = (kind: PaymentKind) =>
    `${shop.id} payments ${viewQuery(view)} ${JSON.stringify({ choice, days, kind })}`;
  const page = {
    kinds: choice === undefined ? (['paid', 'refunded'] as const) : choices[choice],
    after: cursor === undefined ? undefined : afterOf(cursor, identityOf),
    limit: limit + 1,
  };
  const found = await store.readRecent(shop.id, (from) =>
    readFigures(from, shop, selectionOf(view), (figures) =>
      figures.payments(windowOf(view, filter), page),
    ),
  );
  const kind = found[limit - 1]?.kind ?? 'paid';
  const { rows, nextCursor } = pageOfRows(found, limit, identityOf(kind), ({ placedAt, id }) => ({
    createdAt: placedAt,
    id,
  }));
  return { rows, nextCursor: nextCursor && `${kind}.${nextCursor}` };
}

function afterOf(cursor: string, identityOf: (kind: PaymentKind) => string) {
  const [name, place] = cursor.split('.');
  const kind = paymentKinds.find((each) => each === name);
  if (kind === undefined || place === undefined) throw new ServiceError('invalid', cursorError);
  return { ...decodeCursor(identityOf(kind), place), kind };
}

/** What all pages of the list come to: amounts, or a number of billing cycles that failed. */
export type PaymentTotals =
  | { readonly paid: number; readonly refunded: number; readonly revenue: number }
  | { readonly failed: number };

export function readPaymentTotals(
  store: Store,
  shop: Shop,
  view: View,
  filter: PaymentFilter,
): Promise<PaymentTotals> {
  const { from, until } = windowOf(view, filter);
  return store.readRecent(shop.id, (connections) =>
    readFigures(connections, shop, selectionOf(view), async (figures) => {
      if (filter.choice === 'failed') {
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
      };
    }),
  );
}

const isoDay = (at: number) => new Date(at).toISOString().slice(0, 10);

const rounded = (value: Ratio, { currency }: Shop) => roundHalfAway(value, shopDigitsOf(currency));
