import { shopDigitsOf } from '../../money.ts';
import type { NotificationChoice } from '../../store/owners/notifications.ts';
import type { Shop } from '../../store/shops.ts';

/** The texts of the form's fields. */
export type Texts = Readonly<Record<'maxChurnRate' | 'maxOutstanding' | 'minMrr', string>>;

export interface Parsed {
  readonly choice: NotificationChoice;
  readonly texts: Texts;
  /** The first field that is wrong. */
  readonly problem?: { readonly field: keyof Texts; readonly text: string };
}

export const noChoice: NotificationChoice = {
  digest: false,
  unusual: false,
  maxChurnRate: null,
  maxOutstanding: null,
  minMrr: null,
};

/** An empty field is no limit. */
export function parseForm(form: URLSearchParams, { currency }: Pick<Shop, 'currency'>): Parsed {
  const texts: Texts = {
    maxChurnRate: form.get('maxChurnRate')?.trim() ?? '',
    maxOutstanding: form.get('maxOutstanding')?.trim() ?? '',
    minMrr: form.get('minMrr')?.trim() ?? '',
  };
  const digits = shopDigitsOf(currency);
  const parse: Readonly<Record<keyof Texts, (text: string) => number | undefined>> = {
    // In percent, with the two decimals that the figure has.
    maxChurnRate: (text) => numberOf(text, 2, 100, 100),
    maxOutstanding: (text) => numberOf(text, 0, 2 ** 31 - 1),
    minMrr: (text) => numberOf(text, digits, 10 ** 12),
  };
  const expected: Readonly<Record<keyof Texts, string>> = {
    maxChurnRate: 'The limit of the churn rate must be a percentage from 0 to 100, such as 7.5.',
    maxOutstanding: 'The limit of outstanding payments must be a whole number, such as 20.',
    minMrr: `The limit of monthly recurring revenue must be an amount in ${currency}, such as ${(1500).toFixed(digits)}.`,
  };
  const fields = Object.keys(texts) as (keyof Texts)[];
  const values = Object.fromEntries(
    fields.map((field) => [field, texts[field] === '' ? null : parse[field](texts[field])]),
  ) as Record<keyof Texts, number | null | undefined>;
  const wrong = fields.find((field) => values[field] === undefined);
  return {
    choice: {
      digest: form.has('digest'),
      unusual: form.has('unusual'),
      maxChurnRate: values.maxChurnRate ?? null,
      maxOutstanding: values.maxOutstanding ?? null,
      minMrr: values.minMrr ?? null,
    },
    texts,
    ...(wrong === undefined ? {} : { problem: { field: wrong, text: expected[wrong] } }),
  };
}

/** The fields' texts of a stored choice. */
export function textsOf(choice: NotificationChoice, { currency }: Pick<Shop, 'currency'>): Texts {
  const { maxChurnRate, maxOutstanding, minMrr } = choice;
  return {
    // A rate has four decimals at most.
    maxChurnRate: maxChurnRate === null ? '' : String(Math.round(maxChurnRate * 10_000) / 100),
    maxOutstanding: maxOutstanding === null ? '' : String(maxOutstanding),
    minMrr: minMrr === null ? '' : minMrr.toFixed(shopDigitsOf(currency)),
  };
}

/** @returns undefined for anything but a plain decimal within the limits */
function numberOf(text: string, decimals: number, max: number, divisor = 1): number | undefined {
  const pattern =
    decimals === 0 ? /^\d{1,13}$/ : new RegExp(`^\\d{1,13}([.,]\\d{1,${decimals}})?$`);
  if (!pattern.test(text)) return undefined;
  const value = Number(text.replace(',', '.'));
  return value <= max ? value / divisor : undefined;
}
