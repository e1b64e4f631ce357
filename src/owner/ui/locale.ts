import { shopDigitsOf } from '../../money.ts';
import type { Shop } from '../../store/shops.ts';
import type { Visit } from '../visit.ts';

/** The reader's first language, as their browser says; English where it says nothing that is known. */
export function localeOf({ request }: Visit): string {
  const first = request.headers['accept-language']?.split(',', 1)[0]?.split(';', 1)[0]?.trim();
  try {
    return Intl.NumberFormat.supportedLocalesOf(first ?? '')[0] ?? 'en';
  } catch {
    return 'en';
  }
}

/** Writes many values; each call of a function below makes its format anew. */
type Format = (value: number) => string;

export function countFormat(visit: Visit): Format {
  return new Intl.NumberFormat(localeOf(visit)).format;
}

export function moneyFormat(visit: Visit, { currency }: Pick<Shop, 'currency'>): Format {
  const digits = shopDigitsOf(currency);
  return new Intl.NumberFormat(localeOf(visit), {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format;
}

/** As the reader writes numbers. */
export function formatCount(visit: Visit, count: number): string {
  return countFormat(visit)(count);
}

/**
 * An amount in the shop's currency, with all of its digits, as the reader writes money.
 * @param amount in the currency's major unit, as the API answers it
 */
export function formatMoney(visit: Visit, shop: Pick<Shop, 'currency'>, amount: number): string {
  return moneyFormat(visit, shop)(amount);
}

/** A share in percent, with the two digits that four decimals give. */
export function formatShare(visit: Visit, share: number): string {
  return new Intl.NumberFormat(localeOf(visit), {
    style: 'percent',
    maximumFractionDigits: 2,
  }).format(share);
}
