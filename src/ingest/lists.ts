import { z } from 'zod';
import { namedProblems } from './problems.ts';

/** The most entries of lists in a record. Longer ones are refused before any entry is looked at. */
export const listLimits = { lines: 250, statusEvents: 10_000, productIds: 100_000 } as const;

const isId = (value: unknown) => Number.isSafeInteger(value) && (value as number) > 0;

/** Not all invalid ids are reported: Zod passes the issues of a list as arguments of one call. */
export const ids = z
  .array(z.unknown())
  .max(listLimits.productIds)
  .transform((values, context) => {
    const message = `must be an integer from 1 to ${Number.MAX_SAFE_INTEGER}`;
    const wrong = values.keys().filter((index) => !isId(values[index]));
    for (const index of wrong.take(namedProblems + 1)) {
      context.addIssue({ code: 'custom', path: [index], message });
    }
    return values as number[];
  });
