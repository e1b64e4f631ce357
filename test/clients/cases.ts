import * as fc from 'fast-check';
import { runs } from '../support/seed.ts';

/** How the service does from a time on. Times are milliseconds since the case began. */
export interface Condition {
  readonly from: number;
  readonly kind:
    | 'up'
    | 'down'
    | 'reset'
    | 'silent'
    | 'truncated'
    | 'misshapen'
    | 'error'
    | 'page'
    | 'busy';
  /** How long it takes to answer, or to fail. */
  readonly latency: number;
  /** Retry-After of a busy service. */
  readonly retryAfterSeconds: number;
}

interface Entry {
  readonly planId: number;
  readonly status: string;
  readonly paidThrough: number | null;
}

/** What is true of a customer from a time on. */
interface State {
  readonly from: number;
  readonly entries: readonly Entry[];
}

/** To ask, or to forget. */
export interface Step {
  readonly at: number;
  readonly customerId: number;
  readonly planIds: readonly number[] | null;
  readonly forget: boolean;
}

export interface Case {
  readonly maxAgeSeconds: number;
  readonly refusalMaxAgeSeconds: number;
  readonly graceSeconds: number;
  readonly maxRetries: number;
  readonly timeoutSeconds: number;
  /** Null for none. */
  readonly deadlineSeconds: number | null;
  readonly conditions: readonly Condition[];
  /** Of the customers 1 and 2. */
  readonly states: readonly (readonly State[])[];
  readonly steps: readonly Step[];
}

/** What a client did. Times may have fractions: pauses before retries are random. */
export interface Run {
  readonly attempts: readonly Attempt[];
  readonly outcomes: readonly Outcome[];
}

export interface Attempt {
  readonly customerId: number;
  readonly sentAt: number;
  readonly endedAt: number;
  /** When the service read what it answered; null if the answer did not arrive. */
  readonly readAt: number | null;
  /** The class of the error that it means; null if it was answered. */
  readonly error: string | null;
  readonly retryAfterSeconds: number | null;
}

/** In the order of the calls. */
export interface Outcome {
  readonly step: number;
  readonly calledAt: number;
  readonly answeredAt: number;
  /** Whether the customer is entitled, or the class of the error; null for forgetting. */
  readonly result: boolean | string | null;
}

/** Often near the ages at which answers end. */
const gap = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 3_000 }) },
  { weight: 2, arbitrary: fc.integer({ min: 4_000, max: 6_000 }) },
  { weight: 2, arbitrary: fc.integer({ min: 20_000, max: 65_000 }) },
);

/** Things in the order of time, the first at 0. */
const timeline = <T>(each: fc.Arbitrary<T>, maxLength: number) =>
  fc.array(fc.tuple(gap, each), { minLength: 1, maxLength }).map((gaps) => {
    let at = 0;
    return gaps.map(([after, value], index) => {
      if (index > 0) at += after;
      return { from: at, ...value };
    });
  });

const entry = fc.record({
  planId: fc.constantFrom(11, 12),
  status: fc.constantFrom('active', 'cancelled', 'paused', 'new word'),
  paidThrough: fc.option(fc.integer({ min: 0, max: 400_000 })),
});

const condition = fc.record({
  kind: fc.oneof(
    { weight: 3, arbitrary: fc.constant('up' as const) },
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        ...([
          'down',
          'reset',
          'silent',
          'truncated',
          'misshapen',
          'error',
          'page',
          'busy',
        ] as const),
      ),
    },
  ),
  latency: fc.oneof(fc.integer({ min: 2, max: 300 }), fc.integer({ min: 2_000, max: 12_000 })),
  retryAfterSeconds: fc.constantFrom(0, 1, 7, 61),
});

const step = fc.record({
  customerId: fc.constantFrom(1, 1, 2),
  planIds: fc.constantFrom(null, null, [11], [12], [11, 12]),
  forget: fc.integer({ min: 0, max: 19 }).map((number) => number === 0),
});

const states = timeline(fc.record({ entries: fc.array(entry, { maxLength: 2 }) }), 6);

const anyCase: fc.Arbitrary<Case> = fc
  .record({
    maxAgeSeconds: fc.constantFrom(60, 60, 2, 0),
    refusalMaxAgeSeconds: fc.constantFrom(5, 5, 30),
    graceSeconds: fc.constantFrom(0, 0, 30, 300),
    maxRetries: fc.constantFrom(0, 0, 1, 3),
    timeoutSeconds: fc.constant(10),
    deadlineSeconds: fc.constantFrom(null, null, 0.5, 4, 15),
    conditions: timeline(condition, 8),
    states: fc.tuple(states, states),
    steps: timeline(step, 40),
  })
  .map(({ steps, ...world }) => ({
    ...world,
    steps: steps.map(({ from, forget, ...each }) => ({
      ...each,
      at: from,
      // The retries of a request from before would look like those of one from after.
      forget: forget && world.maxRetries === 0,
    })),
  }));

/** The same cases for every client. */
export const cases: readonly Case[] = fc.sample(anyCase, runs(200));

const entryOf = (more: Readonly<Record<string, unknown>>) => ({
  subscriptionId: 1,
  planId: 11,
  planName: 'Monthly box',
  planType: 'subscription',
  status: 'active',
  isEntitled: true,
  paidThroughAt: null,
  ...more,
});
const entitlements = (...subscriptions: unknown[]) => ({ subscriptions });

/** What a customer may be answered that is entitled, and what then must not be called "not entitled". */
export const unusableAnswers: readonly (readonly [status: number, body: unknown])[] = [
  {},
  [],
  null,
  'text',
  { subscriptions: {} },
  { subscriptions: null },
  { summary: {} },
  ...[{}, [], null, 'active'].map((each) => entitlements(each)),
  entitlements(entryOf({}), null),
  ...[null, 'false', 0, undefined].map((isEntitled) => entitlements(entryOf({ isEntitled }))),
  ...['rubbish', '', 5, '2026-02-30T00:00:00.000Z', '2026-11-23', undefined].map((paidThroughAt) =>
    entitlements(entryOf({ paidThroughAt })),
  ),
  ...['11', 1.5, null, 2 ** 53, true].map((planId) => entitlements(entryOf({ planId }))),
  entitlements(entryOf({ status: 5 })),
  { ...entitlements(), success: false },
]
  .map((body): readonly [number, unknown] => [200, body])
  .concat([201, 202, 206].map((status) => [status, entitlements()]));

/** Fields and words that a later service may add. */
export const laterAnswer = {
  ...entitlements(entryOf({ planType: 'gift', status: 'trialing', discount: {} })),
  success: true,
  notes: [],
};
