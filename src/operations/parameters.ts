import { z } from 'zod';

/** The messages say what to pass instead; both transports send them unchanged. */
const positiveInteger = (name: string) =>
  z
    .number({ error: `${name} must be a positive integer.` })
    .refine((value) => Number.isInteger(value) && value > 0, {
      error: `${name} must be a positive integer.`,
    })
    // A refinement does not appear in the generated JSON Schema, so this states it.
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

/** An enum whose error lists its values. */
export function oneOf<const Values extends readonly [string, ...string[]]>(
  name: string,
  values: Values,
) {
  return z.enum(values, { error: `${name} must be one of ${values.join(', ')}.` });
}
