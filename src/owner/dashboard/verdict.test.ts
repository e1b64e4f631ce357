import assert from 'node:assert/strict';
import { test } from 'node:test';
import { driverOf } from '../../metrics/explain/driver.ts';
import { movements } from '../../metrics/facts.ts';
import { type Summary, exampleFigures } from '../../metrics/figures.ts';
import type { Movements } from '../../metrics/movements.ts';
import { parseSegment } from '../../metrics/segments/segment.ts';
import { englishReader } from '../ui/formats.ts';
import { viewOf } from '../view/view.ts';
import type { ShopVisit } from '../pages.ts';
import { wordsOf } from './changes.ts';
import type { Judged } from './dashboard.ts';
import { textOf, verdict, verdictOf } from './verdict.ts';

const words = wordsOf({ ...englishReader, shop: { currency: 'USD' } });

const usual: Summary = {
  ...exampleFigures('before'),
  newSubscribers30d: 138,
  cancelled30d: 60,
  churnRate30d: 0.069,
  saveRate: 0.25,
  recoveryRate: 0.6,
  failedPayments30d: 24,
  generatedAt: '2026-11-20T12:00:00.000Z',
  currency: 'USD',
};

interface Side {
  readonly moved?: Partial<Movements>;
  readonly summary?: Partial<Summary>;
  readonly bases?: Partial<Judged['bases']>;
  readonly undefinedFigures?: ReadonlySet<string>;
}

const nothing = Object.fromEntries(movements.map((name) => [name, 0]));
/** A month like any other: 4,200 came, and 2,780 left. */
const month = { opening: 17_000, new: 4200, cancelled: 2780, closing: 18_420 };

const sideOf = ({
  moved = month,
  summary,
  bases,
  undefinedFigures = new Set(),
}: Side): Pick<Judged, 'summary' | 'bases' | 'undefinedFigures' | 'movements'> => ({
  summary: { ...usual, ...summary },
  bases: { atRisk: 10_000, dunningClosed: 100, sessionsEnded: 100, charged: 1000, ...bases },
  undefinedFigures,
  movements: { ...nothing, currency: 'USD', ...moved } as Movements,
});

const days30 = viewOf(new URLSearchParams(), Date.parse(usual.generatedAt));

function judgedOf(now: Side, before: Side = {}, over: Partial<Judged> = {}): Judged {
  const [figures, earlier] = [sideOf(now), sideOf(before)];
  const { view = days30, firstDay = 0 } = over;
  const isCompared = firstDay <= view.before.from && view.comparison === 'before';
  const found = isCompared ? driverOf(figures.movements, earlier.movements) : undefined;
  const driver = found && { ...over.driver, ...found };
  return { ...figures, earlier, view, firstDay, driver };
}

const judge = (...parts: Parameters<typeof judgedOf>) => verdictOf(judgedOf(...parts), words);

const say = (...parts: Parameters<typeof judge>) =>
  judge(...parts)
    .map(textOf)
    .join(' ');

const monthly = { unit: 'month', count: 1 } as const;
/** What is given of a driver is only where most of it was. */
const where = (of: Omit<NonNullable<Judged['driver']>, 'movement' | 'from'>) => ({
  driver: of as NonNullable<Judged['driver']>,
});

const grown = { opening: 18_420, new: 5920, cancelled: 3157, closing: 21_183 };
const steady = { opening: 18_420, new: 4200, cancelled: 4200, closing: 18_420 };
const unmoved = { opening: 18_420, closing: 18_420 };

