import { hash } from 'node:crypto';
import { ServiceError } from '../errors.ts';
import type { Position } from '../store/records/paging.ts';
import type { JsonRows } from '../store/records/json-text.ts';
import { JsonText } from './coalesce.ts';
import { cursorError } from './json-schema.ts';

const checksumBytes = 6;
/** Records are dated before the year 10000. */
const maxCreatedAt = Date.UTC(10_000, 0, 1);

/**
 * Encodes the position of a page's last row (two 64-bit numbers) and a checksum over the position and
 * its listing, in base64url. The checksum catches cursors used with another shop, listing or filter. It
 * need not be secret, because a cursor grants no access.
 * @param listing identifies the listing: shop, operation and filter
 */
export function encodeCursor(listing: string, position: Position): string {
  const bytes = Buffer.allocUnsafe(16);
  bytes.writeBigInt64BE(BigInt(position.createdAt), 0);
  bytes.writeBigInt64BE(BigInt(position.id), 8);
  return Buffer.concat([bytes, checksumOf(listing, bytes)]).toString('base64url');
}

/** @throws ServiceError invalid, for any text that encodeCursor did not return for this listing */
export function decodeCursor(listing: string, cursor: string): Position {
  const bytes = Buffer.from(cursor, 'base64url');
  const place = bytes.subarray(0, 16);
  // Buffer skips invalid base64url, so only encoding it again shows that the text was valid.
  const isValid = bytes.length === 16 + checksumBytes && bytes.toString('base64url') === cursor;
  if (!isValid || !checksumOf(listing, place).equals(bytes.subarray(16))) {
    throw new ServiceError('invalid', cursorError);
  }
  const position = {
    createdAt: Number(place.readBigInt64BE(0)),
    id: Number(place.readBigInt64BE(8)),
  };
  // The checksum is not secret, so an impossible position may still have a correct one.
  const isPossible =
    Number.isSafeInteger(position.id) &&
    position.id > 0 &&
    position.createdAt >= 0 &&
    position.createdAt < maxCreatedAt;
  if (!isPossible) throw new ServiceError('invalid', cursorError);
  return position;
}

function checksumOf(listing: string, place: Buffer): Buffer {
  return hash('sha256', `${listing} ${place.toString('hex')}`, 'buffer').subarray(0, checksumBytes);
}

/**
 * The payload of one page: at most `limit` rows, and the cursor of the next page.
 * @param name the member that holds the rows
 * @param found up to limit + 1 rows; the extra one shows that there is a next page
 * @param idName the member that each row begins with and that, with createdAt, is its position
 */
export function pageOf(
  name: string,
  listing: string,
  found: JsonRows,
  limit: number,
  idName: string,
): JsonText {
  if (found.count <= limit) return pageText(name, found.rows, null);

  // In no text of a row, since quotes are escaped there.
  const beginning = `{"${idName}":`;
  const rows = found.rows.slice(0, found.rows.lastIndexOf(`,${beginning}`));
  const last = rows.slice(rows.lastIndexOf(beginning));
  const { createdAt, [idName]: id } = JSON.parse(last) as Record<string, string | number>;
  const position = { createdAt: Date.parse(String(createdAt)), id: Number(id) };
  return pageText(name, rows, encodeCursor(listing, position));
}

function pageText(name: string, rows: string, nextCursor: string | null): JsonText {
  return new JsonText(`{"${name}":[${rows}],"nextCursor":${JSON.stringify(nextCursor)}}`);
}
