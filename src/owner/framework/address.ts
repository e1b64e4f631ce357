import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { notOneOf } from '../view/choices.ts';
import { isDay } from '../view/view.ts';

/** What the filters of a list can be, by the parameters of its address. Their messages say so. */
export type FilterShape = Readonly<Record<string, z.ZodType<unknown, string | undefined>>>;

/** The parameters of an address, in the order in which its links have them. */
export type Texts = Readonly<Record<string, string | undefined>>;

/** A filter that has the name of one of some entries. @param noun what a value is, with its article */
export function choice<Name extends string>(
  noun: string,
  entries: Readonly<Record<Name, unknown>> | readonly Name[],
) {
  const names = (Array.isArray(entries) ? entries : Object.keys(entries)) as [Name, ...Name[]];
  return z.enum(names, { error: ({ input }) => notOneOf(input, noun, names) }).optional();
}

const dayFilter = z
  .string()
  .refine(isDay, {
    error: ({ input }) => `“${input}” is not a day. Write one as in 2026-11-20.`,
  })
  .optional();

/** Some UTC days of the period, such as those of a bar; both are included. */
export const dayFilters = { first: dayFilter, last: dayFilter };

export const planFilter = z
  .string()
  .refine((text) => /^[1-9]\d{0,14}$/.test(text), {
    error: ({ input }) => `“${input}” is not a plan number. Choose one of the plans.`,
  })
  .transform(Number)
  .optional();

/** Empty parameters, as forms send them, are none. */
export function textsOf(query: URLSearchParams, shape: FilterShape): Texts {
  return Object.fromEntries(Object.keys(shape).map((name) => [name, query.get(name) || undefined]));
}

/** @throws ServiceError invalid, with the messages of all that are wrong */
export function parseFilters<Shape extends FilterShape>(shape: Shape, texts: Texts) {
  const { data, error } = z.object(shape).safeParse(texts);
  if (error) {
    throw new ServiceError('invalid', error.issues.map(({ message }) => message).join(' '));
  }
  const { first, last } = texts;
  if (first !== undefined && last !== undefined && first > last) {
    throw new ServiceError('invalid', 'The first day is after the last one. Exchange them.');
  }
  return data;
}
