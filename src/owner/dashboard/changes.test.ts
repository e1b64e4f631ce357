import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Summary } from '../../metrics/figures.ts';
import { type Change, type Compared, changeOf } from './changes.ts';
import { viewOf } from '../view/view.ts';
import { allFigures as figures } from './figures.ts';

const nothing: Summary = {
  activeSubscribers: 0,
  pausedSubscribers: 0,
  mrr: 0,
  revenue30d: 0,
  newSubscribers30d: 0,
  cancelled30d: 0,
  churnRate30d: 0,
  saveRate: 0,
  cancelSessions30d: 0,
  dunningActive: 0,
  recoveryRate: 0,
  failedPayments30d: 0,
  avgSubscriptionValue: 0,
  upcomingRenewals7d: 0,
  upcomingRenewalsValue7d: 0,
  generatedAt: '2026-11-20T12:00:00.000Z',
  currency: 'USD',
};
type Field = (typeof figures)[number]['field'];

type Over = Partial<Omit<Compared, 'earlier'>> & { earlier?: Partial<Compared['earlier']> };

function compare(field: Field, from: Partial<Summary>, to: Partial<Summary>, over: Over = {}) {
  const figure = figures.find((each) => each.field === field);
  assert.ok(figure);
  const defined = {
    undefinedFigures: new Set<string>(),
    bases: { atRisk: 100, dunningClosed: 100, sessionsEnded: 100 },
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

test('shows each of the fifteen figures', () => {
  const { generatedAt: _at, currency: _currency, ...counted } = nothing;
  const fields = Object.keys(counted);
  assert.equal(fields.length, 15);
  assert.deepEqual(figures.map(({ field }) => field).toSorted(), fields.toSorted());
});

test('reports a relative change, and an absolute one from zero, from a loss and for shares', () => {
  assert.deepEqual(change('mrr', { mrr: 200 }, { mrr: 250 }), {
    from: 200,
    kind: 'relative',
    by: 0.25,
    judgement: 'better',
  });
  const loss = change('revenue30d', { revenue30d: -50 }, { revenue30d: 100 });
  assert.deepEqual([loss?.kind, loss?.by, loss?.judgement], ['absolute', 150, 'better']);
  const first = change('cancelled30d', {}, { cancelled30d: 3 });
  assert.deepEqual([first?.kind, first?.by, first?.judgement], ['absolute', 3, 'worse']);
  const share = change('saveRate', { saveRate: 0.5 }, { saveRate: 0.25 });
  assert.deepEqual([share?.kind, share?.by, share?.judgement], ['absolute', -0.25, 'worse']);
  const neither = change('pausedSubscribers', { pausedSubscribers: 1 }, { pausedSubscribers: 2 });
  assert.deepEqual([neither?.by, neither?.judgement], [1, undefined]);
});

test('compares a rate that fell to 0, but not one with nothing to divide by, then or now', () => {
  const rate = { recoveryRate: 0.1 };
  const undefinedFigures = new Set(['recoveryRate']);
  assert.equal(change('recoveryRate', rate, {})?.judgement, 'worse');
  assert.equal(compare('recoveryRate', rate, {}, { undefinedFigures }), 'No failures resolved yet');
  assert.equal(
    compare('recoveryRate', {}, rate, { earlier: { undefinedFigures } }),
    'Nothing to compare with',
  );
  const none = new Set(['avgSubscriptionValue']);
  const without = { undefinedFigures: none };
  assert.equal(compare('avgSubscriptionValue', {}, {}, without), 'No active subscriptions then');
  assert.equal(compare('avgSubscriptionValue', {}, {}), undefined);
  assert.equal(compare('mrr', {}, { mrr: 1 }, { firstDay: Infinity }), 'No earlier data');
});
