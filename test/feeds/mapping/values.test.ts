import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { type AmountFormat, readAmount } from '../../../src/mapping/amounts.ts';
import { jsonRow } from '../../../src/mapping/rows.ts';
import { createTimeReader } from '../../../src/mapping/times.ts';
import { createReader } from '../../../src/mapping/values.ts';
import { runs } from '../../support/seed.ts';

const show = (reading: object) => Object.values(reading)[0] as unknown;
const time = (format: string, timeZone: string | undefined, text: string) =>
  show(createTimeReader({ time: format, timeZone })(text));
const amount = (text: string, format: AmountFormat = {}, digits = 2) =>
  show(readAmount(text, format, digits));

test('reads times in the formats of common exports', () => {
  const expected = '2026-11-05T11:00:02.000Z';
  assert.deepEqual(
    [
      time('iso', undefined, '2026-11-05T11:00:02Z'),
      time('iso', undefined, '2026-11-05 12:00:02 +0100'),
      time('iso', 'Europe/Berlin', '2026-11-05T11:00:02+00:00'),
      time('iso', 'Europe/Berlin', '2026-11-05 12:00:02'),
      time('iso', undefined, '2026-11-05 11:00:02 UTC'),
      time('YYYY-MM-DD HH:mm:ss', 'America/New_York', '2026-11-05 06:00:02'),
      time('M/D/YYYY h:mm:ss A', 'UTC', '11/5/2026 11:00:02 am'),
      time('DD.MM.YYYY, HH:mm:ss', 'Asia/Kolkata', '05.11.2026, 16:30:02'),
      time('unix-seconds', undefined, '1793876402'),
      time('unix-milliseconds', undefined, '1793876402000'),
    ],
    Array.from({ length: 10 }, () => expected),
  );
  assert.equal(time('iso', 'UTC', '2026-11-05'), '2026-11-05T00:00:00.000Z');
  assert.equal(time('MM/DD/YYYY', 'America/New_York', '11/05/2026'), '2026-11-05T05:00:00.000Z');
  assert.equal(time('MM/DD/YYYY h A', 'UTC', '11/05/2026 12 AM'), '2026-11-05T00:00:00.000Z');
  assert.equal(time('MM/DD/YYYY h A', 'UTC', '11/05/2026 12 PM'), '2026-11-05T12:00:00.000Z');
  assert.equal(time('iso', undefined, '2026-11-05T11:00:02.1239Z'), '2026-11-05T11:00:02.123Z');
});

test('reads weeks and months of ISO 8601 as their first day, and days as Excel counts them', () => {
  const day = (format: string, text: string, zone = 'UTC') => time(format, zone, text);
  for (const [text, expected] of [
    ['2026-W01', '2025-12-29'],
    ['2026-W45-7', '2026-11-08'],
    ['2020W53', '2020-12-28'],
    ['2026-02', '2026-02-01'],
  ] as const) {
    assert.equal(day('iso', text), `${expected}T00:00:00.000Z`);
  }
  for (const text of ['2026-W54', '2025-W53', '2026-W00', '2026-13', '2026-W01-8']) {
    assert.equal(day('iso', text), 'must be a time in ISO 8601', text);
  }
  assert.equal(day('excel', '45231'), '2023-11-01T00:00:00.000Z');
  assert.equal(day('excel', '45231.520833', 'Europe/Berlin'), '2023-11-01T11:30:00.000Z');
  assert.equal(day('excel', '61,5'), 'must lie in the years 1970 to 9999');
  assert.equal(day('excel', '2023-11-01'), 'must be a time written as excel');
});

test('says for an invalid time what would be right', () => {
  assert.equal(time('iso', undefined, '2026-11-05'), 'has no offset; give the mapping a timeZone');
  assert.equal(time('iso', 'UTC', '11/05/2026'), 'must be a time in ISO 8601');
  assert.equal(time('iso', 'UTC', '2026-02-30'), 'must be a time in ISO 8601');
  assert.equal(time('iso', 'UTC', '2026-02-03T24:00:00Z'), 'must be a time in ISO 8601');
  assert.equal(time('MM/DD/YYYY', 'UTC', '13/05/2026'), 'must be a time written as MM/DD/YYYY');
  assert.equal(time('MM/DD/YYYY', 'UTC', '1/5/2026'), 'must be a time written as MM/DD/YYYY');
  assert.equal(
    time('D/M/YYYY h A', 'UTC', '1/5/2026 0 AM'),
    'must be a time written as D/M/YYYY h A',
  );
  assert.equal(time('unix-seconds', undefined, '1e9'), 'must be a time written as unix-seconds');
  assert.equal(
    time('iso', undefined, '1969-12-31T23:59:59Z'),
    'must lie in the years 1970 to 9999',
  );
  assert.equal(
    time('unix-milliseconds', undefined, '999999999999999'),
    'must lie in the years 1970 to 9999',
  );
});