const cases: readonly (readonly [title: string, said: string, ...Parameters<typeof judge>])[] = [
  [
    'growth, with twice as many failures among twice as many payments',
    'Better: MRR up $2,763 (15%). Most of it: $1,720 more from new subscriptions (+41%), mostly on Coffee, billed every month. No rate changed beyond chance.',
    {
      moved: grown,
      summary: { newSubscribers30d: 194, failedPayments30d: 317 },
      bases: { charged: 3080 },
    },
    { summary: { failedPayments30d: 134 }, bases: { charged: 1300 } },
    where({ planName: 'Coffee', interval: monthly }),
  ],
  [
    'a price rise',
    'Better: MRR up $2,400 (13%). Most of it: $2,400 from higher prices or quantities, nothing before. No rate changed beyond chance.',
    { moved: { ...steady, expansion: 2400, closing: 20_820 } },
  ],
  [
    'churn on one plan',
    'Worse: MRR down $2,000 (11%). More than all of it: $3,420 more lost to cancellations (+123%), mostly on Tea. Churn rate rose from 3.1% to 6.2%.',
    {
      moved: { opening: 18_420, new: 4200, cancelled: 6200, closing: 16_420 },
      summary: { cancelled30d: 134, churnRate30d: 0.062 },
    },
    { summary: { churnRate30d: 0.031 } },
    where({ planName: 'Tea' }),
  ],
  [
    'fewer cancellations',
    'Better: MRR up $2,000 (11%). More than all of it: $2,200 less lost to cancellations (−79%). Churn rate fell from 6.9% to 2.1%.',
    {
      moved: { opening: 18_420, new: 2580, cancelled: 580, closing: 20_420 },
      summary: { cancelled30d: 13, churnRate30d: 0.021 },
    },
  ],
  [
    'nothing that moved',
    'About the same: MRR $18,420. Nothing came or left. No rate changed beyond chance.',
    { moved: unmoved },
    { moved: unmoved },
  ],
  [
    'what came and left making up for each other',
    'About the same: MRR $18,420. $4,200 from new subscriptions, $4,200 lost to cancellations. No rate changed beyond chance.',
    { moved: steady },
  ],
  [
    'growth as before',
    'Better: MRR up $1,420 (7.7%). $4,200 from new subscriptions, $2,780 lost to cancellations. No rate changed beyond chance.',
    { moved: { ...month, opening: 18_420, closing: 19_840 } },
  ],
  [
    'less growth than before, of more that came and left',
    'Better: MRR up $2,000 (11%). $10,000 from new subscriptions, $8,000 lost to cancellations. No rate changed beyond chance.',
    { moved: { opening: 18_420, new: 10_000, cancelled: 8000, closing: 20_420 } },
    { moved: { opening: 16_220, new: 4200, cancelled: 2000, closing: 18_420 } },
  ],
  [
    'a change of up to a hundredth of MRR',
    'About the same: MRR up $184 (1%). $4,200 from new subscriptions, $4,200 lost to cancellations. No rate changed beyond chance.',
    { moved: { ...steady, resumed: 184.1, closing: 18_604.1 } },
  ],
  [
    'a change of a little more',
    'Better: MRR up $184 (1%). $4,200 from new subscriptions, $4,200 lost to cancellations. No rate changed beyond chance.',
    { moved: { ...steady, resumed: 184.3, closing: 18_604.3 } },
  ],
  [
    'a shop of 12 subscriptions',
    'Better: MRR up $61.20 (20%). Most of it: $61.20 from new subscriptions, nothing before; that may be chance. Too few cases to judge more.',
    {
      moved: { opening: 306, new: 61.2, closing: 367.2 },
      summary: { newSubscribers30d: 2, cancelled30d: 0, failedPayments30d: 0, churnRate30d: 0 },
      bases: { atRisk: 12, dunningClosed: 0, sessionsEnded: 0, charged: 9 },
    },
    {
      moved: { opening: 306, closing: 306 },
      summary: { newSubscribers30d: 0, cancelled30d: 1, failedPayments30d: 1, churnRate30d: 0 },
      bases: { atRisk: 9, dunningClosed: 0, sessionsEnded: 0, charged: 9 },
    },
  ],
  [
    'data that begins within the period before',
    'Better: MRR up $1,420 (8.4%). $4,200 from new subscriptions, $2,780 lost to cancellations. The data begins Oct 1, 2026, too late to compare.',
    {},
    { moved: unmoved },
    { firstDay: Date.parse('2026-10-01T00:00:00Z') },
  ],
  [
    'no period before',
    'MRR is $4,200. $4,200 from new subscriptions. There is no earlier data to compare with.',
    { moved: { new: 4200, closing: 4200, opening: 0 } },
    {},
    { firstDay: Date.parse('2026-11-01T00:00:00Z') },
  ],
  [
    'MRR from nothing',
    'Better: MRR up $4,200, from nothing. Most of it: $4,200 from new subscriptions, nothing before. No rate changed beyond chance.',
    { moved: { opening: 0, new: 4200, closing: 4200 } },
    { moved: { opening: 0, closing: 0 }, summary: { newSubscribers30d: 0 } },
  ],
  [
    'what did not leave any more',
    'Better: MRR up $2,780 (15%). Most of it: nothing lost to cancellations, $2,780 before; that may be chance. No rate changed beyond chance.',
    { moved: { opening: 18_420, new: 2780, closing: 21_200 } },
  ],
];

