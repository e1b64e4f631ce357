import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShopVisit } from '../pages.ts';
import { periodPicker, showPeriod, viewProblem } from './picker.ts';
import { partOf, viewOf } from './view.ts';

const now = Date.parse('2026-11-20T12:00:00Z');

function pick(address: string) {
  const query = new URLSearchParams(address);
  const visit = { query, request: { headers: {} } } as unknown as ShopVisit;
  const view = viewOf(query, now);
  const picker = periodPicker(visit, view, '/app/shops/1/churn');
  const markup = `${viewProblem(visit, view) ?? ''}${picker}`
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ');
  const all = (pattern: RegExp) => [...markup.matchAll(pattern)].map(([, found]) => found);
  return {
    markup,
    links: all(/href="([^"]*)"/g),
    selected: all(/aria-current="true" *>([^<]*)</g),
    hidden: all(/type="hidden" (name="[^"]*" value="[^"]*")/g),
    dates: all(/type="date".*?value="([^"]*)"/g),
  };
}

test('links to the periods and comparisons, and keeps the page’s other parameters', () => {
  const { links, selected, hidden, dates } = pick('days=90&plan=12&cursor=abc&compare=year');
  const path = '/app/shops/1/churn?';
  assert.deepEqual(links, [
    `${path}days=7&compare=year&plan=12`,
    `${path}compare=year&plan=12`,
    `${path}days=90&compare=year&plan=12`,
    `${path}days=365&compare=year&plan=12`,
    ...['month', 'last-month', 'quarter', 'year'].map(
      (each) => `${path}period=${each}&compare=year&plan=12`,
    ),
    `${path}days=90&plan=12`,
    `${path}days=90&compare=year&plan=12`,
  ]);
  assert.deepEqual(selected, ['90 days', 'the year before']);
  assert.deepEqual(hidden, ['name="plan" value="12"', 'name="compare" value="year"']);
  assert.deepEqual(dates, ['2026-08-22', '2026-11-20']);
});

test('offers no comparison on a page that makes none', () => {
  const query = new URLSearchParams('days=90&compare=year');
  const visit = { query, request: { headers: {} } } as unknown as ShopVisit;
  const picker = String(periodPicker(visit, viewOf(query, now), '/app/shops/1/audit', false));
  assert.doesNotMatch(picker, /class="against"|the year before/);
  // The choice of other pages stays.
  assert.match(picker, /days=7&amp;compare=year/);
});

test('shows two days as they were chosen', () => {
  const { selected, dates, markup } = pick('from=2026-01-01&to=2026-01-31');
  assert.deepEqual(selected, ['the period before']);
  assert.deepEqual(dates, ['2026-01-01', '2026-01-31']);
  assert.match(markup, /Jan 1 – 31, 2026/);
  assert.match(markup, /title="Dec 1 – 31, 2025"/);
  assert.doesNotMatch(markup, /role="alert"/);
});

test('keeps dates in error, marks them, and moves the focus to the first', () => {
  const boxes = (address: string) => {
    const { markup } = pick(address);
    assert.match(markup, /role="alert"/);
    assert.match(markup, /<details class="menu" open>/);
    return [...markup.matchAll(/<input id="(from|to)".*?\/>/g)].map(([box]) => [
      /type="(\w+)"/.exec(box)?.[1],
      /value="([^"]*)"/.exec(box)?.[1],
      box.includes('aria-describedby="problem" aria-invalid="true"'),
      box.includes('autofocus'),
    ]);
  };
  assert.deepEqual(boxes('from=2026-11-20&to=2026-11-10'), [
    ['date', '2026-11-20', true, true],
    ['date', '2026-11-10', true, false],
  ]);
  assert.deepEqual(boxes('from=2026-02-30&to=2026-11-10'), [
    ['text', '2026-02-30', true, true],
    ['date', '2026-11-10', false, false],
  ]);
  assert.deepEqual(boxes('from=2026-11-01&to='), [
    ['date', '2026-11-01', false, false],
    ['date', '', true, true],
  ]);
});

test('says what is wrong with the address', () => {
  const { markup, selected } = pick('days=31');
  assert.match(markup, /role="alert">“31” is not one of the periods/);
  assert.deepEqual(selected, ['30 days', 'the period before']);
});

test('writes days outside of the period, as of an old link, as one day', () => {
  const visit = { request: { headers: {} } } as unknown as ShopVisit;
  const { period } = viewOf(new URLSearchParams('days=7'), now);
  const days = { first: '2026-11-01', last: '2026-11-05' };
  assert.equal(showPeriod(visit, partOf(period, days)), 'Nov 13, 2026');
  assert.equal(showPeriod(visit, period), 'Nov 13\u2009–\u200920, 2026');
});
