import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateShop } from './generate.ts';
import type { DemoRecord } from './records.ts';

const END = '2026-11-20T12:00:00.000Z';
const RECORDS = [
  ...generateShop({
    subscriptions: 6000,
    seed: 3,
    endAt: Date.parse(END),
    currency: 'USD',
    minorDigits: 2,
  }),
];

type Of<T extends DemoRecord['type']> = Extract<DemoRecord, { type: T }>;

function only<T extends DemoRecord['type']>(type: T): Of<T>[] {
  return RECORDS.filter((record): record is Of<T> => record.type === type);
}

function share<T>(items: T[], matches: (item: T) => boolean): number {
  return items.filter(matches).length / items.length;
}

function between(value: number, low: number, high: number, what: string): void {
  assert.ok(value >= low && value <= high, `${what} is ${value}, not from ${low} to ${high}`);
}

test('generates a realistic shop', () => {
  const subscriptions = only('subscription');
  const payments = only('payment');
  const sessions = only('cancellation');
  const has = (status: string): number => share(subscriptions, (one) => one.status === status);
  between(has('active'), 0.3, 0.6, 'active');
  between(has('paused'), 0.005, 0.05, 'paused');
  between(has('cancelled'), 0.3, 0.65, 'cancelled');
  between(has('expired'), 0.02, 0.12, 'expired');
  between(has('failed'), 0.003, 0.04, 'failed');
  between(payments.length / subscriptions.length, 2.5, 3.5, 'payments per subscription');
  const lines = subscriptions.reduce((sum, one) => sum + one.lines.length, 0);
  between(lines / subscriptions.length, 1.3, 1.5, 'lines per subscription');
  between(
    share(payments, (one) => one.status === 'failed'),
    0.05,
    0.15,
    'failed payments',
  );
  assert.ok(payments.some((one) => one.failureKind === 'inventory'));
  const declined = payments.filter((one) => one.failureKind === 'payment');
  between(
    share(declined, (one) => one.failureCode === 'insufficient_funds'),
    0.2,
    0.5,
    'failed for lack of money',
  );
  between(
    share(declined, (one) => one.failureCode === undefined),
    0.01,
    0.12,
    'failed without a code',
  );
  assert.ok(payments.every((one) => !one.failureCode || one.failureKind === 'payment'));
  assert.ok(payments.some((one) => one.status === 'pending'));
  between(only('refund').length / payments.length, 0.01, 0.06, 'refunds');
  between(
    share(sessions, (one) => one.outcome === 'saved'),
    0.2,
    0.4,
    'saved',
  );
  between(
    share(sessions, (one) => one.outcome === 'cancelled'),
    0.4,
    0.7,
    'cancelled sessions',
  );
  between(sessions.filter((one) => one.outcome === null).length, 3, 60, 'sessions in progress');

  const perCustomer = Map.groupBy(subscriptions, (one) => one.customerId);
  const groups = [...perCustomer.values()];
  between(
    share(groups, (group) => group.length === 1),
    0.8,
    0.9,
    'customers with one subscription',
  );
  assert.ok(groups.some((group) => group.length === 3));

  const signedUp = (month: string): number =>
    subscriptions.filter((one) => one.createdAt.startsWith(month)).length;
  const december = signedUp('2025-12');
  between(december / signedUp('2025-06'), 1.7, 4, 'December against the June before');
  between(december / signedUp('2026-06'), 1.3, 3, 'December against the June after');
  between(signedUp('2026-06') / signedUp('2025-06'), 1.2, 2, "a year's growth");
  // Friday is the quietest day, Sunday the busiest.
  const onDay = (day: number): number =>
    subscriptions.filter((one) => new Date(one.createdAt).getUTCDay() === day).length;
  between(onDay(0) / onDay(5), 1.15, 1.8, 'Sunday against Friday');
});

test('has trials, and memberships that are billed by the year beside coffee by the month', () => {
  const tried = only('subscription').filter((one) => one.trialEndsAt !== undefined);
  const inTrial = tried.filter((one) => (one.trialEndsAt ?? '') > END && one.status === 'active');
  between(inTrial.length, 10, 60, 'in trial');
  const endedIn = (one: Of<'subscription'>) => {
    const [first] = one.statusEvents ?? [];
    return first !== undefined && (first.at ?? '') < (one.trialEndsAt ?? '');
  };
  const paid = new Set(only('payment').map((one) => one.subscriptionId));
  const over = tried.filter((one) => (one.trialEndsAt ?? '9') < END);
  between(share(over, endedIn), 0.25, 0.45, 'ended in trial');
  // Who ended in the trial has paid nothing; everybody else has.
  for (const one of over) assert.equal(paid.has(one.id), !endedIn(one));

  const mixed = only('subscription').filter(({ lines }) =>
    lines.some(({ intervalUnit }) => intervalUnit === 'year'),
  );
  between(
    mixed.length / RECORDS.filter(({ type }) => type === 'subscription').length,
    0.005,
    0.03,
    'mixed',
  );
  const ofMixed = new Set(mixed.map(({ id }) => id));
  const payments = Map.groupBy(
    only('payment').filter((one) => ofMixed.has(one.subscriptionId)),
    (one) => one.subscriptionId,
  );
  const withTwelve = [...payments.values()].filter((each) => {
    const cycles = Map.groupBy(each, ({ cycle }) => cycle);
    return cycles.size > 12;
  });
  assert.ok(withTwelve.length > 0);
  for (const each of withTwelve) {
    const amounts = [...Map.groupBy(each, ({ cycle }) => cycle).values()].map(([one]) =>
      Number(one?.amount),
    );
    const [first = 0, second = 0] = amounts;
    assert.equal(Math.round((first - second) * 100), 3900);
  }
});

test('leaves only failed payments overdue', () => {
  const lastPayment = new Map(only('payment').map((one) => [one.subscriptionId, one]));
  const overdue = only('subscription').filter(
    (one) => one.status === 'active' && (one.nextBillingDate ?? '9') <= END,
  );
  between(overdue.length, 3, 60, 'overdue');
  for (const { id } of overdue) assert.equal(lastPayment.get(id)?.status, 'failed');
});
