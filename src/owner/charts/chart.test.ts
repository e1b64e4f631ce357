import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShopVisit } from '../pages.ts';
import { type Chart, chart } from './chart.ts';
import { overTime, spansOf, timesOf, unitsOf } from './series.ts';

const visit = { request: { headers: {} } } as unknown as ShopVisit;

/** Consecutive UTC days. */
function daysFrom(first: string, count: number) {
  return Array.from({ length: count }, (_, index) => ({
    day: new Date(Date.parse(first) + index * 86_400_000).toISOString().slice(0, 10),
  }));
}

function draw(parts: Partial<Chart>) {
  const times = timesOf(visit, spansOf(daysFrom('2026-11-01', 3)));
  const markup = chart(
    {
      id: 'chart',
      title: 'Lost',
      headline: { now: '6 lost', before: '30 days before: 5 lost' },
      caption: 'UTC',
      marks: 'bars',
      series: [{ name: 'Lost', tone: 'lost', values: [1, 0, 5], before: [2, 3, 0] }],
      initial: 'last',
      format: String,
      formatShort: String,
      unit: 1,
      isMoney: false,
      ...times,
      ...parts,
    },
    '/app/shops/1/charts.csv',
  ).toString();
  const count = (text: string) => markup.split(text).length - 1;
  return { markup: markup.replace(/\s+/g, ' '), count };
}

test('writes amounts in short, but none that is cut off within its cents', () => {
  const { amounts } = unitsOf({ ...visit, shop: { currency: 'EUR' } } as ShopVisit);
  assert.deepEqual([0, 20, 79.7, -0.5, 512.34, 12_345].map(amounts.formatShort), [
    '€0',
    '€20',
    '€79.70',
    '−€0.50',
    '€512',
    '€12.3K',
  ]);
});

test('pairs weeks, and months of a period that begins within one, by the end, all others by the beginning', () => {
  const pairs = (per: string, days: ReturnType<typeof daysFrom>, before: typeof days) => {
    const query = new URLSearchParams({ per });
    const { frame, paired } = overTime({ ...visit, query } as Parameters<typeof overTime>[0], days);
    const others = paired(before).map((span) => span?.[0]?.day);
    return frame.times.map(({ first }, index) => `${first} ${others[index] ?? 'alone'}`);
  };
  // 90 days until 29 November, and the 90 days before.
  assert.deepEqual(pairs('month', daysFrom('2026-08-31', 91), daysFrom('2026-06-02', 91)), [
    '2026-08-31 alone',
    '2026-09-01 2026-06-02',
    '2026-10-01 2026-07-01',
    '2026-11-01 2026-08-01',
  ]);
  // The quarter to date, and as many days of the one before.
  assert.deepEqual(pairs('month', daysFrom('2026-04-01', 61), daysFrom('2026-01-01', 61)), [
    '2026-04-01 2026-01-01',
    '2026-05-01 2026-02-01',
  ]);
  // The month to date, which is longer than the one before.
  const [march, february] = [daysFrom('2026-03-01', 31), daysFrom('2026-02-01', 28)];
  const byDay = pairs('day', march, february);
  assert.deepEqual([byDay[0], byDay.at(-1)], ['2026-03-01 2026-02-01', '2026-03-31 alone']);
  const byWeek = pairs('week', march, february);
  assert.deepEqual([byWeek[0], byWeek.at(-1)], ['2026-03-01 alone', '2026-03-25 2026-02-22']);
});

test('draws where bars of the period before ended, and lists their values', () => {
  const { markup, count } = draw({});
  // From zero up, where there is anything.
  assert.match(
    markup,
    /class="bars lost" stroke-width="\.68" transform="translate\(\.5\)" d="M0,100V83\.3M2,100V16\.7"/,
  );
  assert.equal(count('class="line before"'), 1);
  // As wide as the bar, also where there was nothing.
  assert.match(
    markup,
    /class="line before" transform="translate\(\.16\)" d="(?:M\d,[\d.]+h\.68){3}"/,
  );
  assert.match(markup, /<small>Lost<\/small> <span class="headline">6 lost<\/span>/);
  assert.match(markup, /Lost, before/);
  assert.match(markup, /<td>1<td>2/);
});