test('shifts a skipped local time forward, and takes the first of a repeated one', () => {
  // New York goes from 02:00 to 03:00 on 8 March 2026, and from 02:00 to 01:00 on 1 November.
  const newYork = (text: string) => time('YYYY-MM-DD HH:mm', 'America/New_York', text);
  assert.equal(newYork('2026-03-08 01:59'), '2026-03-08T06:59:00.000Z');
  assert.equal(newYork('2026-03-08 02:30'), '2026-03-08T07:30:00.000Z');
  assert.equal(newYork('2026-03-08 03:30'), '2026-03-08T07:30:00.000Z');
  assert.equal(newYork('2026-11-01 01:30'), '2026-11-01T05:30:00.000Z');
  assert.equal(newYork('2026-11-01 02:00'), '2026-11-01T07:00:00.000Z');
});

test('reads back a time written in any zone', () => {
  const zones = ['UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Kolkata', 'Pacific/Auckland'];
  const instants = fc.integer({ min: 0, max: 4_000_000_000 });
  fc.assert(
    fc.property(instants, fc.constantFrom(...zones), (seconds, zone) => {
      const there = Temporal.Instant.fromEpochMilliseconds(seconds * 1000).toZonedDateTimeISO(zone);
      const local = there.toPlainDateTime();
      // The second of two equal local times is read as the first.
      fc.pre(local.toZonedDateTime(zone, { disambiguation: 'earlier' }).equals(there));
      const two = (number: number) => String(number).padStart(2, '0');
      const clock = `${two(local.hour)}:${two(local.minute)}:${two(local.second)}`;
      const expected = new Date(seconds * 1000).toISOString();
      const american = `${two(local.month)}/${two(local.day)}/${local.year} ${clock}`;
      const half = local.hour < 12 ? 'AM' : 'PM';
      const twelve = `${local.day}.${local.month}.${local.year} ${local.hour % 12 || 12}:${two(local.minute)}:${two(local.second)} ${half}`;
      assert.equal(time('MM/DD/YYYY HH:mm:ss', zone, american), expected);
      assert.equal(time('D.M.YYYY h:mm:ss A', zone, twelve), expected);
      assert.equal(time('iso', zone, local.toString()), expected);
      assert.equal(time('iso', undefined, there.toString({ timeZoneName: 'never' })), expected);
      assert.equal(time('unix-seconds', undefined, String(seconds)), expected);
    }),
    runs(100),
  );
});

test('reads amounts in the formats of common exports', () => {
  const german: AmountFormat = { decimal: ',', thousands: '.', signs: ['€', 'EUR'] };
  assert.equal(amount('1.234,50 €', german), '1234.50');
  assert.equal(amount('EUR 0,5', german), '0.50');
  assert.equal(amount('1234,5', german), '1234.50');
  assert.equal(amount('$1,234,567.8', { thousands: ',', signs: ['$'] }), '1234567.80');
  assert.equal(amount('1\u202f234,50', { decimal: ',', thousands: ' ' }), '1234.50');
  assert.equal(amount('1530', { minorUnits: true }), '15.30');
  assert.equal(amount('5', { minorUnits: true }), '0.05');
  assert.equal(amount('3060', { minorUnits: true }, 0), '3060');
  assert.equal(amount('30600', { minorUnits: true }, 3), '30.600');
  assert.equal(amount('10.0000'), '10.00');
  assert.equal(amount('0007'), '7.00');
  assert.equal(amount('3060', {}, 0), '3060');
});

test('says for an invalid amount what would be right', () => {
  const must = 'must be an amount such as 1234.50';
  const tooManyDecimals =
    'has more decimals than the shop\'s currency, which has 2; "round": true rounds them';
  for (const text of ['-1.00', '1,5', '1e3', '12.', '.5', '1 000', '$5', 'free']) {
    assert.equal(amount(text), must);
  }
  assert.equal(
    amount('15.30', { decimal: ',', thousands: '.' }),
    'must be an amount such as 1.234,50',
  );
  assert.equal(amount('1,23', { thousands: ',' }), 'must be an amount such as 1,234.50');
  assert.equal(
    amount('15.30', { minorUnits: true }),
    'must be an amount such as 123400 (in the smallest unit)',
  );
  assert.equal(amount('1.005'), tooManyDecimals);
  assert.equal(amount('1000000000000'), 'must be below 10^12');
});

