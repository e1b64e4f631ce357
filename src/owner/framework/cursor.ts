import { hash } from 'node:crypto';
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { parseJson } from '../../json.ts';

/** The last row of a page, by what its list is sorted by; what it has depends on the list. */
export type PlaceSchema = z.ZodObject;

/** Epoch milliseconds, before the year 10000. */
export const timeSchema = z
  .int()
  .min(0)
  .lt(Date.UTC(10_000, 0, 1));
const id = z.int().min(1);

/** The place of most lists: a time, then an id. */
export const positionSchema = z.object({ createdAt: timeSchema, id });

/** A decimal that rows are sorted by. */
export const valueSchema = z.string().regex(/^\d{1,30}(\.\d{1,12})?$/);

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
  // Anyone can compute a checksum, so the text may still be no JSON.
  const place = isOfList ? parseJson(Buffer.from(text, 'base64url').toString('utf8')) : undefined;
  const { data, success } = schema.safeParse(place);
  if (success) return data;
  throw wrongPlace();
}

export const wrongPlace = () =>
  new ServiceError('invalid', 'This address continues another list, or one with other filters.');

const checksumOf = (identity: string, text: string) =>
  hash('sha256', `${identity} ${text}`, 'base64url').slice(0, 8);
