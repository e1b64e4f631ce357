import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedClock } from '../../../../src/clock.ts';
import { parseMapping } from '../../../../src/mapping/read.ts';
import { suggestMapping } from '../../../../src/mapping/suggest/suggest.ts';
import { now } from '../../../support/world.ts';

async function suggest(rows: readonly string[], answers: Readonly<Record<string, string>> = {}) {
  const suggestion = await suggestMapping(
    'table',
    { bytes: Buffer.from(rows.join('\n')), isWhole: true },
    { clock: new FixedClock(now), answers: new Map(Object.entries(answers)) },
  );
  parseMapping('suggested', suggestion.text);
  const { preview, questions } = suggestion;
  return {
    ...suggestion,
    doubts: suggestion.checks.map(({ text }) => text).join('\n'),
    asked: Object.fromEntries(questions.map(({ id, chosen }) => [id, chosen])),
    uses: Object.fromEntries(
      suggestion.views.flatMap(({ name, use }) => (use === '' ? [] : [[use, name]])),
    ),
    ...('problem' in preview
      ? { statuses: undefined, mrr: undefined, first: [] }
      : { statuses: { ...preview.statuses }, mrr: preview.mrr, first: preview.first }),
  };
}

/** A table of four subscriptions with a column of dates that two of them have. */
const table = (name: string, dates = ['2026-03-04', '', '2026-05-06', '']) => [
  `member|start|${name}|amt`,
  ...dates.map((date, index) => `M${index}|2026-02-0${index + 1}|${date}|${index + 1}.50`),
];

test('takes dates that some rows have for the end, and marks and asks that', async () => {
  const { statuses, mrr, first, checks, uses } = await suggest(table('stop'));
  assert.deepEqual([statuses, mrr], [{ active: 2, cancelled: 2 }, 7]);
  assert.deepEqual(
    first.map(({ createdAt, endedAt }) => [createdAt, endedAt]),
    [
      ['2026-02-01', '2026-03-04'],
      ['2026-02-02', ''],
      ['2026-02-03', '2026-05-06'],
      ['2026-02-04', ''],
    ],
  );
  assert.deepEqual(
    checks.map(({ text }) => text),
    [
      'no column says how often the price is charged; each month is a guess',
      '"stop" is taken for the end: rows with "stop" are cancelled, all others active',
    ],
  );
  assert.equal(uses['ended'], 'stop');
  assert.deepEqual((await suggest(table('stop'), { ended: '' })).statuses, { active: 4 });
  const chosen = await suggest(table('stop'), { ended: 'stop' });
  assert.deepEqual([chosen.statuses, chosen.uses['ended']], [statuses, 'stop']);
  assert.doesNotMatch(chosen.doubts, /is taken for the end/);
  // Whatever the column is called.
  assert.deepEqual((await suggest(table('x2'))).statuses, { active: 2, cancelled: 2 });
});

test('marks the beginning, too, if no name speaks of it', async () => {
  const { first, doubts, uses } = await suggest([
    'c1,c2,c3,price',
    'A1,02/01/2024,,9.99',
    'A2,13/01/2024,03/02/2025,19.99',
  ]);
  assert.deepEqual(
    first.map(({ createdAt, endedAt }) => [createdAt, endedAt]),
    [
      ['2024-01-02', ''],
      ['2024-01-13', '2025-02-03'],
    ],
  );
  assert.match(doubts, /"c2" is taken for when the subscription began/);
  assert.match(doubts, /"c3" is taken for the end/);
  assert.deepEqual([uses['start'], uses['ended']], ['c2', 'c3']);
});

