import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { generateShop, type ShopOptions } from './generate.ts';
import type { DemoRecord } from './records.ts';

const END = '2026-11-20T12:00:00.000Z';
const BASE: ShopOptions = {
  subscriptions: 300,
  seed: 1,
  endAt: Date.parse(END),
  currency: 'USD',
  minorDigits: 2,
};

// The allowed status transitions.
const TRANSITIONS: Record<string, string[]> = {
  active: ['paused', 'cancelled', 'expired', 'failed'],
  paused: ['active', 'cancelled', 'expired', 'failed'],
  failed: ['active', 'paused', 'cancelled'],
  cancelled: [],
  expired: [],
};
const REASONS =
  'too_expensive too_much_product not_using product_quality switching_product shipping_delivery moving_or_travel accidental_signup technical_issue other unknown';

type Of<T extends DemoRecord['type']> = Extract<DemoRecord, { type: T }>;

function shop(options: Partial<ShopOptions> = {}): DemoRecord[] {
  return [...generateShop({ ...BASE, ...options })];
}

function only<T extends DemoRecord['type']>(records: DemoRecord[], type: T): Of<T>[] {
  return records.filter((record): record is Of<T> => record.type === type);
}

function hash(records: DemoRecord[]): string {
  const sum = createHash('sha256');
  for (const record of records) sum.update(`${JSON.stringify(record)}\n`);
  return sum.digest('hex');
}

/** Checks that a timestamp is in canonical form and before the end of the history. */
function past(text: string): string {
  assert.equal(new Date(text).toISOString(), text);
  assert.ok(text < END, `${text} is after the end of the history`);
  return text;
}

/** Checks a shop record by record, independently of how it was generated. */
function checkFormat(records: DemoRecord[], minorDigits: number): void {
  const amounts = minorDigits === 0 ? /^\d+$/ : new RegExp(`^\\d+\\.\\d{${minorDigits}}$`);
  const minor = (text: string): number => {
    assert.match(text, amounts);
    return Number(text.replace('.', ''));
  };
  const nextId = {
    plan: 11, subscription: 1001, payment: 900_001, refund: 70_001, cancellation: 50_001,
  }; // prettier-ignore
  const plans = new Map<number, Of<'plan'>>();
  const subscriptions = new Map<number, Of<'subscription'> & Record<'total' | 'yearly', number>>();
  const payments = new Map<number, Of<'payment'>>();
  const refunded = new Set<number>();
  const paidCycles = new Set<string>();
  const variants = new Map<number, string>();
  let customers = 500;
  let lines = 0;

  for (const record of records) {
    assert.equal(record.id, nextId[record.type]++, 'ids are consecutive');
    past(record.updatedAt);
    switch (record.type) {
      case 'plan': {
        assert.ok(record.name && record.groupName && record.productIds.length > 0);
        assert.match(record.planType, /^(subscription|prepaid|membership|other)$/);
        assert.match(record.intervalUnit, /^(day|week|month|year)$/);
        assert.ok(record.intervalCount >= 1 && record.intervalCount <= 1000);
        const { discountType, discountValue } = record.pricing ?? {
          discountType: 'none',
          discountValue: 0,
        };
        if (typeof discountValue === 'string') minor(discountValue);
        else if (discountType === 'none') assert.equal(discountValue, 0);
        else assert.ok(discountType === 'percentage' && discountValue > 0 && discountValue < 100);
        plans.set(record.id, record);
        break;
      }
      case 'subscription': {
        const plan = plans.get(record.planId);
        assert.ok(plan);
        assert.ok(record.customerId > 500 && record.customerId <= customers + 1);
        customers = Math.max(customers, record.customerId);
        assert.ok(past(record.createdAt) >= new Date(BASE.endAt - 730 * 864e5).toISOString());
        let status = 'active';
        let at = record.createdAt;
        for (const event of record.statusEvents ?? []) {
          assert.ok(past(event.at) >= at, 'oldest first');
          assert.ok(TRANSITIONS[status]?.includes(event.to), `${status} to ${event.to}`);
          ({ at, to: status } = event);
        }
        assert.equal(record.status, status);
        assert.notEqual(record.statusEvents?.length, 0);
        assert.ok(record.updatedAt >= at);
        assert.ok(record.lines.length >= 1 && record.lines.length <= 250);
        let [total, yearly] = [0, 0];
        for (const line of record.lines) {
          assert.equal(line.lineId, ++lines);
          assert.ok(plan.productIds.includes(line.productId) && line.quantity >= 1);
          const name: string = `${line.productId} ${line.productTitle} ${line.variantTitle}`;
          assert.equal(variants.get(line.variantId) ?? name, name);
          assert.notEqual(line.variantTitle, '');
          variants.set(line.variantId, name);
          assert.ok(minor(line.currentPrice) > 0);
          if (line.intervalUnit === 'year') yearly += minor(line.currentPrice);
          else total += minor(line.currentPrice) * line.quantity;
        }
        assert.equal(new Set(record.lines.map((line) => line.productId)).size, record.lines.length);
        subscriptions.set(record.id, { ...record, total, yearly });
        break;
      }
      case 'payment': {
        const subscription = subscriptions.get(record.subscriptionId);
        assert.ok(subscription);
        const { total, yearly } = subscription;
        const isFirst = payments.get(record.id - 1)?.subscriptionId !== record.subscriptionId;
        const [earlier, later] = subscription.valueEvents ?? [];
        const isEarlier = later !== undefined && record.processedAt < later.at;
        const share = isEarlier
          ? Math.round((100 * Number(earlier?.mrr)) / Number(later.mrr))
          : 100;
        const expected = isFirst ? [total + yearly] : [total, total + yearly];
        const paid = expected.map((amount) => Math.round((amount * share) / 100));
        assert.ok(paid.includes(minor(record.amount)), `${paid.join(' or ')}: ${record.amount}`);
        assert.ok(past(record.processedAt) >= subscription.createdAt);
        assert.ok(record.processedAt <= subscription.updatedAt);
        assert.match(record.cycle, /^(\d{4}-\d{2}|[1-9]\d?)$/);
        assert.match(record.status, /^(succeeded|failed|pending)$/);
        assert.equal(record.failureKind !== undefined, record.status === 'failed');
        if (record.status === 'succeeded') {
          const cycle = `${record.subscriptionId} ${record.cycle}`;
          assert.ok(!paidCycles.has(cycle), `${cycle} is paid once`);
          paidCycles.add(cycle);
          assert.ok(subscription.paidThroughAt && subscription.paidThroughAt > record.processedAt);
        }
        const before = payments.get(record.id - 1);
        if (before?.subscriptionId === record.subscriptionId) {
          assert.ok(record.processedAt > before.processedAt);
        }
        payments.set(record.id, record);
        break;
      }
      case 'refund': {
        const payment = payments.get(record.paymentId);
        assert.equal(payment?.status, 'succeeded');
        assert.ok(past(record.refundedAt) > payment.processedAt);
        assert.ok(minor(record.amount) > 0 && minor(record.amount) <= minor(payment.amount));
        assert.ok(!refunded.has(record.paymentId));
        refunded.add(record.paymentId);
        break;
      }
      case 'cancellation': {
        const subscription = subscriptions.get(record.subscriptionId);
        assert.ok(subscription && past(record.createdAt) > subscription.createdAt);
        assert.ok(REASONS.split(' ').includes(record.detectedReason));
        assert.match(String(record.offerType), /^(offer_discount|pause|swap|skip_next|null)$/);
        assert.match(String(record.outcome), /^(saved|cancelled|abandoned|null)$/);
        if (record.outcome === 'saved') assert.notEqual(record.offerType, null);
        if (record.outcome === 'cancelled') {
          assert.deepEqual(subscription.statusEvents?.at(-1), {
            at: record.updatedAt,
            to: 'cancelled',
          });
          const minutes = (Date.parse(record.updatedAt) - Date.parse(record.createdAt)) / 60_000;
          assert.ok(minutes >= 1 && minutes <= 15, `${minutes} minutes`);
        }
        if (record.outcome === null) {
          assert.ok(BASE.endAt - Date.parse(record.createdAt) <= 30 * 60_000);
        }
      }
    }
  }
}

