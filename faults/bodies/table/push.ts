import { createHmac, randomUUID } from 'node:crypto';
import { plan, line, subscription } from '../../../test/rest/records.ts';
import { finished } from '../../../test/push/world.ts';
import { type Body, bodiesOf, cut } from '../body.ts';
import type { Place } from '../place.ts';
import { type HttpRequest, sendHttp } from '../send.ts';
import { arrayOf, filled, mebibyte, nested } from '../texts.ts';

export interface Push {
  readonly body: string | Buffer;
  /** Below the source's address. */
  readonly path?: string;
}

/** By the scheme of Standard Webhooks, which its library applies to texts only. */
function sign(secret: string, body: string | Buffer): string[] {
  const id = randomUUID();
  const at = Math.floor(Date.now() / 1000);
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${at}.`).update(body).digest('base64');
  return [
    'webhook-id',
    id,
    'webhook-timestamp',
    String(at),
    'webhook-signature',
    `v1,${signature}`,
  ];
}

/** Sends a signed body, and waits until its records are imported. */
export async function push(place: Place, { body, path = 'records' }: Push): Promise<number> {
  const { baseUrl, source } = place;
  const { status, text } = await sendHttp(baseUrl, {
    path: `/ingest/v1/${source.sourceId}/${path}`,
    method: 'POST',
    headers: sign(source.secret, body),
    body,
  });
  if (status === 202) await finished(baseUrl, source, JSON.parse(text).batchId);
  return status;
}

async function pushUnsigned({ baseUrl }: Place, request: HttpRequest): Promise<number> {
  return (await sendHttp(baseUrl, { method: 'POST', ...request })).status;
}

/** A body of these lines. */
export const lines = (part: string | ((index: number) => string)) => ({
  body: filled(mebibyte, part, { separator: '\n' }),
});
const manyLines = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ ...line, lineId: index + 1 }));
/** A record with a list that is as long as it may be in 1 MiB. */
const withList = (record: object, name: string, part: string | ((index: number) => string)) => {
  const text = JSON.stringify(record);
  const begin = `${text.slice(0, -1)},"${name}":[`;
  return { body: filled(mebibyte, part, { begin, end: ']}', separator: ',' }) };
};
const withoutLines = { ...subscription(9_001), lines: undefined };
const event = '{"at":"2026-11-01T00:00:00Z","to":"active"}';

export const refused = [400, 413, 422];
/** The whole request, or its record later. */
export const either = [202, ...refused];

const signed: readonly Body[] = bodiesOf<Push>('push', push, [
  ['lines of x', refused, () => ({ body: 'x\n'.repeat(mebibyte / 2) })],
  ['lines of {', refused, () => ({ body: '{\n'.repeat(mebibyte / 2) })],
  ['lines of {}', refused, () => lines('{}')],
  ['lines of "', refused, () => lines('"')],
  ['empty lines', refused, () => ({ body: '\n'.repeat(mebibyte) })],
  ['empty lines after a record', either, () => ({ body: `{}${'\n'.repeat(mebibyte - 2)}` })],
  ['spaces', refused, () => ({ body: ' '.repeat(mebibyte) })],
  ['an array of numbers', refused, () => ({ body: arrayOf(mebibyte, '1') })],
  ['an array of empty objects', refused, () => ({ body: arrayOf(mebibyte, '{}') })],
  ['an array of 1,000 empty objects', either, () => ({ body: arrayOf(3_000, '{}') })],
  ['nested arrays', either, () => ({ body: nested(mebibyte, '[', ']') })],
  ['opening brackets', refused, () => ({ body: nested(mebibyte, '[') })],
  ['opening braces', either, () => ({ body: nested(mebibyte, '{"a":') })],
  [
    'an error at the end',
    refused,
    () => ({ body: filled(mebibyte, '{}', { begin: '[', separator: ',' }) }),
  ],
  ['bytes that are not UTF-8', refused, () => ({ body: Buffer.alloc(mebibyte, 0xff) })],
  ['one line of 1 MiB', either, () => ({ body: 'x'.repeat(mebibyte) })],
  [
    'a record of unknown fields',
    either,
    () => ({
      body: filled(mebibyte, (n) => `"a${n}":1`, { begin: '{', end: '}', separator: ',' }),
    }),
  ],
  [
    '1,000 small records',
    [202],
    () => ({
      body: Array.from({ length: 1000 }, (_, index) =>
        JSON.stringify(plan({ id: index + 1 })),
      ).join('\n'),
    }),
  ],
  [
    'records of 250 lines, as many as fit',
    [202],
    () => lines((n) => JSON.stringify(subscription(n + 10_000, { lines: manyLines(250) }))),
  ],
  [
    'records of 250 lines in an array',
    [202],
    () => ({
      body: arrayOf(mebibyte, (n) =>
        JSON.stringify(subscription(n + 10_000, { lines: manyLines(250) })),
      ),
    }),
  ],
  [
    'a record of thousands of lines',
    either,
    () => withList(withoutLines, 'lines', JSON.stringify(line)),
  ],
  ['a record of empty lines', either, () => withList(withoutLines, 'lines', '{}')],
  [
    'tens of thousands of status events',
    either,
    () => withList(subscription(9_002), 'statusEvents', event),
  ],
  ['empty status events', either, () => withList(subscription(9_003), 'statusEvents', '{}')],
  [
    '100,000 product ids',
    either,
    () => withList(plan({ id: 9_004 }), 'productIds', (n) => String(n + 1)),
  ],
  [
    '100,000 texts as product ids',
    either,
    () => withList(plan({ id: 9_005 }), 'productIds', (n) => `"p${n}"`),
  ],
  [
    '500,000 nulls as product ids',
    either,
    () => withList(plan({ id: 9_006 }), 'productIds', 'null'),
  ],
  [
    'a name of 1 MiB',
    either,
    () => ({ body: JSON.stringify(plan({ name: 'x'.repeat(mebibyte - 200) })) }),
  ],
  [
    'an id of 1 MiB',
    either,
    () => ({ body: JSON.stringify(plan({ id: 'x'.repeat(mebibyte - 200) })) }),
  ],
  [
    'a name like e-mail addresses',
    either,
    () => ({ body: JSON.stringify(plan({ name: 'a.'.repeat(mebibyte / 2 - 100) })) }),
  ],
  [
    'a name of at signs',
    either,
    () => ({ body: JSON.stringify(plan({ name: 'a@'.repeat(mebibyte / 2 - 100) })) }),
  ],
  [
    'an amount of 1 MiB',
    either,
    () => ({
      body: JSON.stringify({
        type: 'refund',
        id: 1,
        paymentId: 1,
        amount: '9'.repeat(mebibyte - 200),
        refundedAt: '2026-11-01T00:00:00Z',
      }),
    }),
  ],
  [
    'a time of 1 MiB',
    either,
    () => ({
      body: JSON.stringify({
        type: 'refund',
        id: 1,
        paymentId: 1,
        amount: '1',
        refundedAt: '2026-11-01T00:00:00.'.padEnd(mebibyte - 200, '0'),
      }),
    }),
  ],
]);

const unsigned: readonly Body[] = bodiesOf<HttpRequest>('push', pushUnsigned, [
  [
    'a wrong signature on 1 MiB',
    [401],
    ({ source }) => ({
      path: `/ingest/v1/${source.sourceId}/records`,
      headers: sign('whsec_AAAA', 'x'),
      body: '{}\n'.repeat(mebibyte / 3),
    }),
  ],
  [
    'chunks of one byte for an unknown source',
    [401, 413, 429, cut],
    () => ({
      path: '/ingest/v1/src_0000000000000000000000/records',
      headers: sign('whsec_AAAA', 'x'),
      body: Array<string>(32_704).fill('x'),
    }),
  ],
  [
    'chunks of one byte with a wrong signature',
    [401, 413, 429, cut],
    ({ source }) => ({
      path: `/ingest/v1/${source.sourceId}/records`,
      headers: sign('whsec_AAAA', 'x'),
      body: Array<string>(32_704).fill('x'),
    }),
  ],
]);

export const pushBodies: readonly Body[] = [...signed, ...unsigned];