test('reads flags of other names', async () => {
  for (const [name, active, gone] of [
    ['Live', 'Y', 'N'],
    ['still_member', '1', '0'],
    ['lapse_flag', '0', '1'],
  ] as const) {
    const rows = [`member no,start,monthly price,${name}`];
    rows.push(`M1,2026-02-01,10.00,${active}`, `M2,2026-02-01,10.00,${gone}`);
    const { statuses, doubts } = await suggest([...rows, `M3,2026-02-01,10.00,${active}`]);
    assert.deepEqual([statuses, doubts], [{ active: 2, cancelled: 1 }, ''], name);
  }
});

test('takes dates for the end only where they can be that', async () => {
  for (const [what, rows] of [
    ['all rows have one', table('x2', Array(4).fill('2026-03-04'))],
    ['before the beginning', table('x2', ['2025-03-04', '', '2026-05-06', ''])],
    ['of something else', table('shipped_on')],
    ['of a pause', table('paused_at')],
    ['of a newsletter', table('newsletter opt in')],
    ['of another beginning', table('activated on')],
    ['one of two', table('x2').map((row, index) => `${row}|${index ? '2026-06-07' : 'x3'}`)],
  ] as const) {
    const others = what === 'one of two' ? [`M8|2026-02-01||8|`] : [];
    const { statuses, doubts } = await suggest([...rows, ...others]);
    assert.deepEqual(statuses, { active: rows.length - 1 + others.length }, what);
    assert.match(doubts, /no column says which subscriptions were cancelled/, what);
  }
});

test('takes dates for the end that those have whose status says that they left', async () => {
  const rows = table('out').map(
    (row, index) => `${row}|${['status', 'gone', 'active'][index && 1 + ((index + 1) % 2)]}`,
  );
  const { statuses, first, doubts } = await suggest(rows);
  assert.deepEqual(statuses, { active: 2, cancelled: 2 });
  assert.deepEqual(
    first.map(({ endedAt }) => endedAt),
    ['2026-03-04', '', '2026-05-06', ''],
  );
  assert.match(doubts, /"out" is taken for the end/);
});

test('reads how long customers have been there in days, weeks, months and years', async () => {
  for (const [name, since] of [
    ['Weeks As Member', '2026-11-06'],
    ['days_as_customer', '2026-11-18'],
    ['Years with us', '2024-11-20'],
    ['Tenure (wks)', '2026-11-06'],
    ['tenure_yrs', '2024-11-20'],
    ['months active', '2026-09-20'],
    ['Jahre dabei', '2024-11-20'],
    ['semaines avec nous', '2026-11-06'],
    ['Account Age Days', '2026-11-18'],
  ] as const) {
    const { first, doubts, asked, needsAsOf } = await suggest([
      `member no,${name},monthly price,status`,
      'M1,2,10.00,active',
      'M2,14,10.00,cancelled',
    ]);
    assert.deepEqual([first[0]?.createdAt, asked, needsAsOf], [since, {}, true], name);
    assert.match(doubts, /before the date of the export .*the start moves/, name);
  }
  const ids = [
    'Id,Weeks As Member,monthly price,status',
    'a1,2,10.00,active',
    'a2,14,10.00,active',
  ];
  const { text } = await suggest([...ids, 'a3,3,10.00,active']);
  assert.match(text, /"customerId": "Id"/);
  for (const name of ['Days Since Last Login', 'trial days', 'days to deliver', 'weeks of delay']) {
    const { doubts } = await suggest([
      `member no,${name},monthly price,status`,
      'M1,2,10.00,active',
      'M2,14,10.00,cancelled',
    ]);
    assert.match(doubts, /no column says when subscriptions began/, name);
  }
});

const unknown = ['aa|bb|cc|dd', 'k1|30|on|9.50', 'k2|5|off|8.50', 'k3|7|on|7.50'];

