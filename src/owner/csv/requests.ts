import type { Readable } from 'node:stream';
import type { Answer } from '../../http/answer.ts';
import type { KeyListing } from '../../store/keys/keys.ts';
import type { LoggedRequest } from '../../store/keys/request-log.ts';
import type { Shop } from '../../store/shops.ts';
import { type Cell, csvFile } from './csv.ts';

const heads = [
  'Time (UTC)',
  'Request ID',
  'Key',
  'Via',
  'Operation',
  'Status',
  'Milliseconds',
  'Missing before',
];

/** @param now epoch milliseconds */
export function requestsFile(
  shop: Shop,
  now: number,
  keys: readonly KeyListing[],
  requests: readonly LoggedRequest[],
): Answer<Readable> {
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  async function* rows(): AsyncGenerator<Cell[][]> {
    yield requests.map(
      ({ at, requestId, keyId, transport, operation, status, microseconds, dropped }): Cell[] => [
        at.toISOString(),
        requestId,
        names.get(keyId) ?? keyId,
        transport,
        operation,
        status,
        microseconds / 1000,
        dropped,
      ],
    );
  }
  return csvFile({ shop, noun: 'requests', now, heads, rows: rows() });
}
