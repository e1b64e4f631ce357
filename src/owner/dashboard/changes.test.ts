import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowOf } from '../../metrics/facts.ts';
import { type Summary, toSummary } from '../../metrics/figures.ts';
import { parseSegment } from '../../metrics/segments/segment.ts';
import { englishReader } from '../ui/formats.ts';
import { type Change, type Compared, changeOf, showValue, wordsOf } from './changes.ts';
import { viewOf } from '../view/view.ts';
import { allFigures as figures } from './figures.ts';

const nothing = toSummary(rowOf([], true), 'USD', Date.parse('2026-11-20T12:00:00Z'));
type Field = (typeof figures)[number]['field'];

type Over = Partial<Omit<Compared, 'earlier'>> & { earlier?: Partial<Compared['earlier']> };

function compare(field: Field, from: Partial<Summary>, to: Partial<Summary>, over: Over = {}) {
  const figure = figures.find((each) => each.field === field);
  assert.ok(figure);
  const defined = {
    undefinedFigures: new Set<string>(),
    bases: { atRisk: 100, dunningClosed: 100, sessionsEnded: 100, charged: 100 },
  };
  return changeOf(figure, {
    ...defined,
    summary: { ...nothing, ...to },
    firstDay: 0,
    view: viewOf(new URLSearchParams(), Date.parse('2026-11-20T12:00:00Z')),
    ...over,
    earlier: { ...defined, summary: { ...nothing, ...from }, ...over.earlier },
  });
}

function change(...parts: Parameters<typeof compare>): Change | undefined {
  const found = compare(...parts);
  return typeof found === 'string' ? undefined : found;
}

test('shows each figure', () => {
  const { generatedAt: _at, currency: _currency, ...counted } = nothing;
  const fields = Object.keys(counted);
  assert.deepEqual(figures.map(({ field }) => field).toSorted(), fields.toSorted());
});

test('reports a relative change, and an absolute one from zero, from a loss and for shares', () => {
  assert.deepEqual(change('mrr', { mrr: 200 }, { mrr: 250 }), {
    from: 200,
    kind: 'relative',
    by: 0.25,
    judgement: 'better',
    significance: undefined,
  });
  const loss = change('revenue30d', { revenue30d: -50 }, { revenue30d: 100 });
  assert.deepEqual([loss?.kind, loss?.by, loss?.judgement], ['absolute', 150, 'better']);
  const first = change('cancelled30d', {}, { cancelled30d: 13 });
  assert.deepEqual([first?.kind, first?.by, first?.judgement], ['absolute', 13, 'worse']);
  const share = change('saveRate', { saveRate: 0.5 }, { saveRate: 0.25 });
  assert.deepEqual([share?.kind, share?.by, share?.judgement], ['absolute', -0.25, 'worse']);
  const neither = change('pausedSubscribers', { pausedSubscribers: 1 }, { pausedSubscribers: 2 });
  assert.deepEqual([neither?.by, neither?.judgement], [1, undefined]);
});

test('compares a rate that fell to 0, but not one with nothing to divide by, then or now', () => {
  const rate = { recoveryRate: 0.1 };
  const undefinedFigures = new Set(['recoveryRate']);
  assert.equal(change('recoveryRate', rate, {})?.judgement, 'worse');
  assert.equal(compare('recoveryRate', rate, {}, { undefinedFigures }), 'No failure was resolved');
  assert.equal(
    compare('recoveryRate', {}, rate, { earlier: { undefinedFigures } }),
    'Nothing to compare with',
  );
  const none = new Set(['avgSubscriptionValue']);
  const without = { undefinedFigures: none };
  assert.equal(compare('avgSubscriptionValue', {}, {}, without), 'No active subscriptions then');
  const average = change(
    'avgSubscriptionValue',
    { avgSubscriptionValue: 30 },
    { avgSubscriptionValue: 33 },
  );
  assert.deepEqual([average?.by, average?.judgement], [0.1, undefined]);
  assert.equal(compare('upcomingRenewals7d', {}, {}), 'Only known from today');
  assert.equal(compare('mrr', {}, { mrr: 1 }, { firstDay: Infinity }), 'No earlier data');
  // In the period compared with, 21 September to 21 October.
  const incomplete = { firstDay: Date.parse('2026-10-01T00:00:00Z') };
  assert.equal(compare('revenue30d', {}, { revenue30d: 1 }, incomplete), 'Earlier data incomplete');
  assert.equal(change('mrr', { mrr: 1 }, { mrr: 2 }, incomplete)?.by, 1);
});

test('judges a number against its base, too', () => {
  const payments = (from: number, to: number, charged: number) => {
    const bases = { atRisk: 0, dunningClosed: 0, sessionsEnded: 0 };
    const found = change(
      'failedPayments30d',
      { failedPayments30d: from },
      { failedPayments30d: to },
      { bases: { ...bases, charged }, earlier: { bases: { ...bases, charged: 1300 } } },
    );
    return [found?.judgement, found?.significance?.doubt];
  };
  // Twice as many among twice as many payments is a change, but no bad one.
  assert.deepEqual(payments(134, 317, 3080), [undefined, undefined]);
  assert.deepEqual(payments(134, 317, 1300), ['worse', undefined]);
  assert.deepEqual(payments(134, 60, 1300), ['better', undefined]);
  // More, but of so many payments that the share fell.
  assert.deepEqual(payments(134, 317, 9000), [undefined, undefined]);
});

