import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedClock } from '../../../src/clock.ts';
import { readAmount } from '../../../src/mapping/amounts.ts';
import { needsAsOf, parseAsOf, withoutComments, parseMapping } from '../../../src/mapping/read.ts';
import { toUtf8 } from '../../../src/mapping/encoding.ts';
import { createFieldReader } from '../../../src/mapping/field-reader.ts';
import { jsonValues } from '../../../src/mapping/rows.ts';
import { createTimeReader } from '../../../src/mapping/times.ts';
import { subscriptions } from './mapped.ts';

const show = (reading: object) => Object.values(reading)[0] as unknown;
const asOf = Date.parse('2026-03-31T06:00:00Z');
const before = (time: string, text: string) => show(createTimeReader({ time, asOf })(text));

test('reads times that count back from the date of the export', () => {
  assert.equal(before('months-ago', '0'), '2026-03-31T06:00:00.000Z');
  // February has no 31st.
  assert.equal(before('months-ago', '1'), '2026-02-28T06:00:00.000Z');
  assert.equal(before('months-ago', '13'), '2025-02-28T06:00:00.000Z');
  assert.equal(before('months-ago', '12.0'), '2025-03-31T06:00:00.000Z');
  assert.equal(before('years-ago', '2'), '2024-03-31T06:00:00.000Z');
  assert.equal(before('weeks-ago', '1'), '2026-03-24T06:00:00.000Z');
  assert.equal(before('days-ago', '1.5'), '2026-03-29T18:00:00.000Z');
  const must = 'must be a number of months before the date of the export';
  for (const text of ['-1', 'new', '1e3', '', '1,5']) {
    assert.equal(before('months-ago', text), must, text);
  }
  assert.equal(before('years-ago', '99999'), 'must lie in the years 1970 to 9999');
  assert.equal(
    show(createTimeReader({ time: 'days-ago' })('1')),
    'needs the date of the export (--as-of)',
  );
});

test('parses the date of the export, and refuses what is none or in the future', () => {
  const clock = new FixedClock('2026-11-20T12:00:00Z');
  const at = (text: string) => new Date(parseAsOf(text, clock)).toISOString();
  assert.equal(at('2026-11-01'), '2026-11-01T00:00:00.000Z');
  assert.equal(at('2026-11-01T06:00+02:00'), '2026-11-01T04:00:00.000Z');
  const wrong = ['2026-02-30', '2026-02-30T06:00:00Z', '0000-01-01', '1 November', '2026-11'];
  for (const text of [...wrong, '2026-11-01T06:00:00', '']) {
    assert.throws(() => at(text), {
      name: 'UsageError',
      message: /^--as-of must be a date such as/,
    });
  }
  assert.throws(() => at('2026-11-21'), { message: /2026-11-21 is in the future/ });
});

test('says whether a mapping needs the date of the export', () => {
  const needs = (fields: object, formats = {}) => {
    const mapping = { ...subscriptions({}, fields), formats };
    return needsAsOf(parseMapping('m.json', JSON.stringify(mapping)));
  };
  assert.equal(needs({ createdAt: { column: 'tenure', time: 'months-ago' } }), true);
  assert.equal(needs({}, { time: 'days-ago' }), true);
  assert.equal(needs({ planId: { column: 'time', ids: 'text', table: { time: 3 } } }), false);
});

test('reads years of two digits, and months by name', () => {
  const time = (format: string, text: string) =>
    show(createTimeReader({ time: format, timeZone: 'UTC' })(text));
  assert.equal(time('DD-MM-YY', '15-01-22'), '2022-01-15T00:00:00.000Z');
  assert.equal(time('M/D/YY', '1/5/99'), '1999-01-05T00:00:00.000Z');
  assert.equal(time('MMM D, YYYY', 'Sept 5, 2026'), '2026-09-05T00:00:00.000Z');
  assert.equal(time('D-MMM-YY', '5-january-26'), '2026-01-05T00:00:00.000Z');
  assert.equal(time('D MMM YYYY', '5 Brumaire 2026'), 'must be a time written as D MMM YYYY');
});

