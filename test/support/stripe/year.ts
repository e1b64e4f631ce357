import type { FixedClock } from '../../../src/clock.ts';
import { closeDispute, credit, decline, dispute, makeInvoice, pay, refund } from './billing.ts';
import { itemsOf, prorate } from './invoice-lines.ts';
import type { StripeObject } from './schema.ts';
import type { StripeEvent, StripeWorld } from './world.ts';

const dayMs = 24 * 60 * 60 * 1000;
const updated = 'customer.subscription.updated';

interface Start {
  readonly price: string;
  readonly quantity?: number;
  readonly trialDays?: number;
}

/** What happens next, in order of its time. */
interface Step {
  readonly at: number;
  readonly run: () => void;
}

/**
 * A year of ten subscriptions. Each turn of the generator is one thing that happens, with the clock at
 * its time, and yields the events of it. Subscriptions are renewed by themselves.
 */
export class Year {
  readonly #world: StripeWorld;
  readonly #clock: FixedClock;
  readonly #start: number;
  readonly #steps: Step[] = [];
  /** How often the next payments of a subscription are declined. */
  readonly #declines = new Map<string, number>();
  /** Prices that subscriptions have from their next period on. */
  readonly #raised = new Map<string, string>();
  readonly #currency: string;

  constructor(world: StripeWorld, clock: FixedClock, currency = 'usd') {
    this.#world = world;
    this.#clock = clock;
    this.#start = clock.now();
    this.#currency = currency;
    this.#plan();
  }

  *play(): Generator<readonly StripeEvent[]> {
    const end = this.#start + 365 * dayMs;
    for (;;) {
      const next = this.#steps.toSorted((one, other) => one.at - other.at)[0];
      if (!next || next.at > end) break;
      this.#steps.splice(this.#steps.indexOf(next), 1);
      this.#clock.advance(next.at - this.#clock.now());
      const before = this.#world.events.length;
      next.run();
      const events = this.#world.events.slice(before);
      if (events.length > 0) yield events;
    }
    this.#clock.advance(end - this.#clock.now());
  }

  #plan(): void {
    const monthly = this.#price('box', 2000);
    const larger = this.#price('large box', 3500);
    const seat = this.#price('seat', 900);
    const annual = this.#price('box for a year', 20_000, 'year');
    const raised = this.#price('box', 2400);
    const world = this.#world;
    const third = world.add('coupon', {
      id: 'THIRD',
      percent_off: 33.3,
      duration: 'repeating',
      duration_in_months: 3,
      valid: true,
    });

    const trial = this.#begin(3, { price: monthly, trialDays: 14 });
    this.#on(100, trial, (each) => (each['cancel_at_period_end'] = true));
    this.#on(105, trial, (each) => (each['cancel_at_period_end'] = false));

    const grows = this.#begin(5, { price: monthly });
    this.#later(70, () => this.#upgrade(grows(), larger));
    this.#later(200, () => this.#upgrade(grows(), annual));

