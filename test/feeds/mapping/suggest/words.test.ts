import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedClock } from '../../../../src/clock.ts';
import { suggestMapping } from '../../../../src/mapping/suggest/suggest.ts';
import { now } from '../../../support/world.ts';

async function suggest(header: string, rows: readonly string[]) {
  const bytes = Buffer.from([header, ...rows, ''].join('\n'));
  const { text, preview, checks } = await suggestMapping(
    'table',
    { bytes, isWhole: true },
    { clock: new FixedClock(now) },
  );
  assert.ok('mrr' in preview, JSON.stringify(preview));
  const { statuses, mrr, refusedRows, first } = preview;
  const doubts = checks.map((each) => each.text);
  return { text, statuses: { ...statuses }, mrr, refusedRows, first, doubts };
}

const since = '2026-01-02';

test('reads how often a price is charged from the names of plans, and marks the guess', async () => {
  const { mrr, doubts } = await suggest('customer,plan,amount,created,status', [
    `C1,Pro (Annual),120.00,${since},active`,
    `C2,Pro (Monthly),12.50,${since},active`,
    `C3,Basic / quarterly,30.00,${since},active`,
    `C4,Pro (Monthly),12.50,${since},cancelled`,
  ]);
  assert.equal(mrr, 32.5);
  assert.deepEqual(doubts, ['how often the price is charged is read from the names in "plan"']);
  const partly = await suggest('customer,plan,amount,created,status', [
    `C1,Pro (Annual),120.00,${since},active`,
    `C2,Basic,10.00,${since},active`,
  ]);
  assert.match(partly.doubts.join(), /each month is a guess/);
});

test('reads the interval in the name of a price as the same word in a column of intervals', async () => {
  for (const [word, amount, mrr, isAsked] of [
    ['biweekly', '12.00', 26.07, true],
    ['bi_weekly', '12.00', 26.07, true],
    ['fortnightly', '12.00', 26.07, false],
    ['bimonthly', '60.00', 30, true],
    ['bimestriel', '60.00', 30, false],
    ['biannual', '60.00', 10, true],
    ['semiannual', '60.00', 10, false],
    ['halfyearly', '60.00', 10, false],
    ['Halbjahr', '60.00', 10, false],
    ['halfjaarlijks', '60.00', 10, false],
    ['quarterly', '60.00', 20, false],
    ['cuatrimestral', '60.00', 15, false],
    ['biennial', '60.00', 2.5, false],
    ['6_months', '60.00', 10, true],
    ['4-week', '12.00', 13.04, true],
  ] as const) {
    const named = await suggest(`customer,${word}_price,created,status`, [
      `C1,${amount},${since},active`,
    ]);
    const valued = await suggest('customer,interval,price,created,status', [
      `C1,${word},${amount},${since},active`,
    ]);
    assert.deepEqual([named.mrr, valued.mrr], [mrr, mrr], word);
    assert.equal(named.doubts.length > 0, isAsked, word);
    const isAmbiguous = word.startsWith('bi') && isAsked;
    assert.equal(valued.doubts.join().includes('may also mean'), isAmbiguous, word);
  }
  for (const word of ['semimonthly', 'bimensuel', 'every other week']) {
    const { doubts } = await suggest(`customer,${word} price,created,status`, [
      `C1,12.00,${since},active`,
    ]);
    assert.match(doubts.join(), /each month is a guess/, word);
  }
});

test('reads a count beside its unit, whatever they are called', async () => {
  const header = 'customer,billing_period,billing_period_unit,price,created,status';
  const { mrr } = await suggest(header, [
    `C1,1,month,10,${since},active`,
    `C2,3,month,30,${since},active`,
    `C3,1,year,120,${since},active`,
  ]);
  assert.equal(mrr, 30);
});

test('reads prices that name their interval, and words for no price', async () => {
  const plans = [`C4,Free,Free,${since},active`, `C5,Free,Free,${since},cancelled`];
  const { mrr, refusedRows, text } = await suggest('customer,plan,price,created,status', [
    `C1,Gold,$29/mo,${since},active`,
    `C2,Gold,"$1,029.50/mo",${since},active`,
    `C3,Gold,$9/mo,${since},cancelled`,
    ...plans,
  ]);
  assert.deepEqual([mrr, refusedRows], [1058.5, 0]);
  assert.match(text, /"intervalUnit": \{ "value": "month" \}/);
  // A column has one interval, or none that a mapping could name.
  const mixed = await suggest('customer,plan,price,created,status', [
    `C1,Gold,$29/mo,${since},active`,
    `C2,Gold,$290/yr,${since},active`,
  ]);
  assert.match(mixed.doubts.join(), /no column has the price/);
});

test('marks averages, and takes no rate, flag or amount of another kind for a price', async () => {
  const header = 'customer,bill_avg,price_hike_pct,is_premium,salary_amount,created,status';
  const { mrr, doubts, text } = await suggest(header, [
    `C1,10,1.5,1,9000,${since},active`,
    `C2,20,2.5,0,8000,${since},active`,
  ]);
  assert.equal(mrr, 30);
  assert.match(doubts.join(), /the name speaks of an average/);
  const none = await suggest(header.replace('bill_avg', 'visits'), [
    `C1,10,1.5,1,9000,${since},active`,
    `C2,20,2.5,0,8000,${since},active`,
  ]);
  assert.match(none.doubts.join(), /no column has the price/);
  assert.doesNotMatch(text + none.text, /hike|premium|salary/);
});

test('reads letters and single words in a column of statuses, and marks them', async () => {
  const letters = await suggest('customer,price,created,status', [
    `C1,10,${since},A`,
    `C2,10,${since},C`,
    `C3,10,${since},S`,
  ]);
  assert.deepEqual(letters.statuses, { active: 1, cancelled: 1, paused: 1 });
  assert.equal(letters.doubts.filter((text) => text.includes('what does it mean?')).length, 3);
  const words = await suggest('customer,price,created,policy_status', [
    `C1,10,${since},in force`,
    `C2,10,${since},lapsed`,
    `C3,10,${since},grandfathered`,
  ]);
  assert.deepEqual(words.statuses, { active: 1, expired: 1 });
  const leaving = await suggest('customer,monthly_bill,created,LeaveOrStay', [
    `C1,10,${since},Leave`,
    `C2,10,${since},Stay`,
  ]);
  assert.deepEqual(leaving.statuses, { active: 1, cancelled: 1 });
});

test('takes the time of a cancellation although what expired has none', async () => {
  const { first } = await suggest('customer,price,created,status,cancelled_at', [
    `C1,10,${since},cancelled,2026-03-04`,
    `C2,10,${since},expired,`,
    `C3,10,${since},expired,`,
    `C4,10,${since},active,`,
  ]);
  assert.deepEqual(
    first.map(({ endedAt }) => endedAt),
    ['2026-03-04', '', '', ''],
  );
});

test('takes no number of months of a contract for how long a customer has been there', async () => {
  const { first, text } = await suggest('customer,price,term_months,effective_date,status', [
    `C1,10,12,${since},active`,
    `C2,10,24,${since},active`,
  ]);
  assert.equal(first[0]?.createdAt, since);
  assert.doesNotMatch(text, /term_months/);
});
