import * as fc from 'fast-check';
import {
  type Deletion,
  type Payment,
  type Plan,
  type Refund,
  type Session,
  type Subscription,
  type WorldRecord,
  keyOf,
  parentKeyOf,
} from './records.ts';

const hour = 3_600_000;
const day = 24 * hour;
export const worldNow = Date.parse('2026-11-20T12:00:00.000Z');

/** Few, so that many records share one: the edges of all windows, either side of them, and others. */
const instants = [
  ...[0, -30 * day, 7 * day].flatMap((edge) => [edge - 1, edge, edge + 1]),
  ...[-90, -61, -45, -29, -12, -3, 2, 40].map((days) => days * day + 5 * hour),
].map((offset) => worldNow + offset);

const instant = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...instants) },
  { weight: 1, arbitrary: fc.integer({ min: worldNow - 70 * day, max: worldNow + 10 * day }) },
);

/** The same instant may be spelled in another zone, or finer than a millisecond. */
const spellings: readonly ((at: number) => string)[] = [
  (at) => new Date(at).toISOString(),
  (at) => new Date(at + 5.5 * hour).toISOString().replace('Z', '+05:30'),
  (at) => new Date(at - 8 * hour).toISOString().replace('Z', '999-08:00'),
];
const time = fc.tuple(instant, fc.constantFrom(...spellings)).map(([at, spell]) => spell(at));

const updatedAt = fc
  .constantFrom(-30 * day - 1, -30 * day, -10 * day, 0, 1)
  .map((offset) => new Date(worldNow + offset).toISOString());

function amountOf(digits: number): fc.Arbitrary<string | number> {
  const units = fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 0, max: 99_999 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 999_999_999_999 }) },
  );
  return fc.tuple(units, fc.boolean()).map(([value, isNumber]) => {
    const text = String(value).padStart(digits + 1, '0');
    const point = text.length - digits;
    const decimal = digits === 0 ? text : `${text.slice(0, point)}.${text.slice(point)}`;
    return isNumber ? Number(decimal) : decimal;
  });
}

/** Ids are few, so that records replace one another; the greatest often is nobody's. */
const idUpTo = (most: number) => fc.integer({ min: 1, max: most });
const planId = idUpTo(3);
const subscriptionId = idUpTo(8);
const customerId = idUpTo(5);
const paymentId = idUpTo(30);

const status = fc.constantFrom('active', 'active', 'paused', 'cancelled', 'expired', 'failed');
const unit = fc.constantFrom('day', 'week', 'month', 'year');
const intervalCount = fc.constantFrom(1, 2, 3, 7, 30, 1000);

function planOf(digits: number): fc.Arbitrary<Plan> {
  const summary = fc.constantFrom('', 'As you like it');
  const pricing = fc.oneof(
    fc.record({
      discountType: fc.constant('percentage'),
      discountValue: fc.constantFrom<string | number>(0, 12.5, '33.3333', 100),
      summary,
    }),
    fc.record({
      discountType: fc.constantFrom('fixed_amount', 'price'),
      discountValue: amountOf(digits),
      summary,
    }),
  );
  return fc.record(
    {
      type: fc.constant('plan'),
      id: planId,
      name: fc.constantFrom('Box', 'Crate', '😀'),
      groupName: fc.constantFrom('Boxes', 'Crates'),
      planType: fc.constantFrom('subscription', 'prepaid', 'membership', 'other'),
      intervalUnit: unit,
      intervalCount,
      active: fc.constant(false),
      productIds: fc.uniqueArray(idUpTo(9), { minLength: 1, maxLength: 3 }),
      pricing,
      updatedAt,
    },
    { requiredKeys: ['type', 'id', 'name', 'planType', 'intervalUnit', 'intervalCount'] },
  );
}