const yearly = viewOf(new URLSearchParams('compare=year'), Date.parse(usual.generatedAt));
const yearBefore: Side = {
  moved: { opening: 6000, new: 650, cancelled: 650, closing: 6000 },
  summary: { mrr: 6000, churnRate30d: 0.1 },
};

for (const [title, said, now, before, over] of cases) {
  test(`answers for ${title}`, () => {
    assert.equal(say(now, before, over), said);
  });
}

const rest = (now: Side, before: Side = {}) =>
  say({ moved: unmoved, ...now }, { moved: unmoved, ...before }).replace(/^.*came or left\. /, '');

test('names what got worse beyond chance, seen against its base', () => {
  const failures = { failedPayments30d: 60 };
  const tell = 'The share of payments that failed rose from 2.4% to 6.0%.';
  assert.equal(rest({ summary: failures }), tell);
  // Something else that got better by more is not told of.
  assert.equal(rest({ summary: { ...failures, newSubscribers30d: 300 } }), tell);
  assert.equal(rest({ summary: { recoveryRate: 0.4 } }), 'Recovery rate fell from 60.0% to 40.0%.');
  assert.equal(
    rest({ summary: { newSubscribers30d: 80 } }),
    'New subscribers fell from 138 to 80.',
  );
  assert.equal(
    rest({ summary: { newSubscribers30d: 200 } }),
    'New subscribers rose from 138 to 200.',
  );
  // Cancellations are named if they changed and the churn rate did not.
  assert.equal(
    rest({ summary: { cancelled30d: 130 } }),
    'The share of subscriptions that were cancelled rose from 0.6% to 1.3%.',
  );
  // As many failures among a third of the payments.
  assert.equal(
    rest({ bases: { charged: 300 } }),
    'The share of payments that failed rose from 2.4% to 8.0%.',
  );
});

test('says a rate of few cases as a fraction, and none of too few', () => {
  const few = { bases: { dunningClosed: 40 } };
  assert.equal(
    rest({ ...few, summary: { recoveryRate: 0.1 } }, few),
    'Recovery rate fell from 24 of 40 to 4 of 40.',
  );
  assert.equal(
    rest({ summary: { recoveryRate: 0.1 }, bases: { dunningClosed: 9 } }),
    'No rate changed beyond chance.',
  );
});

test('does not judge a rate without cases in one of the periods', () => {
  const none = { undefinedFigures: new Set(['churnRate30d']) };
  const high = { summary: { churnRate30d: 0.5 } };
  assert.equal(rest(none, high), 'No rate changed beyond chance.');
  assert.equal(rest(high, none), 'No rate changed beyond chance.');
});

