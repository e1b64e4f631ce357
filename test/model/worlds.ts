import * as fc from 'fast-check';
import { determined, inOrder } from './order.ts';
import {
  type Deletion,
  type Payment,
  type Plan,
  type Refund,
  type Session,
  type Status,
  type Subscription,
  type WorldRecord,
} from './records.ts';
import { day, happened, instant, newest, time, trouble, updatedAt } from './times.ts';

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

/** Few ids, so that records replace one another; the greatest often has no record. */
const idUpTo = (max: number) => fc.integer({ min: 1, max });
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
      currentPrice: fc.oneof(
        { weight: 3, arbitrary: amountOf(digits) },
        {
          weight: 1,
          arbitrary: fc.constantFrom('0.000000000001', '0.333333333333', '9.995', '0.5'),
        },
      ),
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
  const ownInterval = fc.option(fc.record({ intervalUnit: unit, intervalCount }), { nil: {} });
  const priced = fc.tuple(line, ownInterval).map(([one, own]) => ({ ...one, ...own }));
  const fields = fc.record(
    {
      type: fc.constant('subscription'),
      id,
      customerId,
      planId,
      status,
      createdAt: happened,
      updatedAt,
      nextBillingDate: time,
      paidThroughAt: time,
      trialEndsAt: time,
      lines: fc.uniqueArray(priced, {
        minLength: 1,
        maxLength: 3,
        selector: ({ lineId }) => lineId,
      }),
    },
    { requiredKeys: ['type', 'id', 'customerId', 'planId', 'status', 'createdAt', 'lines'] },
  );
  // Any transitions, even to the same status, at the same time or before the start.
  const events = fc.array(fc.record({ at: happened, to: status }), { maxLength: 4, size: 'max' });
  return fc
    .tuple(fields, ownInterval, events, fc.integer({ min: 0, max: 4 }))
    .map(([record, own, unordered, choice]) => {
      const statusEvents: { at: string | null; to: Status }[] = unordered.toSorted(
        (a, b) => Date.parse(a.at) - Date.parse(b.at),
      );
      const last = statusEvents.at(-1);
      // At times the last change has no date.
      if (last && last.to !== 'active' && choice === 0) last.at = null;
      return {
        ...record,
        ...own,
        // What has no date depends on what was imported before: test/import/gone.test.ts.
        ...(last === undefined
          ? { updatedAt: record.updatedAt ?? newest }
          : { statusEvents, status: last.to }),
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
      processedAt: happened,
      updatedAt,
    },
    { requiredKeys: ['type', 'id', 'subscriptionId', 'cycle', 'status', 'amount', 'processedAt'] },
  );
}

/**
 * A subscription that ends and resumes, with payments before, between and exactly at these times, in
 * random order.
 */
function troubledOf(digits: number): fc.Arbitrary<WorldRecord[]> {
  const ended = fc.constantFrom<Status>('cancelled', 'expired', 'failed');
  const at = fc
    .tuple(fc.constantFrom(...trouble), fc.constantFrom(-1, 0, 0, 1, day))
    .map(([instantOfChange, after]) => new Date(instantOfChange + after).toISOString());
  const [createdAt = '', ...later] = trouble.map((each) => new Date(each).toISOString());
  const back = fc.constantFrom<Status>('active', 'paused');
  return fc
    .tuple(
      fc.tuple(
        subscriptionOf(digits),
        fc.tuple(ended, back, ended),
        fc.integer({ min: 1, max: 3 }),
      ),
      fc.array(fc.tuple(paymentOf(digits), at), { minLength: 3, maxLength: 8, size: 'max' }),
    )
    .chain(([[subscription, moves, count], payments]) => {
      const statusEvents = moves.slice(0, count).map((to, index) => ({
        at: later[index] ?? createdAt,
        to,
      }));
      const ending = statusEvents.at(-1)?.to ?? 'active';
      const records: WorldRecord[] = [
        { ...subscription, createdAt, statusEvents, status: ending, updatedAt: newest },
        ...payments.map(([payment, processedAt]) => ({
          ...payment,
          subscriptionId: subscription.id,
          processedAt,
          updatedAt: newest,
        })),
      ];
      return fc.shuffledSubarray(records, { minLength: records.length });
    });
}

function refundOf(digits: number): fc.Arbitrary<Refund> {
  return fc.record(
    {
      type: fc.constant('refund'),
      id: idUpTo(6),
      paymentId,
      amount: amountOf(digits),
      refundedAt: happened,
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
      createdAt: happened,
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
      .tuple(
        fc.array(record, { minLength, maxLength, size: 'max' }),
        troubledOf(digits),
        fc.boolean(),
      )
      .map(([others, troubled, isOrdered]) => {
        const records = [...others, ...troubled];
        return determined(isOrdered ? inOrder(records) : records);
      });
  };
  return fc
    .tuple(run(40, 80, 2), fc.array(run(1, 30, 15), { maxLength: 2, size: 'max' }), fc.boolean())
    .map(([first, others, again]) => [first, ...others, ...(again ? [first] : [])]);
}

export interface World {
  readonly currency: string;
  /** The import runs of each of two shops, whose records have the same ids. */
  readonly shops: readonly (readonly (readonly WorldRecord[])[])[];
  /** Records stored while pages are read. */
  readonly meanwhile: readonly WorldRecord[];
  readonly pageSize: number;
  /** Times when figures change: a window's length, or a millisecond more or less, from a record's time. */
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
