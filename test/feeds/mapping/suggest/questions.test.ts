import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedClock } from '../../../../src/clock.ts';
import { suggestMapping } from '../../../../src/mapping/suggest/suggest.ts';

const clock = new FixedClock('2026-11-20T12:00:00.000Z');

/** Suggests a mapping for a table, and returns what is asked and what the preview says. */
async function ask(rows: readonly string[], answers: Readonly<Record<string, string>> = {}) {
  const head = { bytes: Buffer.from(rows.join('\n')), isWhole: true };
  const given = new Map(Object.entries(answers));
  const suggestion = await suggestMapping('table.csv', head, {
    clock,
    currency: 'USD',
    answers: given,
  });
  const { questions, preview } = suggestion;
  assert.ok(!('problem' in preview), JSON.stringify(preview));
  const { mrr, statuses, first } = preview;
  return {
    asked: Object.fromEntries(questions.map(({ id, chosen }) => [id, chosen])),
    choices: Object.fromEntries(
      questions.map(({ id, choices }) => [id, choices.map(({ value }) => value)]),
    ),
    mrr,
    statuses,
    since: first[0]?.createdAt,
  };
}

const header = 'customer id,start date,monthly price,status';

test('a table that leaves nothing open is not asked about', async () => {
  const { asked, mrr } = await ask([
    header,
    'c1,2024-01-13,10.00,active',
    'c2,2024-01-14,5.00,cancelled',
  ]);
  assert.deepEqual([asked, mrr], [{}, 10]);
});

test('an amount such as 1.234 is asked about, and read as the answer says', async () => {
  const rows = ['customer id;start date;monthly price;status', 'c1;2024-01-13;1.234;active'];
  const { asked, mrr } = await ask(rows);
  assert.deepEqual([asked, mrr], [{ separator: 'thousands' }, 1234]);
  const decimal = await ask(rows, { separator: 'decimal' });
  assert.deepEqual([decimal.asked, decimal.mrr], [{ separator: 'decimal' }, 1.23]);
});

test('a quantity is asked about: the price may be for all', async () => {
  const rows = ['customer id,start date,price,billing interval,seats,status'];
  rows.push('c1,2024-01-13,10.00,monthly,3,active', 'c2,2024-01-13,10.00,monthly,1,active');
  const { asked, mrr } = await ask(rows);
  assert.deepEqual([asked, mrr], [{ quantity: 'one' }, 40]);
  assert.equal((await ask(rows, { quantity: 'all' })).mrr, 20);
});

test('a price whose name contradicts the column of intervals is asked about', async () => {
  const rows = [`${header},billing interval`];
  rows.push('c1,2024-01-13,12.00,active,yearly', 'c2,2024-01-13,12.00,active,monthly');
  const { asked, choices, mrr } = await ask(rows);
  assert.deepEqual([asked, mrr], [{ interval: 'month:1' }, 24]);
  assert.ok(choices['interval']?.includes('column'));
  const byColumn = await ask(rows, { interval: 'column' });
  assert.deepEqual([byColumn.asked, byColumn.mrr], [{}, 13]);
  assert.equal((await ask(rows, { interval: 'month:3' })).mrr, 8);
});

test('a number of units without a name is asked about', async () => {
  const tenure = ['customer id,tenure,monthly price,status', 'c1,12,10.00,active'];
  const { asked, since } = await ask(tenure);
  assert.deepEqual([asked, since], [{ tenure: 'month' }, '2025-11-20']);
  const inYears = await ask(tenure, { tenure: 'year' });
  assert.deepEqual([inYears.asked, inYears.since], [{ tenure: 'year' }, '2014-11-20']);
  const cycle = [
    'customer id,start date,price,billing cycle,status',
    'c1,2024-01-13,24.00,12,active',
  ];
  const guessed = await ask(cycle);
  assert.deepEqual([guessed.asked, guessed.mrr], [{ unit: 'month' }, 2]);
  assert.equal((await ask(cycle, { unit: 'year' })).mrr, 0.17);
});

test('rows without a status, and words with two meanings, are asked about', async () => {
  const rows = [
    header,
    'c1,2024-01-13,1.00,active',
    'c2,2024-01-13,1.00,',
    'c3,2024-01-13,1.00,stopped',
  ];
  const { asked, statuses } = await ask(rows);
  assert.deepEqual(asked, { 'meaning:stopped': 'cancelled', 'meaning:': 'active' });
  assert.deepEqual(statuses, { active: 2, cancelled: 1 });
  const answers = { 'meaning:stopped': 'paused', 'meaning:': 'skip' };
  const answered = await ask(rows, answers);
  assert.deepEqual([answered.asked, answered.statuses], [answers, { active: 1, paused: 1 }]);
});

test('answers that are not among the choices count as not given', async () => {
  const rows = [header, 'c1,2024-01-13,1.00,active', 'c2,2024-01-13,1.00,stopped'];
  const wrong = {
    status: 'no such column',
    price: 'neither',
    customer: '__proto__',
    start: 'monthly price',
    order: 'year',
    tenure: 'second',
    unit: 'second',
    interval: 'month:0',
    quantity: 'some',
    separator: 'neither',
    'meaning:stopped': 'gone',
  };
  const { mrr, statuses } = await ask(rows, wrong);
  assert.deepEqual([mrr, statuses], [1, { active: 1, cancelled: 1 }]);
});
