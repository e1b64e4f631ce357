import { hash } from 'node:crypto';
import { ServiceError } from '../errors.ts';
import type { Position } from '../store/records/subscriptions.ts';
import { type JsonLines, jsonArrayOf } from '../store/records/json-text.ts';
import { JsonText } from './json-text.ts';
import { cursorError } from './parameters.ts';

const seal = 6;
/** No record is dated in the year 10000 or later. */
const endOfTime = Date.UTC(10_000, 0, 1);

/**
 * A cursor is the last row's place in the order (two 64-bit numbers) and a seal over it and over the
 * listing it belongs to, in base64url. The seal keeps a cursor from being used with another shop,
 * listing or filter; it is no secret, since a cursor opens nothing that its holder could not read.
 * @param listing names the listing: shop, operation and filter
 */
export function encodeCursor(listing: string, position: Position): string {
  const bytes = Buffer.allocUnsafe(16);
  bytes.writeBigInt64BE(BigInt(position.createdAt), 0);
  bytes.writeBigInt64BE(BigInt(position.id), 8);
  return Buffer.concat([bytes, sealOf(listing, bytes)]).toString('base64url');
}

/** @throws ServiceError invalid, for any text that encodeCursor did not make for this listing */
export function decodeCursor(listing: string, cursor: string): Position {
  const bytes = Buffer.from(cursor, 'base64url');
  const place = bytes.subarray(0, 16);
  // Decoding skips what is not base64url, so only the way back shows that the text was whole.
  const isWhole = bytes.length === 16 + seal && bytes.toString('base64url') === cursor;
  if (!isWhole || !sealOf(listing, place).equals(bytes.subarray(16))) {
    throw new ServiceError('invalid', cursorError);
  }
  const position = {
    createdAt: Number(place.readBigInt64BE(0)),
    id: Number(place.readBigInt64BE(8)),
  };
  // The seal is no secret: a place that no row can have may still come with a right one.
  const isPossible =
    Number.isSafeInteger(position.id) &&
    position.id > 0 &&
    position.createdAt >= 0 &&
    position.createdAt < endOfTime;
  if (!isPossible) throw new ServiceError('invalid', cursorError);
  return position;
}

function sealOf(listing: string, place: Buffer): Buffer {
  return hash('sha256', `${listing} ${place.toString('hex')}`, 'buffer').subarray(0, seal);
}

/**
 * A page of a listing as its payload: `limit` rows, and where the next page begins.
 * @param name the member that holds the rows
 * @param found up to limit + 1 rows: one more than shown tells whether there is a next page
 * @param idName the member of a row that, with createdAt, is its place in the order
 */
export function pageOf(
  name: string,
  listing: string,
  found: JsonLines,
  limit: number,
  idName: string,
): JsonText {
  if (found.count <= limit) return pageText(name, found.lines, null);

  const lines = found.lines.slice(0, found.lines.lastIndexOf('\n'));
  const last = lines.slice(lines.lastIndexOf('\n') + 1);
  const { createdAt, [idName]: id } = JSON.parse(last) as Record<string, string | number>;
  const position = { createdAt: Date.parse(String(createdAt)), id: Number(id) };
  return pageText(name, lines, encodeCursor(listing, position));
}

function pageText(name: string, lines: string, nextCursor: string | null): JsonText {
  const cursor = JSON.stringify(nextCursor);
  return new JsonText(`{"${name}":${jsonArrayOf(lines)},"nextCursor":${cursor}}`);
}
