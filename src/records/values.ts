import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { priceDecimals } from '../money.ts';
import { namedProblems } from './problems.ts';

/** Schemas of single values, with sentences for people. */

/** An error message, as the end of a sentence about a field. */
export const must = (be: string) => ({
  error: ({ input }: { readonly input?: unknown }) =>
    input === undefined ? 'is missing' : `must be ${be}`,
});

export function integer(min: number, max: number) {
  const params = must(`an integer from ${min} to ${max}`);
  return z.int(params).min(min, params).max(max, params);
}

export const id = integer(1, Number.MAX_SAFE_INTEGER);

const isId = (value: unknown) => Number.isSafeInteger(value) && (value as number) > 0;

/** Not all invalid ids are reported: Zod passes the issues of a list as arguments of one call. */
export function ids(max: number) {
  return z
    .array(z.unknown())
    .max(max)
    .transform((values, context) => {
      const message = `must be an integer from 1 to ${Number.MAX_SAFE_INTEGER}`;
      const wrong = values.keys().filter((index) => !isId(values[index]));
      for (const index of wrong.take(namedProblems + 1)) {
        context.addIssue({ code: 'custom', path: [index], message });
      }
      return values as number[];
    });
}

const soundText = z
  .string()
  .max(1000)
  .refine((value) => value.isWellFormed() && !value.includes('\0'), {
    error: 'must be text without NUL or broken surrogates',
  });

export function hasEmailAddress(text: string): boolean {
  return text.includes('@') && /[^\s@]@[^\s@]+\.[^\s@]/.test(text);
}

/** Feeds check their own texts; a platform's name of a product may have an address. */
export const text = (isFromFeed: boolean) =>
  isFromFeed
    ? soundText
    : soundText.refine((value) => !hasEmailAddress(value), {
        error: 'must have no e-mail address',
      });

export const nonEmptyText = (isFromFeed: boolean) =>
  text(isFromFeed).refine((value) => value.trim() !== '', { error: 'must not be empty' });

const earliest = Date.UTC(1970, 0, 1);
const latest = Date.UTC(10_000, 0, 1);

/** ISO 8601 with an offset or Z, as epoch milliseconds; finer digits are truncated. */
export const time = z.iso
  .datetime({ offset: true, ...must('an ISO 8601 time with an offset or Z') })
  .transform((value) => Date.parse(value))
  .refine((value) => value >= earliest && value < latest, {
    error: 'must lie in the years 1970 to 9999',
  });

/** The time of something that has happened. */
export function pastTime(clock: Clock) {
  return time.refine((at) => !isInFuture(at, clock), {
    error: ({ input }) => lyingInFuture(Number(input)),
  });
}

/** The shortest form of a number, without the exponent that JavaScript gives those below 10^-6. */
function decimalForm(value: string | number): string {
  const [, first, others = '', exponent] = /^(\d)(?:\.(\d+))?e-(\d+)$/.exec(String(value)) ?? [];
  return exponent === undefined
    ? String(value)
    : `0.${'0'.repeat(Number(exponent) - 1)}${first}${others}`;
}

/** A decimal of 0 or more, below 10^12, as text. Numbers are converted to their shortest form. */
export function decimal(digits: number, what: string) {
  const pattern = new RegExp(digits === 0 ? '^\\d{1,12}$' : `^\\d{1,12}(\\.\\d{1,${digits}})?$`);
  return z
    .union([z.string(), z.number()], must(what))
    .transform(decimalForm)
    .refine((value) => pattern.test(value), must(what));
}

/** @param minorDigits decimals of the shop's currency; an amount with more is refused */
export function amount(minorDigits: number) {
  const precision = minorDigits === 0 ? 'without' : `with at most ${minorDigits}`;
  return decimal(minorDigits, `an amount of 0 or more, below 10^12, ${precision} decimals`);
}

export const price = amount(priceDecimals);

/** The most decimals of a percentage; more than any shop's price list needs. */
const percentageDigits = 4;
const share = `a percentage from 0 to 100 with at most ${percentageDigits} decimals`;

export const percentage = decimal(percentageDigits, share).refine(
  (value) => Number(value) <= 100,
  must(share),
);

/** Messages for a union of types: the type is wrong, or the value is not an object. */
export function oneOfTypes(types: readonly string[], notAnObject: string) {
  return ({ code }: z.core.$ZodRawIssue) =>
    code === 'invalid_union' ? `must be one of ${types.join(', ')}` : notAnObject;
}

/** How far a source's clock may be ahead of this one. */
const maxClockSkewMs = 5 * 60_000;

/** Whether a time is in the future by more than clocks may differ. */
export function isInFuture(at: number, clock: Clock): boolean {
  return at > clock.now() + maxClockSkewMs;
}

/** What a message says of such a time. */
export function lyingInFuture(at: number): string {
  return `${new Date(at).toISOString()} lies in the future; send it once it has happened`;
}