test('judges by the rule of the verdict: what may be chance is neither better nor worse', () => {
  const judge = (...parts: Parameters<typeof compare>) => {
    const { judgement, significance: found } = change(...parts) ?? {};
    return [judgement, found?.doubt];
  };
  const [low, high] = [{ churnRate30d: 0.06 }, { churnRate30d: 0.09 }];
  const of = (now: number, before: number): Over => ({
    bases: { atRisk: now, dunningClosed: 0, sessionsEnded: 0, charged: 0 },
    earlier: { bases: { atRisk: before, dunningClosed: 0, sessionsEnded: 0, charged: 0 } },
  });
  assert.deepEqual(judge('churnRate30d', low, high, of(9000, 9000)), ['worse', undefined]);
  assert.deepEqual(judge('churnRate30d', low, high, of(90, 90)), [undefined, 'No clear change']);
  assert.deepEqual(judge('churnRate30d', low, high, of(90, 9)), [undefined, 'Too few before']);
  assert.deepEqual(judge('churnRate30d', low, high, of(9, 90)), [undefined, 'Too few now']);
  assert.deepEqual(judge('churnRate30d', low, high, of(9, 9)), [undefined, 'Too few to judge']);
  const counts = (from: number, to: number) =>
    judge('cancelled30d', { cancelled30d: from }, { cancelled30d: to });
  assert.deepEqual(counts(2, 5), [undefined, 'Too few to judge']);
  assert.deepEqual(counts(20, 25), [undefined, 'No clear change']);
  assert.deepEqual(counts(25, 5), ['better', undefined]);
  // Amounts are no numbers of events.
  assert.deepEqual(judge('mrr', { mrr: 100 }, { mrr: 99 }), ['worse', undefined]);
});

test('judges what holds at an instant by what came and what left', () => {
  const judge = (from: number, to: number, newSubscribers30d: number) => {
    const now = { activeSubscribers: to, newSubscribers30d };
    const found = change('activeSubscribers', { activeSubscribers: from }, now);
    return [found?.judgement, found?.significance?.doubt];
  };
  assert.deepEqual(judge(1164, 1248, 176), ['better', undefined]);
  assert.deepEqual(judge(120, 119, 20), [undefined, 'No clear change']);
  assert.deepEqual(judge(11, 10, 0), [undefined, 'Too few to judge']);
  assert.deepEqual(judge(120, 80, 5), ['worse', undefined]);
  // Those that came back are not new.
  assert.deepEqual(judge(100, 120, 0), ['better', undefined]);
  // 20 more than a year before. As 21 came in 30 days, about 255 did in that year.
  const since = (address: string, newSubscribers30d: number) => {
    const at = Date.parse('2026-11-02T00:00:00Z');
    const found = change(
      'activeSubscribers',
      { activeSubscribers: 980 },
      { activeSubscribers: 1000, newSubscribers30d },
      { view: viewOf(new URLSearchParams(address), at) },
    );
    return found?.significance?.doubt;
  };
  assert.equal(since('compare=year', 21), 'No clear change');
  assert.equal(since('', 21), undefined);
  // In the first day of a month, since the first day of the month before.
  assert.equal(since('period=month', 10), 'No clear change');
  assert.equal(since('period=month', 1), undefined);
  const outstanding = change(
    'dunningActive',
    { dunningActive: 5 },
    { dunningActive: 6, failedPayments30d: 11 },
  );
  assert.deepEqual(
    [outstanding?.judgement, outstanding?.significance?.doubt],
    [undefined, 'No clear change'],
  );
});

test('writes changes with one decimal at most, and rates of few cases as fractions', () => {
  const words = wordsOf({ ...englishReader, shop: { currency: 'USD' } });
  const write = (format: 'money' | 'share', by: number) =>
    words.change({ format }, { kind: format === 'share' ? 'absolute' : 'relative', by });
  assert.deepEqual(
    [0.0084, -0.0772, 0.0004, 0.414, 12.5].map((by) => write('money', by)),
    ['0.8%', '7.7%', '<0.1%', '41%', '1,250%'],
  );
  assert.deepEqual(
    [0.0104, -0.0001, 0.125].map((by) => write('share', by)),
    ['1 point', '<0.1 points', '12.5 points'],
  );
  const churnRate = figures.find(({ field }) => field === 'churnRate30d');
  assert.ok(churnRate);
  const show = (atRisk: number) =>
    showValue(words, churnRate, {
      summary: { ...nothing, churnRate30d: 0.1667 },
      bases: { atRisk, dunningClosed: 0, sessionsEnded: 0, charged: 0 },
      undefinedFigures: new Set(),
    });
  assert.deepEqual([12, 1200].map(show), ['2 of 12', '16.7%']);
});

test('has no better or worse in a segment by what became of its subscriptions', () => {
  const found = ['status=active', 'age=0-1', 'plan=18'].map((text) => {
    const of = parseSegment(new URLSearchParams(text));
    const view = viewOf(new URLSearchParams(), Date.parse('2026-11-20T12:00:00Z'), of);
    return change('mrr', { mrr: 200 }, { mrr: 250 }, { view });
  });
  assert.deepEqual(
    found.map((each) => [each?.by, each?.judgement]),
    [
      [0.25, undefined],
      [0.25, undefined],
      [0.25, 'better'],
    ],
  );
});
