import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  add,
  decimalText,
  minorDigitsOf,
  multiply,
  parseDecimal,
  roundHalfAway,
  roundedShare,
  unitsOf,
} from './money.ts';

const ratio = (numerator: bigint, denominator: bigint) => ({ numerator, denominator });

test('parses decimals exactly', () => {
  assert.deepEqual(parseDecimal('12.50'), ratio(1250n, 100n));
  assert.deepEqual(parseDecimal('-0.5'), ratio(-5n, 10n));
  assert.deepEqual(parseDecimal('0'), ratio(0n, 1n));
  assert.deepEqual(
    parseDecimal('99999999999999999999.999'),
    ratio(99999999999999999999999n, 1000n),
  );
});

test('converts decimals to units of a digit, and back', () => {
  for (const [text, digits, units, back] of [
    ['15.3', 2, 1530n, '15.30'],
    ['-0.05', 2, -5n, '-0.05'],
    ['-12', 6, -12_000_000n, '-12.000000'],
    ['0', 6, 0n, '0.000000'],
    ['7', 0, 7n, '7'],
    ['99999999999999999999.999', 4, 999999999999999999999990n, '99999999999999999999.9990'],
  ] as const) {
    assert.equal(unitsOf(text, digits), units);
    assert.equal(decimalText(units, digits), back);
  }
  assert.equal(unitsOf('1.2399', 2), 123n);
});

test('rounds half away from zero', () => {
  const cases = [
    ['0.005', 0.01],
    ['0.0049999999999999999999', 0],
    ['-0.005', -0.01],
    ['-0.0049999999999999999999', 0],
    ['1.005', 1.01],
    ['-1.005', -1.01],
    ['2.675', 2.68],
    ['0.125', 0.13],
    ['0.135', 0.14],
    ['-0.125', -0.13],
    ['10.994999', 10.99],
    ['10.995', 11],
  ] as const;
  for (const [text, expected] of cases) {
    assert.equal(roundHalfAway(parseDecimal(text), 2), expected, text);
  }
  assert.equal(roundHalfAway(parseDecimal('0.5'), 0), 1);
  assert.equal(roundHalfAway(parseDecimal('-0.5'), 0), -1);
  assert.equal(roundHalfAway(parseDecimal('1.4999'), 0), 1);
  assert.equal(roundHalfAway(parseDecimal('0.0005'), 3), 0.001);
});

test('rounds small negative values to 0, not -0', () => {
  assert.ok(Object.is(roundHalfAway(parseDecimal('-0.001'), 2), 0));
  assert.ok(Object.is(roundHalfAway(ratio(0n, 7n), 2), 0));
});

test('keeps thirds exact until rounding', () => {
  const third = ratio(1n, 3n);
  const one = add(add(third, third), third);
  assert.equal(roundHalfAway(one, 4), 1);
  assert.equal(roundHalfAway(third, 4), 0.3333);
  assert.equal(roundHalfAway(ratio(2n, 3n), 4), 0.6667);
  assert.equal(roundHalfAway(ratio(-2n, 3n), 4), -0.6667);
  // 29.99 a day over 365/12 days, three times: rounding in between would give 2736.57.
  const monthly = multiply(parseDecimal('29.99'), ratio(365n, 12n));
  assert.equal(roundHalfAway(add(add(monthly, monthly), monthly), 2), 2736.59);
});

test('rounds amounts beyond floating-point precision before converting', () => {
  assert.equal(roundHalfAway(parseDecimal('1234567890123.005'), 2), 1234567890123.01);
  assert.equal(roundHalfAway(parseDecimal('-1234567890123.00499999999'), 2), -1234567890123);
  assert.equal(roundHalfAway(parseDecimal('99999999999999999999.5'), 0), 1e20);
});

test('a share of 0 is 0', () => {
  assert.equal(roundedShare(0n, 0n, 4), 0);
  assert.equal(roundedShare(1n, 3n, 4), 0.3333);
  assert.equal(roundedShare(1n, 20_000n, 4), 0.0001);
  assert.equal(roundedShare(1n, 20_001n, 4), 0);
  assert.equal(roundedShare(7n, 7n, 4), 1);
});

test('uses the minor units of ISO 4217', () => {
  const codes = ['USD', 'EUR', 'HUF', 'JPY', 'KRW', 'ISK', 'KWD', 'BHD', 'CLF', 'XXX', 'usd', ''];
  assert.deepEqual(codes.map(minorDigitsOf), [
    2,
    2,
    2,
    0,
    0,
    0,
    3,
    3,
    4,
    undefined,
    undefined,
    undefined,
  ]);
});