test('reads back an amount written in any format, to the last digit', () => {
  const formats = fc.constantFrom<AmountFormat>(
    { decimal: '.', thousands: ',' },
    { decimal: ',', thousands: '.' },
    { decimal: ',', thousands: ' ' },
    { decimal: '.', thousands: "'" },
    { decimal: ',' },
  );
  const units = fc.bigInt({ min: 0n, max: 99_999_999_999_999n });
  fc.assert(
    fc.property(units, fc.constantFrom(0, 2, 3), formats, (minor, digits, format) => {
      const padded = minor.toString().padStart(digits + 1, '0');
      const whole = padded.slice(0, padded.length - digits);
      fc.pre(whole.length <= 12);
      const fraction = padded.slice(padded.length - digits);
      const expected = digits === 0 ? whole : `${whole}.${fraction}`;
      const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, format.thousands ?? '');
      const written = digits === 0 ? grouped : `${grouped}${format.decimal}${fraction}`;
      assert.equal(amount(written, format, digits), expected);
      assert.equal(amount(`US$ ${written}`, { ...format, signs: ['$', 'US$'] }, digits), expected);
      assert.equal(amount(minor.toString(), { minorUnits: true }, digits), expected);
    }),
    runs(100),
  );
});

test('reads intervals from one column or two', () => {
  const interval = (text: string) => [
    show(createReader({ kind: 'intervalCount' }, {})(text, 2)),
    show(createReader({ kind: 'intervalUnit' }, {})(text, 2)),
  ];
  assert.deepEqual(interval('MONTH'), [1, 'month']);
  assert.deepEqual(interval('30 days'), [30, 'day']);
  assert.deepEqual(interval('Every 2 weeks'), [2, 'week']);
  assert.deepEqual(interval('quarterly'), [3, 'month']);
  assert.deepEqual(interval('annual'), [1, 'year']);
  const must = 'must be an interval such as month, "30 days" or quarterly';
  assert.deepEqual(interval('fortnightly'), [must, must]);
  for (const text of ['0 days', 'constructor', '__proto__', 'toString']) {
    assert.deepEqual(interval(text), [must, must], text);
  }
  assert.equal(interval('2')[0], 2);
  assert.equal(interval('1001')[0], 'must be an integer from 1 to 1000');
});

test('reads booleans', () => {
  const boolean = (text: string) => show(createReader({ kind: 'boolean' }, {})(text, 2));
  assert.deepEqual(['true', 'Yes', '1', 'FALSE', 'no', '0'].map(boolean), [
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
  for (const text of ['maybe', 'constructor', '__proto__', 'toString']) {
    assert.equal(boolean(text), 'must be true or false, yes or no, 1 or 0', text);
  }
});

test('keeps numeric ids, and derives numbers from text ids', () => {
  const id = (ids: 'number' | 'text', text: string) =>
    show(createReader({ kind: 'id', of: 'subscription' }, { ids })(text, 2));
  assert.equal(id('number', '9007199254740991'), 9_007_199_254_740_991);
  const must = 'must be an integer from 1 to 9007199254740991';
  for (const text of ['0', '9007199254740993', 'sub_1', '1.0', '-1']) {
    assert.equal(id('number', text), must);
  }
  // 2^52 + 0xc1bb0b56d3ded: the first 13 digits of the SHA-256 of "subscription:sub_1NxA".
  assert.equal(id('text', 'sub_1NxA'), 7_911_745_119_927_789);
});

test('keeps all digits of numbers in JSON rows', () => {
  for (const number of ['12345678901.12345678', '9007199254740993', '1.0000000000000000001']) {
    const row = jsonRow(1, `{"a":{"b":${number}}}`);
    assert.equal('values' in row && row.values.get('a.b'), number);
  }
});

test('refuses the sign of another currency, and takes one that several currencies share', () => {
  const signs = ['$', 'US$', 'USD', 'R$', '€', 'kr', 'net'];
  const read = (text: string, currency: string) =>
    show(readAmount(text, { signs, negatives: 'zero' }, 2, currency));
  assert.equal(read('USD 9.99', 'EUR'), "is in USD, not in the shop's currency, EUR");
  assert.equal(read('-R$ 9.99', 'EUR'), "is in R$, not in the shop's currency, EUR");
  assert.equal(read('$9.99', 'EUR'), "is in $, not in the shop's currency, EUR");
  assert.equal(read('US$9.99', 'CAD'), "is in US$, not in the shop's currency, CAD");
  assert.equal(read('9.99 kr', 'EUR'), "is in kr, not in the shop's currency, EUR");
  assert.equal(read('$9.99', 'CAD'), '9.99');
  assert.equal(read('US$9.99', 'USD'), '9.99');
  assert.equal(read('$9.99 USD', 'USD'), '9.99');
  assert.equal(read('9.99 €', 'EUR'), '9.99');
  for (const currency of ['SEK', 'NOK', 'DKK']) assert.equal(read('9.99 kr', currency), '9.99');
  assert.equal(read('net 9.99', 'EUR'), '9.99');
});

test('takes codes of failures, and leaves out other text', () => {
  const code = (text: string) => show(createReader({ kind: 'code' }, {})(text, 2));
  assert.deepEqual(['card_declined', '2001', 'R-01.b'].map(code), [
    'card_declined',
    '2001',
    'R-01.b',
  ]);
  for (const other of ['The card was declined', 'do not honor', 'é', 'x'.repeat(65)]) {
    assert.equal(code(other), undefined);
  }
});
