import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dateFormat, englishReader, formatShare, numberFormat } from './formats.ts';

test('formatters are kept by language and options, and dropped once there are too many', () => {
  const german = numberFormat('de', { minimumFractionDigits: 1 });
  assert.equal(numberFormat('de', { minimumFractionDigits: 1 }), german);
  assert.equal(german.format(1234.5), '1.234,5');
  assert.equal(numberFormat('en', { minimumFractionDigits: 1 }).format(1234.5), '1,234.5');
  assert.equal(numberFormat('de', {}).format(1), '1');
  for (let region = 0; region < 300; region += 1) numberFormat(`de-${region + 100}`, {});
  assert.notEqual(numberFormat('de', { minimumFractionDigits: 1 }), german);
});

test('dates are formatted in UTC', () => {
  const midnight = Date.parse('2026-11-18T00:00:00Z');
  assert.equal(dateFormat('en-GB', { dateStyle: 'medium' }).format(midnight), '18 Nov 2026');
});

test('months are those of the figures, also in languages with another calendar', () => {
  const march = dateFormat('fa-IR', { month: 'long', year: 'numeric' });
  assert.equal(march.format(Date.parse('2026-03-01T00:00:00Z')), 'مارس ۲۰۲۶');
});

test('shares have one decimal, but for none and all', () => {
  assert.deepEqual(
    [0, 0.0004, 0.15, 0.7704, 0.833, 1].map((share) => formatShare(englishReader, share)),
    ['0%', '0.0%', '15.0%', '77.0%', '83.3%', '100%'],
  );
});
