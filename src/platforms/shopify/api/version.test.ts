import assert from 'node:assert/strict';
import { test } from 'node:test';
import { supportWarning } from './version.ts';

test('warns in the last 60 days of support for the version, and after its end', () => {
  const at = (time: string) => supportWarning(Date.parse(time), '2026-10');
  assert.equal(at('2027-08-01T23:59:59Z'), undefined);
  const ending =
    'Shopify supports version 2026-10 of its Admin API until 2027-10-01; upgrade this service before then.';
  assert.equal(at('2027-08-02T00:00:00Z'), ending);
  assert.equal(at('2027-09-30T23:59:59Z'), ending);
  assert.equal(
    at('2027-10-01T00:00:00Z'),
    'Shopify has not supported version 2026-10 of its Admin API since 2027-10-01 and answers with a later one; upgrade this service.',
  );
});

test('support for the first version of a year ends with that year', () => {
  const ended = /^Shopify has not supported version 2027-01 of its Admin API since 2028-01-01 /;
  assert.match(String(supportWarning(Date.parse('2028-01-01T00:00:00Z'), '2027-01')), ended);
});
