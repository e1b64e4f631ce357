import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedClock } from '../../../../src/clock.ts';
import { suggestMapping } from '../../../../src/mapping/suggest/suggest.ts';
import { now } from '../../../support/world.ts';

const head = 'id,customer_id,status,started_at,ended_at,price,interval';
const rows = [
  's1,c1,active,2026-01-02,,10.00,month',
  's2,c2,active,2026-01-03,,20.00,month',
  's3,c3,cancelled,2026-01-04,2026-05-06,30.00,year',
  's4,c4,active,2026-01-05,,40.00,month',
];

/** Suggests a mapping for the rows, and returns what an import by it stores and refuses. */
async function suggest(
  more: readonly string[],
  answers: Readonly<Record<string, string>> = {},
  table: readonly string[] = [head, ...rows],
) {
  const suggestion = await suggestMapping(
    'table',
    { bytes: Buffer.from([...table, ...more].join('\n')), isWhole: true },
    { clock: new FixedClock(now), answers: new Map(Object.entries(answers)) },
  );
  const { preview, views, checks, questions } = suggestion;
  assert.ok('mrr' in preview, suggestion.reason);
  return {
    uses: Object.fromEntries(views.map(({ name, use }) => [name, use])),
    stored: preview.first.map(({ id }) => id).join(' '),
    refused: preview.refused.map(({ line, reason }) => `${line} ${reason}`),
    preview,
    questions,
    doubts: checks.map(({ text }) => text).join('\n'),
  };
}

test('refuses rows whose start is no date, and makes none up', async () => {
  for (const text of ['not a date', 'sometime', 'TBD-1', '2026-13-45']) {
    const { uses, stored, refused } = await suggest([`s5,c5,active,${text},,50.00,month`]);
    assert.equal(uses['started_at'], 'start', text);
    assert.equal(stored, 's1 s2 s3 s4', text);
    assert.match(refused.join('\n'), /^6 .*column started_at: "…" must be /, text);
  }
  const { doubts, refused } = await suggest([
    's5,c5,active,not a date,,50.00,month',
    's6,c6,active,,,60.00,month',
  ]);
  assert.match(doubts, /rows without a date in "started_at" \(2 of those read\) are refused/);
  assert.match(refused.join('\n'), /^7 .*column started_at is empty/m);
});

test('says that a word among dates of the end is no date', async () => {
  const { stored, doubts } = await suggest([
    's5,c5,cancelled,2026-01-06,2026-06-07,50.00,month',
    's6,c6,active,2026-01-06,unlimited,60.00,month',
  ]);
  assert.equal(stored, 's1 s2 s3 s4 s5 s6');
  assert.match(doubts, /words among the dates of "ended_at" count as no date/);
});

test('takes a column of prices and refuses the row whose price is none', async () => {
  const { uses, stored, refused, preview } = await suggest(['s5,c5,active,2026-01-06,,abc,month']);
  assert.deepEqual([uses['price'], stored, preview.mrr], ['price', 's1 s2 s3 s4', 70]);
  assert.match(refused.join('\n'), /^6 .*column price: "…" must be an amount/);
});

test('reads cents as cents, though one is no number', async () => {
  const table = [
    'id,customer_id,status,started_at,price_cents',
    's1,c1,active,2026-01-02,1530',
    's2,c2,active,2026-01-03,1945',
    's3,c3,active,2026-01-04,abc',
  ];
  const { preview, refused } = await suggest([], {}, table);
  assert.equal(preview.mrr, 34.75);
  assert.equal(refused.length, 1);
});

test('takes a column of intervals and refuses the row whose interval is none', async () => {
  const { uses, stored, refused, doubts } = await suggest([
    's5,c5,active,2026-01-06,,50.00,blue moon',
  ]);
  assert.deepEqual([uses['interval'], stored], ['interval', 's1 s2 s3 s4']);
  assert.match(refused.join('\n'), /^6 .*column interval: "…"/);
  assert.match(doubts, /rows whose "interval" is no interval that is known are refused/);
  // Words that only a table understands.
  const { stored: others } = await suggest([
    's5,c5,active,2026-01-06,,50.00,fortnight',
    's6,c6,active,2026-01-06,,50.00,blue moon',
  ]);
  assert.equal(others, 's1 s2 s3 s4 s5');
});

test('asks what an unknown status is, and refuses its rows until then', async () => {
  const flying = ['s5,c5,flying,2026-01-06,,50.00,month'];
  const { stored, refused, questions, doubts } = await suggest(flying);
  assert.equal(stored, 's1 s2 s3 s4');
  assert.match(refused.join('\n'), /^6 .*column status: "…" is not in its table/);
  assert.match(doubts, /rows with other texts in "status" \(1\) are refused/);
  const [asked] = questions;
  assert.deepEqual(
    [asked?.id, asked?.chosen, asked?.choices[0]?.value],
    ['meaning:flying', '', ''],
  );
  const left = await suggest(flying, { 'meaning:flying': '' });
  assert.deepEqual([left.stored, left.questions], ['s1 s2 s3 s4', questions]);
  const said = await suggest(flying, { 'meaning:flying': 'paused' });
  assert.deepEqual([said.stored, said.preview.statuses['paused']], ['s1 s2 s3 s4 s5', 1]);
});