    const seats = this.#begin(8, { price: seat, quantity: 3 });
    for (const [day, quantity] of [
      [40, 7],
      [160, 5],
      [300, 12],
      [304, 9],
    ] as const) {
      this.#on(day, seats, (each) => {
        for (const item of itemsOf(each)) item['quantity'] = quantity;
      });
    }

    const reduced = this.#begin(10, { price: larger });
    this.#later(50, () => this.#discount(reduced(), String(third['id']), 3));
    this.#later(260, () => credit(world, this.#lastPaid(reduced()), 0.5));

    const paused = this.#begin(12, { price: monthly });
    this.#on(
      90,
      paused,
      (each) => (each['pause_collection'] = { behavior: 'void', resumes_at: null }),
    );
    this.#on(170, paused, (each) => (each['pause_collection'] = null));

    const recovers = this.#begin(15, { price: monthly });
    this.#later(100, () => this.#declines.set(recovers(), 2));
    this.#later(220, () => this.#raised.set(recovers(), raised));

    const refunded = this.#begin(20, { price: larger, quantity: 2 });
    this.#later(120, () => refund(world, this.#lastPaid(refunded()), 0.25));
    this.#later(250, () => refund(world, this.#lastPaid(refunded())));
    this.#on(251, refunded, (each) => (each['cancel_at_period_end'] = true));

    const leaves = this.#begin(25, { price: monthly });
    this.#later(130, () => this.#cancel(leaves()));

    const fails = this.#begin(30, { price: seat, quantity: 2 });
    this.#later(210, () => this.#declines.set(fails(), Infinity));

    const yearly = this.#begin(33, { price: annual });
    let disputed = '';
    this.#later(60, () => (disputed = dispute(world, this.#lastPaid(yearly()))));
    this.#later(95, () => closeDispute(world, disputed, 'lost'));
    this.#on(96, yearly, (each) => (each['cancel_at_period_end'] = true));
  }

  #price(name: string, amount: number, interval = 'month'): string {
    const product = this.#world.add('product', { name, active: true });
    const price = this.#world.add('price', {
      active: true,
      billing_scheme: 'per_unit',
      currency: this.#currency,
      product: product['id'],
      recurring: { interval, interval_count: 1, usage_type: 'licensed' },
      tax_behavior: 'unspecified',
      type: 'recurring',
      unit_amount: amount,
      unit_amount_decimal: String(amount),
    });
    return String(price['id']);
  }

  #later(day: number, run: () => unknown): void {
    this.#at(this.#start + day * dayMs, run);
  }

  #at(at: number, run: () => unknown): void {
    this.#steps.push({ at, run });
  }

  #on(day: number, id: () => string, change: (subscription: StripeObject) => unknown): void {
    this.#later(day, () => {
      const before = this.#world.get('subscription', id());
      this.#change(id(), change);
      prorate(this.#world, before, this.#world.get('subscription', id()));
    });
  }

  /** The end of a period that begins now. */
  #periodEnd(price: string): number {
    const { interval } = this.#world.get('price', price)['recurring'] as StripeObject;
    const end = new Date(this.#clock.now());
    if (interval === 'year') end.setUTCFullYear(end.getUTCFullYear() + 1);
    else end.setUTCMonth(end.getUTCMonth() + 1);
    return Math.floor(end.getTime() / 1000);
  }

  #begin(day: number, { price, quantity = 1, trialDays = 0 }: Start): () => string {
    let id = '';
    this.#later(day, () => {
      const world = this.#world;
      const { now } = world;
      const customer = world.create('customer', {}, 'customer.created');
      const trialEnd = trialDays > 0 ? now + trialDays * 24 * 60 * 60 : null;
      const end = trialEnd ?? this.#periodEnd(price);
      id = world.makeId('subscription');
      world.create(
        'subscription',
        {
          id,
          billing_cycle_anchor: end,
          collection_method: 'charge_automatically',
          currency: this.#currency,
          customer: customer['id'],
          items: {
            object: 'list',
            data: [
              {
                id: world.makeId('subscription_item'),
                object: 'subscription_item',
                created: now,
                current_period_start: now,
                current_period_end: end,
                price,
                quantity,
                subscription: id,
              },
            ],
            has_more: false,
            url: `/v1/subscription_items?subscription=${id}`,
          },
          start_date: now,
          status: trialEnd === null ? 'active' : 'trialing',
          trial_start: trialEnd && now,
          trial_end: trialEnd,
        },
        'customer.subscription.created',
      );
      if (trialEnd === null) pay(world, makeInvoice(world, id, 'subscription_create'));
      this.#renewAt(id, end);
    });
    return () => id;
  }

  #renewAt(id: string, seconds: number): void {
    this.#at(seconds * 1000, () => this.#renew(id, seconds));
  }

  #renew(id: string, due: number): void {
    const world = this.#world;
    const {
      status,
      cancel_at_period_end: isEnding,
      items,
      pause_collection: pause,
    } = world.get('subscription', id);
    const [item] = itemsOf({ items });
    // Another period began meanwhile, or none will.
    if (!item || item['current_period_end'] !== due || status === 'canceled') return;
    if (isEnding === true) return this.#cancel(id);
    const end = this.#periodEnd(String(item['price']));
    this.#renewAt(id, end);
    this.#change(id, (each) => {
      if (each['status'] === 'trialing') each['status'] = 'active';
      for (const every of itemsOf(each)) {
        every['current_period_start'] = due;
        every['current_period_end'] = end;
        every['price'] = this.#raised.get(id) ?? every['price'];
      }
    });
    // An unpaid or paused subscription gets no payments.
    if (status === 'unpaid' || pause !== null) return;
    const invoice = makeInvoice(world, id, 'subscription_cycle');
    this.#collect(id, invoice, 1);
  }

  #collect(id: string, invoice: string, attempt: number): void {
    const left = this.#declines.get(id) ?? 0;
    if (left === 0) {
      pay(this.#world, invoice);
      if (attempt > 1) this.#change(id, (each) => (each['status'] = 'active'));
      return;
    }
    this.#declines.set(id, left - 1);
    decline(this.#world, invoice);
    const isLast = attempt === 4;
    if (attempt === 1 || isLast) {
      this.#change(id, (each) => (each['status'] = isLast ? 'unpaid' : 'past_due'));
    }
    if (!isLast)
      this.#at(this.#clock.now() + 3 * dayMs, () => this.#collect(id, invoice, attempt + 1));
  }

  #change(id: string, change: (subscription: StripeObject) => unknown): void {
    this.#world.change('subscription', id, (each) => void change(each), updated);
  }

  /** Another price from now on, with an invoice for the difference, and a new period where the interval changes. */
  #upgrade(id: string, price: string): void {
    const subscription = this.#world.get('subscription', id);
    const { recurring: before } = this.#world.get(
      'price',
      String(itemsOf(subscription)[0]?.['price']),
    );
    const { recurring: after } = this.#world.get('price', price);
    const isMoved = (before as StripeObject)['interval'] !== (after as StripeObject)['interval'];
    const { now } = this.#world;
    const end = this.#periodEnd(price);
    this.#change(id, (each) => {
      for (const item of itemsOf(each)) {
        item['price'] = price;
        if (!isMoved) continue;
        item['current_period_start'] = now;
        item['current_period_end'] = end;
      }
    });
    if (isMoved) this.#renewAt(id, end);
    prorate(this.#world, subscription, this.#world.get('subscription', id));
    pay(this.#world, makeInvoice(this.#world, id, 'subscription_update', { isPeriod: isMoved }));
  }

  /** A coupon for some months, which Stripe takes away when they are over. */
  #discount(id: string, coupon: string, months: number): void {
    const { customer } = this.#world.get('subscription', id);
    const end = new Date(this.#clock.now());
    end.setUTCMonth(end.getUTCMonth() + months);
    const { id: discount } = this.#world.create(
      'discount',
      {
        customer,
        start: this.#world.now,
        end: Math.floor(end.getTime() / 1000),
        source: { type: 'coupon', coupon },
        subscription: id,
      },
      'customer.discount.created',
    );
    this.#change(id, (each) => (each['discounts'] = [discount]));
    this.#at(end.getTime(), () => {
      this.#change(id, (each) => (each['discounts'] = []));
      this.#world.delete('discount', String(discount), 'customer.discount.deleted');
    });
  }

  #cancel(id: string): void {
    this.#world.change(
      'subscription',
      id,
      (each) => {
        each['status'] = 'canceled';
        each['ended_at'] = this.#world.now;
        each['canceled_at'] ??= this.#world.now;
      },
      'customer.subscription.deleted',
    );
  }

  #lastPaid(id: string): string {
    const invoice = this.#world
      .list('invoice')
      .find(
        (each) =>
          each['status'] === 'paid' &&
          (each['parent'] as { subscription_details: StripeObject }).subscription_details[
            'subscription'
          ] === id,
      );
    if (!invoice) throw new Error(`Nothing was paid for ${id}.`);
    return String(invoice['id']);
  }
}
