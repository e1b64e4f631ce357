import { z } from 'zod';

/** The messages say what to pass instead; both faces show them as they are. */
const positiveInteger = (name: string) =>
  z
    .number({ error: `${name} must be a positive integer.` })
    .refine((value) => Number.isInteger(value) && value > 0, {
      error: `${name} must be a positive integer.`,
    })
    // For the generated contract: a refinement is invisible there.
    .meta({ type: 'integer', minimum: 1 });

export const customerId = positiveInteger('customerId').describe(
  "The shop's internal numeric customer id, not an e-mail address.",
);

export const subscriptionId = positiveInteger('subscriptionId').describe(
  'The numeric subscription id.',
);

const limitError = 'limit must be an integer from 1 to 100.';

export const limit = z
  .int({ error: limitError })
  .min(1, { error: limitError })
  .max(100, { error: limitError })
  .default(50)
  .describe('How many rows a page holds at most, 1 to 100.');

export const cursorError =
  'cursor is not valid here. Take it from nextCursor of the previous page of the same listing with the same filter.';

export const cursor = z
  .string({ error: cursorError })
  .describe(
    'Where the page begins: nextCursor of the previous page, unchanged. Leave it out for the first page.',
  );

/** One of some words, with an error that names them. */
export function oneOf<const Words extends readonly [string, ...string[]]>(
  name: string,
  words: Words,
) {
  return z.enum(words, { error: `${name} must be one of ${words.join(', ')}.` });
}