test('leads to the rows of what it says', () => {
  const rowsOf = (over: Partial<Judged>) =>
    judge({ moved: grown, summary: { churnRate30d: 0.1 } }, {}, over).map(({ rows }) =>
      rows ? [rows.rows, rows.filter] : undefined,
    );
  assert.deepEqual(rowsOf({}), [
    undefined,
    ['/revenue/movements', { movement: 'new' }],
    ['/churn', undefined],
  ]);
  // Movements are not listed for a segment.
  const view = { ...days30, segment: {} };
  assert.deepEqual(rowsOf({ view })[1], ['/subscriptions', { figure: 'new' }]);
});

test('shows the whole of a sentence that leads nowhere, as in a segment', () => {
  const ended = { opening: 18_420, new: 4200, cancelled: 4200, expired: 2400, closing: 16_020 };
  const judged = judgedOf({ moved: ended }, { moved: { ...steady, expired: 400, resumed: 400 } });
  const visit = { ...englishReader, shop: { id: 1, currency: 'USD' } } as ShopVisit;
  const view = { ...days30, segment: { plan: 18 } };
  assert.equal(
    String(verdict(visit, { ...judged, view })).trim(),
    '<strong>Worse: MRR down $2,400 (13%).</strong> Most of it: $2,000 more lost to planned ends (+500%). No rate changed beyond chance.',
  );
});

test('compares with the end of the same period a year before, as the cards do', () => {
  const shrunk = { opening: 18_420, new: 2200, cancelled: 2440, closing: 18_180 };
  const now = { moved: shrunk, summary: { churnRate30d: 0.06 } };
  assert.equal(
    say(now, yearBefore, { view: yearly }),
    'Better: MRR up $12,180 in a year (203%). In this period: $2,440 lost to cancellations, $2,200 from new subscriptions. Churn rate fell from 10.0% to 6.0%.',
  );
  const [smaller, same, none] = [19_000, 18_180, 0].map((mrr) =>
    say({ moved: shrunk }, { summary: { mrr } }, { view: yearly }).replace(/ In this .*/, ''),
  );
  assert.equal(smaller, 'Worse: MRR down $820 in a year (4.3%).');
  assert.equal(same, 'About the same: MRR $18,180.');
  assert.equal(none, 'Better: MRR up $18,180 in a year, from nothing.');
  assert.match(
    say({ moved: unmoved }, yearBefore, { view: yearly }),
    /^Better: .* In this period: nothing came or left\. /,
  );
  // Where nothing is known of the year before, it is the period alone.
  assert.match(
    say(now, yearBefore, { view: yearly, firstDay: yearly.before.until + 1 }),
    /^Worse: MRR down \$240 \(1\.3%\)\. \$2,440 lost .* There is no earlier data to compare with\.$/,
  );
});

test('says since when MRR changed, if the cards compare it with an earlier time', () => {
  const shrunk = { opening: 18_420, new: 2200, cancelled: 2440, closing: 18_180 };
  const of = (address: string) => {
    const view = viewOf(new URLSearchParams(address), Date.parse(usual.generatedAt));
    return textOf(judge({ moved: shrunk }, {}, { view })[0] ?? { text: '' });
  };
  // The cards compare 20 November with 20 October.
  assert.equal(of('period=month'), 'Worse: MRR down $240 since Nov 1, 2026 (1.3%).');
  assert.equal(of('period=last-month'), 'Worse: MRR down $240 (1.3%).');
  assert.equal(of('from=2026-11-01&to=2026-11-19'), 'Worse: MRR down $240 (1.3%).');
});

test('does not judge a segment by what became of its subscriptions', () => {
  const gone = { opening: 356, cancelled: 356, closing: 0 };
  const judged = (text: string) => {
    const of = parseSegment(new URLSearchParams(text));
    const view = viewOf(new URLSearchParams(), Date.parse(usual.generatedAt), of);
    return say({ moved: gone }, {}, { view });
  };
  const why = 'Not judged: today’s status or age decides what such a segment gained and lost.';
  for (const text of ['status=paused', 'age=12-', 'plan=18&status=active']) {
    assert.equal(judged(text), `MRR is $0.00. ${why}`, text);
  }
  assert.match(judged('plan=18'), /^Worse: MRR down \$356 \(100%\)\./);
});