function subscriptionOf(digits: number, id = subscriptionId): fc.Arbitrary<Subscription> {
  const line = fc.record(
    {
      lineId: idUpTo(1_000_000),
      productId: idUpTo(9),
      productTitle: fc.constantFrom('', 'House Blend'),
      variantId: idUpTo(9),
      variantTitle: fc.constantFrom('1 lb', '2 lb'),
      quantity: fc.constantFrom(1, 2, 3, 1_000_000),
      currentPrice: amountOf(digits),
    },
    {
      requiredKeys: [
        'lineId',
        'productId',
        'productTitle',
        'variantId',
        'quantity',
        'currentPrice',
      ],
    },
  );
  const fields = fc.record(
    {
      type: fc.constant('subscription'),
      id,
      customerId,
      planId,
      status,
      createdAt: time,
      updatedAt,
      nextBillingDate: time,
      paidThroughAt: time,
      lines: fc.uniqueArray(line, {
        minLength: 1,
        maxLength: 3,
        selector: ({ lineId }) => lineId,
      }),
    },
    { requiredKeys: ['type', 'id', 'customerId', 'planId', 'status', 'createdAt', 'lines'] },
  );
  const interval = fc.option(fc.record({ intervalUnit: unit, intervalCount }), { nil: {} });
  // Any moves, also unusual ones, from a status to itself, at the same time, before the beginning.
  const events = fc.array(fc.record({ at: time, to: status }), { maxLength: 4, size: 'max' });
  return fc.tuple(fields, interval, events).map(([record, ownInterval, unordered]) => {
    const statusEvents = unordered.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
    const last = statusEvents.at(-1);
    return {
      ...record,
      ...ownInterval,
      ...(last === undefined ? {} : { statusEvents, status: last.to }),
    };
  });
}

function paymentOf(digits: number): fc.Arbitrary<Payment> {
  return fc.record(
    {
      type: fc.constant('payment'),
      id: paymentId,
      subscriptionId,
      cycle: fc.constantFrom<string | number>('1', 1, 2, '2026-11'),
      status: fc.constantFrom('succeeded', 'failed', 'failed', 'pending'),
      failureKind: fc.constantFrom('payment', 'inventory'),
      amount: amountOf(digits),
      processedAt: time,
      updatedAt,
    },
    { requiredKeys: ['type', 'id', 'subscriptionId', 'cycle', 'status', 'amount', 'processedAt'] },
  );
}

function refundOf(digits: number): fc.Arbitrary<Refund> {
  return fc.record(
    {
      type: fc.constant('refund'),
      id: idUpTo(6),
      paymentId,
      amount: amountOf(digits),
      refundedAt: time,
      updatedAt,
    },
    { requiredKeys: ['type', 'id', 'paymentId', 'amount', 'refundedAt'] },
  );
}

const sessionOf = (id = idUpTo(12)): fc.Arbitrary<Session> =>
  fc.record(
    {
      type: fc.constant('cancellation'),
      id,
      subscriptionId,
      detectedReason: fc.constantFrom('too_expensive', 'other', 'unknown'),
      offerType: fc.constantFrom('offer_discount', 'pause', 'swap', 'skip_next'),
      outcome: fc.constantFrom('saved', 'cancelled', 'abandoned'),
      createdAt: time,
      updatedAt,
    },
    { requiredKeys: ['type', 'id', 'detectedReason', 'createdAt'] },
  );

const deletion: fc.Arbitrary<Deletion> = fc
  .oneof(
    fc.tuple(fc.constant('plan' as const), planId),
    fc.tuple(fc.constant('subscription' as const), subscriptionId),
    fc.tuple(fc.constant('payment' as const), paymentId),
    fc.tuple(fc.constant('refund' as const), idUpTo(6)),
    fc.tuple(fc.constant('cancellation' as const), idUpTo(12)),
  )
  .map(([record, id]) => ({ type: 'delete', record, id }));

const ranks = ['plan', 'subscription', 'payment', 'refund', 'cancellation', 'delete'];

