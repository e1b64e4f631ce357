import { constants, gzipSync } from 'node:zlib';
import {
  ndjson,
  pressImport,
  resultOf,
  uploadIdOf,
} from '../../../test/owner/sources/upload-world.ts';
import { line, plan, subscription } from '../../../test/rest/records.ts';
import { type Body, bodiesOf } from '../body.ts';
import type { Place } from '../place.ts';
import { stripeItem, stripeSubscription } from './mapped.ts';
import { arrayOf, filled, kibibyte, mebibyte } from '../texts.ts';

interface Upload {
  readonly name: string;
  readonly content: string | Buffer;
}

/** Uploads a file, looks at its preview, and imports it to its end if it can be. */
async function upload({ owner, shopId }: Place, file: Upload): Promise<number> {
  const page = `/app/shops/${shopId}/sources/file`;
  await owner.get(`${page}/new`);
  const received = await owner.upload(page, file);
  if (received.status !== 303) return received.status;
  const shown = await owner.get(page);
  if (uploadIdOf(shown) === '') return shown.status;
  const answers = /name="as-of"/.test(shown.text) ? { 'as-of': '2026-11-20' } : {};
  await pressImport(owner, page, shown, answers);
  return (await resultOf(owner, page)).status;
}

const csvHead = 'id,customer,plan,status,created,price\n';
const csvRow = (index: number) => `${index + 1_000_000},${index + 1},Box,active,2026-01-05,10.00`;
const table = (bytes: number) =>
  filled(bytes, csvRow, { begin: csvHead, end: '\n', separator: '\n' });
const records = (count: number, customerOf = (index: number) => index + 1) =>
  ndjson([
    plan({ id: 1 }),
    ...Array.from({ length: count }, (_, index) =>
      subscription(index + 100_000, { planId: 1, customerId: customerOf(index) }),
    ),
  ]);
/** Enough for a preview, so that the rest is imported. */
const someRecords = records(500);
const someRows = table(128 * kibibyte);
/** A list of Stripe's, to be continued. */
const someSubscriptions = `{"object":"list","data":[${Array.from({ length: 200 }, (_, index) => `${stripeSubscription(`sub_${index + 1}`, JSON.stringify([stripeItem]))},`).join('')}`;
/** Only so much of a file is looked at before it is imported. */
const pastPreview = ' '.repeat(16 * mebibyte);
const longLine = `{"type":"${'x'.repeat(50 * mebibyte)}"}\n`;

/** A subscription with so many lines, as JSON text. */
const withLines = (count: number, text = JSON.stringify(line)) =>
  `${JSON.stringify({ ...subscription(8_001, { planId: 1 }), lines: undefined }).slice(0, -1)},"lines":[${`${text},`.repeat(count - 1)}${text}]}\n`;
/** A plan with so many product ids, as JSON text. */
const withIds = (count: number) =>
  `${JSON.stringify(plan({ id: 8_002 })).slice(0, -1)},"productIds":[${'1,'.repeat(count - 1)}1]}\n`;
/** As quickly as possible. */
const zipped = (content: string | Buffer) => gzipSync(content, { level: constants.Z_BEST_SPEED });

type Content = string | Buffer;
/** Compressed, as the worst files are small. */
const file = (extension: string, ...parts: readonly Content[]): Upload => ({
  name: `file.${extension}.gz`,
  content: zipped(Buffer.concat(parts.map((part) => Buffer.from(part)))),
});
const listed = (items: string) => stripeSubscription('sub_0', items);

const imported = [200];
const unusable = [200, 400, 413, 422];

export const uploadBodies: readonly Body[] = bodiesOf<Upload>('upload', upload, [
  ['100,000 records', imported, () => ({ name: 'records.ndjson', content: records(100_000) })],
  // What is known of a customer is worked out again whenever a subscription of theirs changes.
  [
    '20,000 records of one customer',
    imported,
    () => ({ name: 'records.ndjson', content: records(20_000, () => 1) }),
  ],
  ['a table', imported, () => ({ name: 'table.csv', content: table(mebibyte) })],
  [
    'a record of 250 lines, again and again',
    imported,
    () => file('ndjson', records(1), withLines(250).repeat(300)),
  ],
  // The next ones begin as they should, so that the rest is imported.
  [
    'a record of 1.3 million numbers as lines',
    unusable,
    () => file('ndjson', someRecords, withLines(1_300_000, '1')),
  ],
  [
    'a record of 1.3 million empty lines',
    unusable,
    () => file('ndjson', someRecords, withLines(1_300_000, '{}')),
  ],
  [
    'a record of 1.3 million product ids',
    unusable,
    () => file('ndjson', someRecords, withIds(1_300_000)),
  ],
  [
    'a subscription of 1.3 million empty items',
    unusable,
    () => file('json', someSubscriptions, pastPreview, listed(arrayOf(3_900_000, '{}')), ']}'),
  ],
  [
    'a subscription of 1.3 million numbers as items',
    unusable,
    () => file('json', someSubscriptions, pastPreview, listed(arrayOf(2_600_000, '1')), ']}'),
  ],
  ['64 MiB of zeros', unusable, () => file('ndjson', someRecords, Buffer.alloc(64 * mebibyte))],
  [
    '4 MiB of line breaks',
    unusable,
    () => file('ndjson', someRecords, Buffer.alloc(4 * mebibyte, '\n')),
  ],
  ['lines of x', unusable, () => file('ndjson', someRecords, 'x\n'.repeat(200_000))],
  ['lines of {}', unusable, () => file('ndjson', someRecords, '{}\n'.repeat(200_000))],
  ['a line of 50 MB', unusable, () => file('ndjson', someRecords, longLine)],
  [
    'a line of 4 MB of brackets',
    unusable,
    () => file('ndjson', someRecords, '['.repeat(4_000_000)),
  ],
  [
    'an array of records, and 200,000 empty objects',
    unusable,
    () =>
      file(
        'json',
        `[${someRecords.trim().replaceAll('\n', ',')},`,
        arrayOf(600_000, '{}').slice(1),
      ),
  ],
  [
    'an unclosed quote',
    unusable,
    () => file('csv', someRows, `1,"${'a,b\n'.repeat(4 * mebibyte)}`),
  ],
  ['a row of a million cells', unusable, () => file('csv', someRows, '1,'.repeat(1_000_000))],
  ['empty rows', unusable, () => file('csv', someRows, '\n'.repeat(1_000_000))],
  // These are refused by their beginning.
  ['1 GiB of zeros', unusable, () => file('csv', Buffer.alloc(1024 * mebibyte))],
  ['a first line of 50 MB', unusable, () => file('ndjson', longLine)],
  ['quotes', unusable, () => file('csv', '"'.repeat(4 * mebibyte))],
  [
    'a million columns',
    unusable,
    () =>
      file(
        'csv',
        filled(8 * mebibyte, (n) => `c${n}`, { separator: ',' }),
        '\n1,2\n',
      ),
  ],
  ['an array of a million numbers', unusable, () => file('json', arrayOf(2 * mebibyte, '1'))],
  [
    'an array of a million empty objects',
    unusable,
    () => file('json', arrayOf(3 * mebibyte, '{}')),
  ],
  ['nested arrays', unusable, () => file('json', '['.repeat(4 * mebibyte))],
  ['binary', unusable, () => file('csv', Buffer.alloc(8 * mebibyte, 7))],
]);