test('rounds amounts half away from zero if the mapping says so', () => {
  const round = (text: string, digits = 2) => show(readAmount(text, { round: true }, digits));
  assert.equal(round('11.0552149'), '11.06');
  assert.equal(round('11.055'), '11.06');
  assert.equal(round('11.0549999'), '11.05');
  assert.equal(round('99.999'), '100.00');
  assert.equal(round('0.5', 0), '1');
  assert.equal(round('12'), '12.00');
});

test('reads amounts below 0 as 0 only if the mapping says so', () => {
  const read = (text: string, format = {}) => show(readAmount(text, format, 2));
  assert.equal(read('-4'), 'must be an amount such as 1234.50');
  assert.equal(read('-4', { negatives: 'zero' }), '0.00');
  assert.equal(read('-$4.567', { negatives: 'zero', signs: ['$'] }), '0.00');
  assert.equal(read('$-4', { negatives: 'zero', signs: ['$'] }), '0.00');
  assert.equal(read('4', { negatives: 'zero' }), '4.00');
  assert.equal(read('-x', { negatives: 'zero' }), 'must be an amount such as 1234.50');
  assert.equal(read('--4', { negatives: 'zero' }), 'must be an amount such as 1234.50');
});

test('reads texts that stand for an empty value as empty', () => {
  const field = { kind: 'time', required: false } as const;
  const formats = { blank: ['NULL', 'n/a'] };
  const clock = new FixedClock('2026-11-20T12:00:00Z');
  const read = createFieldReader(
    field,
    { column: 'ended' },
    { formats, currency: 'USD', minorDigits: 2, customerKey: '', clock },
  );
  const ended = (text: string) => show(read(jsonValues({ ended: text })));
  assert.equal(ended('NULL'), undefined);
  assert.equal(ended(' n/a '), undefined);
  assert.equal(ended('null'), 'column ended: "null" must be a time in ISO 8601');
});

test('accepts comments and trailing commas in mapping files', () => {
  const text = JSON.stringify(subscriptions({}, { id: '// id, ]' }), null, 2);
  const commented = text
    .replaceAll(/([}\]"])(?=\n\s*[}\]])/g, '$1,')
    .replaceAll('\n', ' // a "comment", ]\n');
  assert.notEqual(commented, text);
  assert.deepEqual(JSON.parse(withoutComments(commented)), JSON.parse(text));
  assert.equal(withoutComments(commented).length, commented.length);
  const [record] = parseMapping('m.json', commented).records;
  assert.deepEqual(record?.fields['id'], { column: '// id, ]' });
});

test('passes a string without an end once, however many quotes it has', () => {
  const text = `"${'\\"'.repeat(100_000)}`;
  assert.equal(withoutComments(text), text);
  // Read again from each of its quotes, it would have a comment, and a comma before a bracket.
  for (const part of ['"a // b', '"a,]']) assert.equal(withoutComments(part), part);
});

test('refuses commas that are wrong in any JSON', () => {
  for (const text of ['[1,,]', '{"a":1,,}']) {
    assert.throws(() => JSON.parse(withoutComments(text)), SyntaxError, text);
  }
});

test('converts UTF-16 and Latin-1 to UTF-8, in chunks of any size', async () => {
  const text = 'Übergröße;1,50 €\r\n“é”\n';
  const swapped = Buffer.from(`\uFEFF${text}`, 'utf16le').swap16();
  const latin = Buffer.from(text.replaceAll(/[€“”]/g, '?'), 'latin1');
  latin[latin.indexOf('?')] = 0x80;
  const cases = [
    ['utf-16', Buffer.from(`\uFEFF${text}`, 'utf16le'), text],
    ['utf-16', Buffer.from(text, 'utf16le'), text],
    ['utf-16', swapped, text],
    ['latin-1', latin, text.replaceAll(/[“”]/g, '?')],
    ['utf-8', Buffer.from(text), text],
  ] as const;
  for (const [encoding, bytes, expected] of cases) {
    for (const size of [1, 3, 1000]) {
      const found: Buffer[] = [];
      for await (const part of toUtf8(pieces(bytes, size), encoding)) found.push(part);
      assert.equal(Buffer.concat(found).toString('utf8'), expected);
    }
  }
});

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
