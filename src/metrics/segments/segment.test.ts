import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createdWithin, parseSegment, segmentQuery } from './segment.ts';

const parse = (text: string) => parseSegment(new URLSearchParams(text));

test('reads all conditions, and writes them in one order', () => {
  const text = 'price=10-20&age=3-6&status=active&interval=week-2&product=81&group=A+%26+B&plan=11';
  const { segment, problem } = parse(text);
  assert.equal(problem, undefined);
  assert.deepEqual(segment, {
    plan: 11,
    group: 'A & B',
    product: 81,
    interval: 'week 2',
    status: 'active',
    age: '3-6',
    price: { from: '10', to: '20' },
  });
  assert.equal(
    String(segmentQuery(segment)),
    'plan=11&group=A+%26+B&product=81&interval=week-2&status=active&age=3-6&price=10-20',
  );
});

test('takes a price from the two fields of a form, and either end alone', () => {
  for (const [text, price] of [
    ['price=10&price=20.5', { from: '10', to: '20.5' }],
    ['price=10&price=', { from: '10', to: undefined }],
    ['price=&price=20', { from: undefined, to: '20' }],
    ['price=10-', { from: '10', to: undefined }],
    ['price=-20', { from: undefined, to: '20' }],
  ] as const) {
    assert.deepEqual(parse(text), { segment: { price }, problem: undefined, wrong: [] }, text);
  }
});

test('has no segment without conditions, or with empty ones, as forms send them', () => {
  for (const text of ['', 'days=90', 'plan=&group=&status=&price=&price=']) {
    assert.deepEqual(parse(text), { segment: undefined, problem: undefined, wrong: [] }, text);
  }
});

test('leaves out what is no condition, and says what would be one', () => {
  const { segment, problem, wrong } = parse('plan=11&plan=12&age=2-4&status=paused');
  assert.deepEqual(wrong, ['plan', 'age']);
  assert.deepEqual(segment, { status: 'paused' });
  assert.equal(
    problem,
    '“11” and “12” are too many. Choose one plan. “2-4” is not an age in months. Choose 0-1, 1-3, 3-6, 6-12 or 12-.',
  );
  for (const text of [
    'plan=0',
    'plan=1e1',
    'plan=9007199254740992',
    'interval=month-0',
    'interval=month-1001',
    'interval=month-1-1',
    'price=5-4',
    'price=a-',
    'price=--',
    'group=a%00',
  ]) {
    assert.notEqual(parse(text).problem, undefined, text);
  }
});

test('ages are whole months of the calendar, and each band ends where the next begins', () => {
  const now = Date.parse('2026-03-31T12:00:00Z');
  assert.deepEqual(createdWithin('0-1', now), {
    after: '2026-02-28T12:00:00.000Z',
    until: 'infinity',
  });
  assert.deepEqual(createdWithin('1-3', now), {
    after: '2025-12-31T12:00:00.000Z',
    until: '2026-02-28T12:00:00.000Z',
  });
  assert.deepEqual(createdWithin('12-', now), {
    after: '-infinity',
    until: '2025-03-31T12:00:00.000Z',
  });
});