/** Parents before children, and deletions last, in each stretch of a few lines. */
function inOrder(records: readonly WorldRecord[]): WorldRecord[] {
  const stretches = [0, 1, 2].map((index) => records.slice(index * 10, index * 10 + 10));
  return [...stretches, records.slice(30)].flatMap((stretch) =>
    stretch.toSorted((a, b) => ranks.indexOf(a.type) - ranks.indexOf(b.type)),
  );
}

/**
 * Leaves out deletions whose effect no rule determines: whether a child that came before its parent
 * was taken by then, or a plan that waits to be deleted is still there for what refers to it.
 */
function determined(records: readonly WorldRecord[]): WorldRecord[] {
  const kept: WorldRecord[] = [];
  let isAnyAhead = false;
  for (const [index, record] of records.entries()) {
    const later = records.slice(index + 1);
    if (record.type === 'delete') {
      const isNeededLater = later.some((each) => parentKeyOf(each) === keyOf(record));
      if (isAnyAhead || (record.record === 'plan' && isNeededLater)) continue;
    }
    const parent = parentKeyOf(record);
    isAnyAhead ||=
      later.some((each) => each.type !== 'delete' && keyOf(each) === parent) &&
      !kept.some((each) => each.type !== 'delete' && keyOf(each) === parent);
    kept.push(record);
  }
  return kept;
}

function runsOf(digits: number): fc.Arbitrary<WorldRecord[][]> {
  const upsert = [
    { weight: 4, arbitrary: planOf(digits) },
    { weight: 10, arbitrary: subscriptionOf(digits) },
    { weight: 20, arbitrary: paymentOf(digits) },
    { weight: 3, arbitrary: refundOf(digits) },
    { weight: 5, arbitrary: sessionOf() },
  ];
  const run = (minLength: number, maxLength: number, deletions: number) => {
    const record = fc.oneof<fc.MaybeWeightedArbitrary<WorldRecord>[]>(...upsert, {
      weight: deletions,
      arbitrary: deletion,
    });
    return fc
      .tuple(fc.array(record, { minLength, maxLength, size: 'max' }), fc.boolean())
      .map(([records, isOrdered]) => determined(isOrdered ? inOrder(records) : records));
  };
  return fc
    .tuple(run(40, 80, 2), fc.array(run(1, 30, 15), { maxLength: 2, size: 'max' }), fc.boolean())
    .map(([first, others, again]) => [first, ...others, ...(again ? [first] : [])]);
}

export interface World {
  readonly currency: string;
  /** The runs by which each of two shops is filled; their records have the same ids. */
  readonly shops: readonly (readonly (readonly WorldRecord[])[])[];
  /** What is stored while somebody turns pages. */
  readonly meanwhile: readonly WorldRecord[];
  readonly pageSize: number;
  /** Times of records, one of their windows' lengths and a millisecond away: where figures change. */
  readonly instants: readonly number[];
}

const minorDigits: Readonly<Record<string, number>> = { USD: 2, JPY: 0, KWD: 3 };

export const digitsOf = (currency: string) => minorDigits[currency] ?? 2;

export const world: fc.Arbitrary<World> = fc.constantFrom('USD', 'JPY', 'KWD').chain((currency) => {
  const digits = digitsOf(currency);
  const newId = fc.integer({ min: 100, max: 120 });
  return fc.record({
    currency: fc.constant(currency),
    shops: fc.tuple(runsOf(digits), runsOf(digits)),
    meanwhile: fc.array(fc.oneof(subscriptionOf(digits, newId), sessionOf(newId)), {
      minLength: 4,
      maxLength: 10,
    }),
    pageSize: fc.constantFrom(1, 2, 3),
    instants: fc.array(
      fc
        .tuple(instant, fc.constantFrom(0, 30 * day, -7 * day), fc.constantFrom(-1, 0, 1))
        .map((parts) => parts.reduce((sum, part) => sum + part, 0)),
      { minLength: 4, maxLength: 4 },
    ),
  });
});