test('draws the period before as a line, and leaves out what cannot be known', () => {
  const { markup, count } = draw({
    marks: 'line',
    series: [{ name: 'Rate', values: [null, 2, 3], before: [1, 1, 1] }],
  });
  assert.equal(count('class="line before"'), 1);
  assert.match(markup, /<td>–<td>1/);
  assert.match(markup, /class="line " d="M1\.5,/);
});

test('says the last values where lines end, one above the other, and marks what happened', () => {
  const { markup, count } = draw({
    marks: 'line',
    series: [
      { name: 'One', values: [1, 2, 100] },
      { name: 'Other', tone: 'neutral', values: [3, 99, null] },
    ],
    notes: [undefined, 'Prices changed', undefined],
  });
  const [, ends = ''] = /<svg class="ends".*?>(.*?)<\/svg>/.exec(markup) ?? [];
  const texts = [
    ...ends.matchAll(/<text class="(\w*)" x="([\d.]+)%" y="([\d.]+)" *>(\d+)<\/text/g),
  ];
  assert.deepEqual(
    texts.map(([, tone, x, , value]) => [tone, x, value]),
    [
      ['', '83.33', '100'],
      ['neutral', '50', '99'],
    ],
  );
  assert.deepEqual(
    texts.map(([, , , y]) => y),
    ['8', '28'],
  );
  assert.match(ends, /<circle cx="50%"/);
  assert.match(markup, /<td>2<td>99<td>Prices changed/);
  assert.equal(count('<circle'), 1);
  // Beside each other, values of several bars would not fit.
  assert.doesNotMatch(
    draw({
      series: [
        { name: 'A', values: [1, 2, 3] },
        { name: 'B', values: [1, 2, 3] },
      ],
    }).markup,
    /<text class="/,
  );
});

test('links every row, and every bar for its script, to what it counts', () => {
  const { count } = draw({ hrefs: ['/a', '/b', '/c'] });
  for (const path of ['/a', '/b', '/c']) {
    assert.equal(count(`<a href="${path}"`), 1);
  }
  // For the script, which makes bars links: a pattern where only the days differ.
  assert.equal(count('data-hrefs="/a|/b|/c"'), 1);
  const days = ['2026-11-01', '2026-11-02', '2026-11-03'];
  const hrefs = days.map((day) => `/a?first=${day}&last=${day}`);
  assert.equal(draw({ hrefs }).count('data-hrefs="/a?first={first}&amp;last={last}"'), 1);
});

test('draws bars below zero', () => {
  const { markup } = draw({ series: [{ name: 'Net', values: [-5, 5, 0] }] });
  assert.match(
    markup,
    /class="bars " stroke-width="\.68" transform="translate\(\.5\)" d="M0,50V100M1,50V0"/,
  );
});

test('shows days up to 45, and weeks counted back from the end beyond', () => {
  assert.equal(spansOf(daysFrom('2026-10-01', 45)).length, 45);
  const weeks = timesOf(visit, spansOf(daysFrom('2025-12-20', 46)));
  assert.equal(weeks.timeHeading, '7 days (UTC)');
  assert.deepEqual(
    weeks.times.map(({ full }) => full.replace(/\u2009/g, ' ')),
    [
      'Dec 20 – 23, 2025 (4 days)',
      'Dec 24 – 30, 2025',
      'Dec 31, 2025 – Jan 6, 2026',
      'Jan 7 – 13, 2026',
      'Jan 14 – 20, 2026',
      'Jan 21 – 27, 2026',
      'Jan 28 – Feb 3, 2026',
    ],
  );
  assert.deepEqual(
    weeks.times.map(({ tick }) => tick?.label),
    [undefined, undefined, '2026', undefined, undefined, undefined, 'Feb'],
  );
  const days = timesOf(visit, spansOf(daysFrom('2025-12-20', 20)));
  assert.deepEqual(
    days.times.flatMap(({ tick }) => tick?.label ?? []),
    ['Dec 20, 2025', 'Dec 24', 'Dec 28', 'Jan 1, 2026', 'Jan 5'],
  );
});

test('says as many dates as the axis has room for, and each year', () => {
  const axisOf = (first: string, days: number, room: 'narrow' | 'medium' | 'wide') => {
    const times = timesOf(visit, spansOf(daysFrom(first, days)));
    const values = times.times.map(() => 1);
    const { markup } = draw({ ...times, series: [{ name: 'Lost', tone: 'lost', values }] });
    const [, axis = ''] = /<svg class="dates".*?>(.*?)<\/svg>/.exec(markup) ?? [];
    return [...axis.matchAll(/<text(.*?)>(.*?)<\/text>/g)].flatMap(([, attributes = '', label]) =>
      attributes.includes(`not-${room}`) ? [] : label?.trim(),
    );
  };
  const year = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
  assert.deepEqual(axisOf('2026-01-01', 365, 'wide'), year);
  assert.deepEqual(axisOf('2025-11-21', 365, 'medium'), ['Dec', '2026', ...year.slice(1, 11)]);
  assert.deepEqual(axisOf('2025-11-21', 365, 'narrow'), [
    '2026',
    'Mar',
    'May',
    'Jul',
    'Sep',
    'Nov',
  ]);
  assert.deepEqual(axisOf('2023-11-21', 1096, 'medium'), [
    '2024',
    'Apr',
    'Jul',
    'Oct',
    '2025',
    'Apr',
    'Jul',
    'Oct',
    '2026',
    'Apr',
    'Jul',
    'Oct',
  ]);
  assert.deepEqual(axisOf('2017-01-01', 3600, 'narrow'), ['2018', '2020', '2022', '2024', '2026']);
  assert.deepEqual(axisOf('2025-12-10', 30, 'narrow'), ['Dec 10, 2025', 'Dec 22', 'Jan 3, 2026']);
});
