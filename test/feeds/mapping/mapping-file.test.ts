import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMapping } from '../../../src/mapping/read.ts';
import { subscriptions } from './mapped.ts';

const problemsOf = (mapping: unknown): string[] => {
  const text = typeof mapping === 'string' ? mapping : JSON.stringify(mapping);
  try {
    parseMapping('m.json', text);
  } catch (error) {
    assert.equal((error as Error).name, 'UsageError');
    return (error as Error).message.split('\n').map((line) => line.trim());
  }
  return [];
};

/** The problems of a mapping with one field replaced. */
const field = (name: string, spec: unknown) => problemsOf(subscriptions({}, { [name]: spec }));
const at = 'records[0].fields';

const wrong: Readonly<Record<string, readonly [found: () => string[], ...expected: string[]]>> = {
  'invalid JSON': [
    () => problemsOf('{"input"').map((line) => line.replace(/JSON: .*/, 'JSON')),
    'm.json is not JSON',
  ],
  'a list instead of an object': [() => problemsOf([]), 'it must be an object'],
  'an empty object': [() => problemsOf({}), 'input is missing', 'records is missing'],
  'an unknown key': [
    () => problemsOf({ ...subscriptions(), recods: [] }),
    'it has unknown keys: "recods"; known keys are about, input, vendor, formats, asOf, records',
  ],
  'no records': [
    () => problemsOf({ ...subscriptions(), records: [] }),
    'records must not be empty',
  ],
  'an unknown format': [
    () => problemsOf({ ...subscriptions(), input: { format: 'xml' } }),
    'input.format must be one of csv, ndjson, json, any',
  ],
  'a delimiter for JSON': [
    () => problemsOf({ ...subscriptions(), input: { format: 'ndjson', delimiter: ';' } }),
    'input has unknown keys: "delimiter"; known keys are format, encoding',
  ],
  'a delimiter of two characters': [
    () => problemsOf({ ...subscriptions(), input: { format: 'csv', delimiter: '||' } }),
    'input.delimiter must be one character other than a line break',
  ],
  'the same delimiter and quote': [
    () => problemsOf({ ...subscriptions(), input: { format: 'csv', delimiter: '"' } }),
    'input.quote must not be the delimiter',
  ],
  'a header that is neither true nor a list': [
    () => problemsOf({ ...subscriptions(), input: { format: 'csv', header: false } }),
    'input.header must be true, or a list of the column names if the file has none',
  ],
  'an unknown record type': [
    () => problemsOf(subscriptions({ type: 'customer' })),
    'records[0].type must be one of plan, subscription, payment, refund, cancellation',
  ],
  'an unknown field': [
    () => field('statuss', 'status'),
    `${at} has unknown keys: "statuss"; known keys are id, customerId, planId, status, createdAt, nextBillingDate, paidThroughAt, intervalUnit, intervalCount, trialEndsAt, updatedAt`,
  ],
  'a missing required field': [() => field('customerId', undefined), `${at}.customerId is missing`],
  'no lines': [
    () => problemsOf(subscriptions({ lines: undefined })),
    'records[0].lines is missing',
  ],
  'a list of fields': [
    () => problemsOf(subscriptions({ fields: [] })),
    'records[0].fields must be an object',
  ],
  'two sources': [
    () => field('id', { column: 'id', value: 1 }),
    `${at}.id must have one of column, columns, line, value, generate and anyOf`,
  ],
  'no source': [() => field('status', {}), `${at}.status must have one of column, value and anyOf`],
  'an option of another kind of field': [
    () => field('status', { column: 'status', timeZone: 'UTC' }),
    `${at}.status has unknown keys: "timeZone"; known keys are column, value, anyOf, table, otherwise, empty`,
  ],
  'a table with an unknown value': [
    () => field('status', { column: 's', table: { ACTIVE: 'aktiv' } }),
    `${at}.status.table.ACTIVE must be one of active, paused, cancelled, expired, failed`,
  ],
  'a default without a table': [
    () => field('status', { column: 's', otherwise: 'active' }),
    `${at}.status has otherwise, which needs a table`,
  ],
  'a constant time without an offset': [
    () => field('createdAt', { value: '2026-01-01T00:00:00' }),
    `${at}.createdAt.value must be an ISO 8601 time with an offset or Z`,
  ],
  'an unknown time zone': [
    () => field('createdAt', { column: 'c', timeZone: 'America/Gotham' }),
    `${at}.createdAt.timeZone must be an IANA time zone, such as UTC or America/New_York`,
  ],
  'a pattern without a zone': [
    () => field('createdAt', { column: 'c', time: 'MM/DD/YYYY' }),
    `${at}.createdAt needs a timeZone, such as UTC or America/New_York: its times have no offset`,
  ],
  'a pattern without a year': [
    () => field('createdAt', { column: 'c', time: 'DD.MM.', timeZone: 'UTC' }),
    `${at}.createdAt.time must be iso, unix-seconds, unix-milliseconds, excel, days-ago, weeks-ago, months-ago, years-ago or a pattern with YYYY, MM and DD in it, such as MM/DD/YYYY`,
  ],
  'a pattern that has the month twice': [
    () => field('createdAt', { column: 'c', time: 'YYYY-MM-DD M', timeZone: 'UTC' }),
    `${at}.createdAt.time must not name a part of the time twice`,
  ],
  'a pattern that is a word': [
    () => field('createdAt', { column: 'c', time: 'epoch', timeZone: 'UTC' }),
    `${at}.createdAt.time must be iso, unix-seconds, unix-milliseconds, excel, days-ago, weeks-ago, months-ago, years-ago or a pattern of YYYY, YY, MMM, MM, M, DD, D, HH, H, hh, h, A, mm, ss`,
  ],
  'a time format named like a property of every object': [
    () => field('createdAt', { column: 'c', time: 'constructor', timeZone: 'UTC' }),
    `${at}.createdAt.time must be iso, unix-seconds, unix-milliseconds, excel, days-ago, weeks-ago, months-ago, years-ago or a pattern of YYYY, YY, MMM, MM, M, DD, D, HH, H, hh, h, A, mm, ss`,
  ],
  '12-hour times without AM or PM': [
    () => field('createdAt', { column: 'c', time: 'MM/DD/YYYY h:mm', timeZone: 'UTC' }),
    `${at}.createdAt.time must have hh (or h) and A together: the hours from 1 to 12, and AM or PM`,
  ],
  'joined columns as a number': [
    () => field('planId', { columns: ['unit', 'count'] }),
    `${at}.planId joins columns, which needs "ids": "text"`,
  ],
  'the same decimal and thousands separator': [
    () => {
      const mapping = subscriptions();
      return problemsOf({ ...mapping, formats: { decimal: ',', thousands: ',' } });
    },
    'records[0].lines.fields.currentPrice must not use the same character for decimal and thousands',
  ],
  'a condition without values': [
    () => problemsOf(subscriptions({ when: { status: {} } })),
    'records[0].when.status must have is or isNot: a list of values, "" for an empty one',
  ],
  'a condition on a required field': [
    () => field('id', { column: 'id', when: { a: { is: ['b'] } } }),
    `${at}.id has unknown keys: "when"; known keys are column, columns, separator, line, value, generate, anyOf, table, otherwise, empty, ids`,
  ],
  'a group, and lines from a list': [
    () => {
      const [record] = subscriptions()['records'] as { lines: object }[];
      return problemsOf(subscriptions({ group: 'id', lines: { ...record?.lines, from: 'items' } }));
    },
    'records[0].group and lines.from must not be given together: lines come either from rows or from a list in a row',
  ],
  'a table beside several sources': [
    () => field('status', { anyOf: ['a', 'b'], table: { A: 'active' } }),
    `${at}.status has anyOf; put table into its entries`,
  ],
  'one of several sources that has a problem': [
    () => field('status', { anyOf: ['a', { value: 'gone' }] }),
    `${at}.status.anyOf[1].value must be one of active, paused, cancelled, expired, failed`,
  ],
  'several sources within several sources': [
    () => field('status', { anyOf: ['a', { anyOf: ['b', 'c'] }] }),
    `${at}.status.anyOf[1] has unknown keys: "anyOf"; known keys are column, value, table, otherwise, empty, when`,
    `${at}.status.anyOf[1] must have one of column and value`,
  ],
  'an id made from the time': [
    () => field('id', { generate: 'time' }),
    `${at}.id.generate must be "digest"`,
  ],
  'a time of receipt that would change with each import': [
    () => field('createdAt', { generate: 'time' }),
    `${at}.createdAt has unknown keys: "generate"; known keys are column, value, anyOf, table, otherwise, empty, time, timeZone`,
    `${at}.createdAt must have one of column, value and anyOf`,
  ],
  'packed lines without a column': [
    () => {
      const [record] = subscriptions()['records'] as { lines: object }[];
      return problemsOf(subscriptions({ lines: { ...record?.lines, packed: {} } }));
    },
    'records[0].lines.packed needs from: the column of the list',
  ],
  'several problems': [
    () => {
      const fields = { status: { column: 's', table: { A: 'b' } }, createdAt: { value: 'today' } };
      return problemsOf({ ...subscriptions({ color: 'red' }, fields), input: { format: 'csw' } });
    },
    'input.format must be one of csv, ndjson, json, any',
    `${at}.status.table.A must be one of active, paused, cancelled, expired, failed`,
    `${at}.createdAt.value must be an ISO 8601 time with an offset or Z`,
    'records[0] has unknown keys: "color"; known keys are type, when, currency, group, fields, lines, keeps, warnings, statusEvents, valueEvents',
  ],
};

for (const [title, [found, ...expected]] of Object.entries(wrong)) {
  test(`refuses a mapping file with ${title}`, () => {
    const [first = '', ...problems] = found();
    const isOfJson = first.startsWith('m.json is not JSON');
    if (!isOfJson) assert.equal(first, 'm.json is not a mapping:');
    assert.deepEqual(isOfJson ? [first] : problems, expected);
  });
}

test('accepts a valid mapping file, also with a byte order mark', () => {
  const text = JSON.stringify(subscriptions());
  assert.deepEqual(problemsOf(text), []);
  assert.deepEqual(problemsOf(`\uFEFF${text}`), []);
});
