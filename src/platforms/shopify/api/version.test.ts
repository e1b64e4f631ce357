import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedClock } from '../../../clock.ts';
import { createLog } from '../../../log/log.ts';
import { apiVersion, supportWarning, warnOfSupport } from './version.ts';

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

test('logs the warning once a day, for all shops together', () => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => void lines.push(line) });
  const [year = 0, month = 0] = apiVersion.split('-').map(Number);
  const day = 86_400_000;
  const clock = new FixedClock(Date.UTC(year + 1, month - 1) - 61 * day);
  const told = () => {
    warnOfSupport({ clock, log });
    return lines.length;
  };
  assert.equal(told(), 0);
  clock.advance(day);
  assert.deepEqual([told(), told()], [1, 1]);
  clock.advance(day - 1);
  assert.equal(told(), 1);
  clock.advance(1);
  assert.equal(told(), 2);
  const { level, apiVersion: version, msg } = JSON.parse(lines[1] ?? '');
  assert.deepEqual([level, version], ['warn', apiVersion]);
  assert.match(msg, /^Shopify supports version \S+ of its Admin API until /);
});