test('writes a mapping with marks for a table of which it recognises nothing', async () => {
  const { preview, text, doubts } = await suggest(unknown);
  assert.deepEqual(preview, {
    problem:
      'No column was recognised as the status, the end or the price of subscriptions. Say which columns they are.',
  });
  for (const doubt of [
    /says how often the price is charged/,
    /"aa" is taken because each value occurs once/,
    /says which subscriptions were cancelled/,
    /says when subscriptions began/,
    /has the price of an interval/,
  ]) {
    assert.match(doubts, doubt);
  }
  // As the marks say, and no more than five lines.
  const edited = text
    .replace(
      '"status": { "value": "active" }',
      '"status": { "column": "cc", "table": { "off": "cancelled" }, "otherwise": "active" }',
    )
    .replace(/"createdAt": \{[^}]*\}/, '"createdAt": { "column": "bb", "time": "weeks-ago" }')
    .replace('"currentPrice": { "value": 0 }', '"currentPrice": { "column": "dd" }');
  assert.equal(edited.split('\n').filter((line) => !text.includes(line)).length, 3);
  parseMapping('edited', edited);
});

test('asks about a table of which it recognises nothing, also about numbers for the beginning', async () => {
  const { asked, uses, views } = await suggest(unknown);
  assert.deepEqual([asked, uses], [{ kind: 'none', interval: 'month:1' }, { customer: 'aa' }]);
  const fitting = (use: string) =>
    views.filter(({ choices }) => choices.includes(use)).map(({ name }) => name);
  assert.deepEqual(
    [fitting('start'), fitting('price')],
    [
      ['bb', 'dd'],
      ['bb', 'dd'],
    ],
  );
  const answers = { status: 'cc', price: 'dd', start: 'bb' };
  const open = await suggest(unknown, answers);
  assert.deepEqual(
    [open.statuses, open.asked],
    [{}, { 'meaning:on': '', 'meaning:off': '', tenure: 'month', interval: 'month:1' }],
  );
  const said = { ...answers, 'meaning:on': 'active', 'meaning:off': 'cancelled' };
  const chosen = await suggest(unknown, said);
  assert.deepEqual([chosen.statuses, chosen.mrr], [{ active: 2, cancelled: 1 }, 17]);
  assert.deepEqual([chosen.uses['start'], chosen.asked['tenure']], ['bb', 'month']);
  assert.equal(chosen.first[0]?.createdAt, '2024-05-20');
  const weeks = await suggest(unknown, { ...said, tenure: 'week' });
  assert.equal(weeks.first[1]?.createdAt, '2026-10-16');
  const none = await suggest(unknown, { status: '', price: '', start: '' });
  assert.deepEqual([none.statuses, none.mrr], [{ active: 3 }, 0]);
});

test('takes the price of the interval that a row has', async () => {
  const { first, mrr } = await suggest([
    'id,customer_id,status,created_at,plan,billing,monthly_price,yearly_price',
    's1,c1,active,2026-01-01,Team,monthly,30,300',
    's2,c2,active,2026-01-02,Team,yearly,30,300',
  ]);
  assert.deepEqual(
    first.map(({ price, interval }) => [Number(price), interval]),
    [
      [30, 'month'],
      [300, 'year'],
    ],
  );
  assert.equal(mrr, 55);
});

test('marks discounts that it does not take off, and intervals that rows lack', async () => {
  const rows = (discount: string) => [
    'id,customer_id,status,created_at,plan,price,interval,interval_count,discount_percent',
    `s1,c1,active,2026-01-01,Team,30,month,1,${discount}`,
    's2,c2,active,2026-01-02,Team,80,month,3,0',
    's3,c3,active,2026-01-03,Team,0,,,0',
  ];
  const { doubts, statuses, mrr } = await suggest(rows('50'));
  assert.match(doubts, /"discount_percent" takes nothing off "price"/);
  assert.match(doubts, /rows without "interval" \(1 of those read\) are given "empty"/);
  // A row without an interval is a subscription, too.
  assert.deepEqual([statuses, mrr], [{ active: 3 }, 56.67]);
  assert.doesNotMatch((await suggest(rows('0'))).doubts, /takes nothing off/);
});
