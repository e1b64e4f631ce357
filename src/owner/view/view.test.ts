import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSegment } from '../../metrics/segments/segment.ts';
import { viewOf, viewOfStart, viewPath, viewQuery } from './view.ts';

const now = Date.parse('2026-11-20T12:00:00Z');
const show = (text: string) => {
  const query = new URLSearchParams(text);
  const view = viewOf(query, now, parseSegment(query));
  const iso = (at: number) => new Date(at).toISOString().slice(0, 16);
  const { period, before, problem } = view;
  return {
    period: [iso(period.from), iso(period.until)],
    before: [iso(before.from), iso(before.until)],
    query: viewQuery(view).toString(),
    problem,
  };
};

test('shows the last 30 days, compared with the 30 days before', () => {
  assert.deepEqual(show(''), {
    period: ['2026-10-21T12:00', '2026-11-20T12:00'],
    before: ['2026-09-21T12:00', '2026-10-21T12:00'],
    query: '',
    problem: undefined,
  });
});

test('shows two days and what lies between, up to now, compared with the same days of another year', () => {
  assert.deepEqual(show('from=2026-11-01&to=2026-11-30&compare=year'), {
    period: ['2026-11-01T00:00', '2026-11-20T12:00'],
    before: ['2025-11-01T00:00', '2025-11-20T12:00'],
    query: 'from=2026-11-01&to=2026-11-30&compare=year',
    problem: undefined,
  });
  // The last day has not ended, so neither has the one that it is compared with.
  assert.deepEqual(show('from=2026-11-01&to=2026-11-30').before, [
    '2026-10-12T00:00',
    '2026-10-31T12:00',
  ]);
  assert.deepEqual(show('from=2026-03-01&to=2026-03-01').before, [
    '2026-02-28T00:00',
    '2026-03-01T00:00',
  ]);
});

test('compares a leap day, and the day before it, with the last of February', () => {
  const later = Date.parse('2028-03-05T12:00:00Z');
  const before = (from: string, to: string) => {
    const view = viewOf(new URLSearchParams({ from, to, compare: 'year' }), later);
    return [view.before.from, view.before.until].map((at) =>
      new Date(at).toISOString().slice(0, 10),
    );
  };
  const last = ['2027-02-28', '2027-03-01'];
  assert.deepEqual(before('2028-02-29', '2028-02-29'), last);
  assert.deepEqual(before('2028-02-28', '2028-02-28'), last);
  assert.deepEqual(before('2028-02-01', '2028-03-01'), ['2027-02-01', '2027-03-02']);
});

test('shows months of the calendar, compared with the same days of those before', () => {
  const see = (period: string, at = '2026-03-31T12:00:00Z') => {
    const view = viewOf(new URLSearchParams({ period }), Date.parse(at));
    assert.equal(String(viewQuery(view)), `period=${period}`);
    return [view.period, view.before].map(({ from, until }) =>
      [from, until].map((each) => new Date(each).toISOString().slice(0, 13)).join(' '),
    );
  };
  // February has no days for the last three of March.
  assert.deepEqual(see('month'), ['2026-03-01T00 2026-03-31T12', '2026-02-01T00 2026-03-01T00']);
  assert.deepEqual(see('month', '2026-01-02T03:00:00Z'), [
    '2026-01-01T00 2026-01-02T03',
    '2025-12-01T00 2025-12-02T03',
  ]);
  assert.deepEqual(see('last-month', '2026-01-02T03:00:00Z'), [
    '2025-12-01T00 2026-01-01T00',
    '2025-11-01T00 2025-12-01T00',
  ]);
  assert.deepEqual(see('quarter', '2026-05-10T00:00:00Z'), [
    '2026-04-01T00 2026-05-10T00',
    '2026-01-01T00 2026-02-09T00',
  ]);
  assert.deepEqual(see('year'), ['2026-01-01T00 2026-03-31T12', '2025-01-01T00 2025-03-31T12']);
  assert.match(viewOf(new URLSearchParams('period=toString'), 0).problem ?? '', /not one of the/);
});

test('ends with an instant, up to now', () => {
  const end = (to: string) => show(`from=2026-11-01T06:00:00.000Z&to=${to}`).period;
  assert.deepEqual(end('2026-11-02T06:30:00.000Z'), ['2026-11-01T06:00', '2026-11-02T06:30']);
  assert.deepEqual(end('2026-11-21T06:30:00.000Z'), ['2026-11-01T06:00', '2026-11-20T12:00']);
});

test('leads to what held when a period began', () => {
  const start = (text: string) => {
    const view = viewOf(new URLSearchParams(text), now);
    const { period, problem } = viewOf(viewQuery(viewOfStart(view)), now);
    assert.equal(problem, undefined);
    assert.equal(period.until, view.period.from);
  };
  start('');
  start('from=2026-11-01&to=2026-11-02');
  start('from=1970-01-01T03:00:00.000Z&to=1970-01-02');
});

test('says what is wrong with an address, and shows the default', () => {
  for (const [text, problem] of [
    ['days=31', /Choose one of them/],
    ['from=2026-11-01', /^The last day is missing\. Choose one, too\.$/],
    ['to=2026-11-01', /^The first day is missing\. Choose one, too\.$/],
    [
      'from=2026-02-31&to=2026-03-01',
      /^“2026-02-31” is not a date, so there is no first day\. Write one as in 2026-11-20\.$/,
    ],
    ['from=2026-02-01&to=2026-02-31', /^“2026-02-31” is not a date, so there is no last day\./],
    ['from=x&to=y', /^“x” is not a date, .*\. “y” is not a date, /],
    ['from=2026-11-02&to=2026-11-01', /Exchange/],
    ['from=2026-11-21&to=2026-11-22', /future/],
    ['from=0026-10-01&to=2026-10-31', /1970-01-01/],
    ['from=0000-01-01&to=0001-01-01', /1970-01-01/],
    ['from=2015-01-01&to=2026-10-31', /ten years/],
    ['from=2026-11-02T00:00:00Z&to=2026-11-01', /Exchange/],
    ['from=2026-11-02&to=2026-11-02T00:00:00Z', /Exchange/],
    ['from=2026-11-02&to=2026-11-02T25:00:00Z', /no last day/],
    ['from=2026-11-02T25:00:00Z&to=2026-11-03', /no first day/],
  ] as const) {
    const shown = show(text);
    assert.match(shown.problem ?? '', problem);
    assert.equal(shown.query, '');
  }
});

test('leads to other pages with the same view', () => {
  const view = viewOf(new URLSearchParams('days=90&compare=year'), now);
  const path = '/app/shops/1/revenue' as const;
  assert.equal(viewPath(path, view), `${path}?days=90&compare=year`);
  assert.equal(
    viewPath(`${path}#renewals`, view, { plan: '7' }),
    `${path}?plan=7&days=90&compare=year#renewals`,
  );
  assert.equal(viewPath(path, viewOf(new URLSearchParams(), now)), path);
});

test('shows a segment, and leaves out what is no condition of one', () => {
  const { query, problem } = show('status=active&price=10&price=20&age=2-3&days=90');
  assert.equal(query, 'status=active&price=10-20&days=90');
  assert.match(problem ?? '', /“2-3” is not an age in months/);
});
