import { hash } from 'node:crypto';
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { oneOf } from '../../operations/json-schema.ts';
import { isDay } from '../view/view.ts';

/** What the filters of a list can be, by the parameters of its address. Their messages say so. */
export type FilterShape = Readonly<Record<string, z.ZodType<unknown, string | undefined>>>;

/** The parameters of an address, in the order in which its links have them. */
export type Texts = Readonly<Record<string, string | undefined>>;

/** A filter that has the name of one of some entries. */
export function choice<Name extends string>(
  name: string,
  entries: Readonly<Record<Name, unknown>>,
) {
  return oneOf(name, Object.keys(entries) as [Name, ...Name[]]).optional();
}

const dayNamed = (name: string) =>
  z
    .string()
    .refine(isDay, { error: `${name} must be a day such as 2026-11-20.` })
    .optional();

/** Some UTC days of the period, such as those of a bar; both are included. */
export const dayFilters = { first: dayNamed('first'), last: dayNamed('last') };

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
    throw new ServiceError('invalid', 'first must not be after last.');
  }
  return data;
}

/** The last row of a page, by what its list is sorted by; what it has depends on the list. */
export type PlaceSchema = z.ZodObject;

/** Epoch milliseconds, before the year 10000. */
const time = z
  .int()
  .min(0)
  .lt(Date.UTC(10_000, 0, 1));
const id = z.int().min(1);

/** The place of most lists: a time, then an id. */
export const positionSchema = z.object({ createdAt: time, id });

/**
 * The place as it stands in an address, with a checksum that catches places of other lists. The checksum need not be
 * secret, because a place opens nothing that its reader could not see.
 * @param identity of the list: its shop, path, filters and order
 */
export function encodePlace(identity: string, place: object): string {
  const text = Buffer.from(JSON.stringify(place)).toString('base64url');
  return `${text}.${checksumOf(identity, text)}`;
}

/** @throws ServiceError invalid, for any text that encodePlace did not return for this list */
export function decodePlace<Schema extends PlaceSchema>(
  identity: string,
  cursor: string,
  schema: Schema,
): z.output<Schema> {
  const [text = '', checksum] = cursor.split('.');
  const isOfList = checksum === checksumOf(identity, text);
  const { data, success } = schema.safeParse(isOfList ? parse(text) : undefined);
  if (success) return data;
  throw new ServiceError(
    'invalid',
    'This address continues another list, or one with other filters.',
  );
}

/** Anyone can compute a checksum, so the text may still be no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

const checksumOf = (identity: string, text: string) =>
  hash('sha256', `${identity} ${text}`, 'base64url').slice(0, 8);