test('generates the same bytes from the same options', () => {
  assert.equal(hash(shop()), 'c043b8b871c282ed35214b238fb69db0b09ec518b8e4985bd18970802f7d93b9');
});

test('generates another shop from another seed', () => {
  assert.notEqual(hash(shop({ seed: 2 })), hash(shop()));
  assert.notEqual(hash(shop({ seed: 1 + 2 ** 32 })), hash(shop()));
});

test('generates the plans of an empty shop', () => {
  assert.deepEqual([...new Set(shop({ subscriptions: 0 }).map(({ type }) => type))], ['plan']);
});

test('covers every kind of plan', () => {
  const plans = only(shop({ subscriptions: 0 }), 'plan');
  assert.equal(plans.length, 12);
  const kinds = (of: (plan: Of<'plan'>) => unknown): number => new Set(plans.map(of)).size;
  assert.equal(
    kinds((plan) => plan.groupName),
    3,
  );
  assert.equal(
    kinds((plan) => plan.planType),
    4,
  );
  assert.equal(
    kinds((plan) => plan.intervalUnit),
    4,
  );
  assert.equal(
    kinds((plan) => plan.pricing?.discountType),
    5,
  );
  assert.equal(plans.filter((plan) => !plan.active).length, 2);
});

// The first is large enough for rare events to occur on both sides of the end of the history.
for (const [currency, minorDigits, subscriptions] of [
  ['USD', 2, 5000],
  ['EUR', 2, 400],
  ['JPY', 0, 400],
  ['KWD', 3, 400],
] as const) {
  test(`generates records in the import format, in ${currency}`, () => {
    checkFormat(shop({ subscriptions, seed: 5, currency, minorDigits }), minorDigits);
  });
}

for (const [currency, minorDigits, service, blend] of [
  ['USD', 2, '38.00', '8.55'],
  ['JPY', 0, '5700', '1287'],
  ['KWD', 3, '11.400', '2.565'],
] as const) {
  test(`generates realistic prices in ${currency}`, () => {
    const subscriptions = only(shop({ currency, minorDigits }), 'subscription');
    const price = (planId: number, title: string, variant?: string): string | undefined =>
      subscriptions
        .filter((one) => one.planId === planId)
        .flatMap(({ lines }) => lines)
        .find((line) => line.productTitle === title && line.variantTitle === variant)?.currentPrice;
    assert.equal(price(22, 'Grinder service'), service);
    // 10% off the list price.
    assert.equal(price(11, 'House Blend', '250 g'), blend);
  });
}
