import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Summary, exampleFigures } from '../../metrics/figures.ts';
import type { ShopVisit } from '../pages.ts';
import { viewOf } from '../view/view.ts';
import type { Figures } from './dashboard.ts';
import { type Judged, verdictOf } from './verdict.ts';
import { wordsOf } from './words.ts';

const visit = { request: { headers: {} }, shop: { currency: 'USD' } } as unknown as ShopVisit;
const words = wordsOf(visit);

const quiet: Summary = {
  ...exampleFigures('before'),
  activeSubscribers: 900,
  pausedSubscribers: 20,
  mrr: 30_000,
  revenue30d: 31_000,
  newSubscribers30d: 80,
  cancelled30d: 60,
  churnRate30d: 0.069,
  saveRate: 0.25,
  cancelSessions30d: 110,
  dunningActive: 7,
  recoveryRate: 0.6,
  failedPayments30d: 24,
  avgSubscriptionValue: 34,
  upcomingRenewals7d: 200,
  upcomingRenewalsValue7d: 7000,
  generatedAt: '2026-11-20T12:00:00.000Z',
  currency: 'USD',
};

interface Side {
  readonly summary?: Partial<Summary>;
  readonly bases?: Partial<Figures['bases']>;
  readonly undefinedFigures?: ReadonlySet<string>;
}

const figures = ({ summary, bases, undefinedFigures = new Set() }: Side): Figures => ({
  summary: { ...quiet, ...summary },
  bases: { atRisk: 10_000, dunningClosed: 100, sessionsEnded: 100, ...bases },
  undefinedFigures,
});

function say(now: Side, before: Side = {}, over: Partial<Judged> = {}): string {
  const view = viewOf(new URLSearchParams(), Date.parse(quiet.generatedAt));
  const judged = { ...figures(now), earlier: figures(before), view, firstDay: 0, reasons: [] };
  return verdictOf({ ...judged, ...over }, words).join(' ');
}

const reason = (name: Judged['reasons'][number]['reason'], count: number) => ({
  reason: name,
  saved: 1,
  cancelled: count - 1,
  abandoned: 0,
});

test('says what became of churn, of failed payments and of the reasons', () => {
  assert.equal(
    say(
      { summary: { failedPayments30d: 42 } },
      { summary: { churnRate30d: 0.078 } },
      { reasons: [reason('not_using', 12), reason('too_expensive', 30)] },
    ),
    'Churn 6.9%, down 0.9 points. Failed payments rose from 24 to 42. “Too expensive” leads the named reasons (30 of 42).',
  );
});

const cases: readonly (readonly [title: string, Side, Side, string])[] = [
  ['nothing has changed', {}, {}, 'Churn 6.9%, as before. Nothing else changed beyond chance.'],
  [
    'a change of churn is no larger than chance',
    { bases: { atRisk: 900 } },
    { summary: { churnRate30d: 0.078 }, bases: { atRisk: 900 } },
    'Churn 6.9%, no clear change (7.8% before). Nothing else changed beyond chance.',
  ],
  [
    'there are too few subscriptions',
    { bases: { atRisk: 9 } },
    { summary: { churnRate30d: 0.2 } },
    'Churn 6.9%, of only 9 subscriptions: too few to judge. Nothing else changed beyond chance.',
  ],
  [
    'there were too few subscriptions before',
    {},
    { summary: { churnRate30d: 0.2 }, bases: { atRisk: 6 } },
    'Churn 6.9%. Only 6 subscriptions before: too few to compare with. Nothing else changed beyond chance.',
  ],
  [
    'there are and were too few subscriptions',
    { bases: { atRisk: 9 } },
    { summary: { churnRate30d: 0.2 }, bases: { atRisk: 6 } },
    'Churn 6.9%, of only 9 subscriptions, and 6 before: too few to judge. Nothing else changed beyond chance.',
  ],
  [
    'there are too few payments to judge',
    { summary: { failedPayments30d: 9 } },
    { summary: { failedPayments30d: 0 } },
    'Churn 6.9%, as before. Nothing else changed beyond chance.',
  ],
  [
    'there are just enough',
    { summary: { failedPayments30d: 10 } },
    { summary: { failedPayments30d: 0 } },
    'Churn 6.9%, as before. Failed payments rose from 0 to 10.',
  ],
  [
    'one figure got worse, and another better by more',
    { summary: { newSubscribers30d: 200, failedPayments30d: 42 } },
    {},
    'Churn 6.9%, as before. Failed payments rose from 24 to 42.',
  ],
  [
    'two got better',
    { summary: { newSubscribers30d: 200, failedPayments30d: 8 } },
    {},
    'Churn 6.9%, as before. New subscribers rose from 80 to 200.',
  ],
  [
    'a rate fell',
    { summary: { recoveryRate: 0.4 } },
    {},
    'Churn 6.9%, as before. Recovery rate fell from 60% to 40%.',
  ],
  [
    'a rate has few cases',
    { summary: { recoveryRate: 0.1 }, bases: { dunningClosed: 9 } },
    {},
    'Churn 6.9%, as before. Nothing else changed beyond chance.',
  ],
  [
    'a rate fell to nothing, for certain',
    { summary: { churnRate30d: 0 } },
    { summary: { churnRate30d: 1 } },
    'Churn 0%, down 100 points. Nothing else changed beyond chance.',
  ],
  [
    'there was nothing to lose',
    { undefinedFigures: new Set(['churnRate30d']) },
    {},
    'No subscriptions to lose. Nothing else changed beyond chance.',
  ],
  [
    'there was nothing to lose before',
    {},
    { undefinedFigures: new Set(['churnRate30d']) },
    'Churn 6.9%. Nothing else changed beyond chance.',
  ],
];

for (const [title, now, before, expected] of cases) {
  test(`judges by its rules when ${title}`, () => {
    assert.equal(say(now, before), expected);
  });
}

test('says that there is nothing to compare with in a new shop', () => {
  assert.equal(
    say({}, {}, { firstDay: Date.parse('2026-11-01') }),
    'Churn 6.9%. There is no earlier data to compare with.',
  );
});

test('says when the data begins, if that is within the period compared with', () => {
  assert.equal(
    say({}, {}, { firstDay: Date.parse('2026-10-01') }),
    'Churn 6.9%. The data begins Oct 1, 2026, too late to compare.',
  );
});

test('names no reason that does not lead, or of too few sessions, or unknown', () => {
  const reasons = (...found: Judged['reasons']) => say({}, {}, { reasons: found });
  assert.doesNotMatch(reasons(reason('not_using', 20), reason('too_expensive', 20)), /leads/);
  assert.doesNotMatch(reasons(reason('not_using', 9)), /leads/);
  assert.doesNotMatch(reasons(reason('unknown', 90), reason('other', 90)), /leads/);
  assert.match(
    reasons(reason('unknown', 90), reason('not_using', 10)),
    /“Not using it” leads the named reasons \(10 of 100\)\.$/,
  );
});
