import { goingOn, isMetered, itemsOf, linesOf, takePending } from './invoice-lines.ts';
import type { StripeObject } from './schema.ts';
import type { StripeWorld } from './world.ts';

/*
 * What Stripe does with the money of a subscription: invoices with their payments, refunds, disputes
 * and credit notes. Each function records the events that Stripe would.
 */

type Reason = 'subscription_create' | 'subscription_cycle' | 'subscription_update';

/** What the items cost for one period, by their plain prices and the discounts that go on now. */
export function costOf(world: StripeWorld, subscription: StripeObject): number {
  const sum = itemsOf(subscription).reduce((total, item) => {
    const { unit_amount: amount } = world.get('price', String(item['price']));
    return isMetered(world, item)
      ? total
      : total + Number(amount ?? 0) * Number(item['quantity'] ?? 1);
  }, 0);
  const reduced = goingOn(world, subscription['discounts']).reduce((left, id) => {
    const { source } = world.get('discount', id);
    const { percent_off: percent, amount_off: amount } = world.get(
      'coupon',
      String((source as StripeObject)['coupon']),
    );
    return left * (1 - Number(percent ?? 0) / 100) - Number(amount ?? 0);
  }, sum);
  return Math.max(0, Math.round(reduced));
}

/** Makes the invoice of a period, or only of changes within one, and begins its payment, unless it is free. */
export function makeInvoice(
  world: StripeWorld,
  subscriptionId: string,
  reason: Reason,
  { amount: given, isPeriod = true }: { amount?: number; isPeriod?: boolean } = {},
): string {
  const subscription = world.get('subscription', subscriptionId);
  const { customer, currency } = subscription;
  const [first] = itemsOf(subscription);
  const prorations = takePending(world, subscriptionId);
  const lines = [...prorations, ...(isPeriod ? linesOf(world, subscription) : [])];
  const prorated = prorations.reduce((sum, line) => sum + Number(line['amount']), 0);
  const cost = isPeriod ? costOf(world, subscription) : 0;
  const amount = given ?? Math.max(0, cost + prorated);
  const own = goingOn(world, subscription['discounts']);
  const { discount: ofCustomer } = world.get('customer', String(customer));
  const discounts = own.length > 0 ? own : goingOn(world, [ofCustomer ?? []].flat());
  const id = world.makeId('invoice');
  const now = world.now;
  const intent =
    amount > 0 &&
    world.create(
      'payment_intent',
      {
        amount,
        currency,
        customer,
        status: 'requires_confirmation',
        payment_method_types: ['card'],
      },
      'payment_intent.created',
    );
  world.create(
    'invoice',
    {
      id,
      amount_due: amount,
      amount_remaining: amount,
      subtotal: amount,
      total: amount,
      auto_advance: true,
      billing_reason: reason,
      collection_method: 'charge_automatically',
      currency,
      customer,
      discounts,
      lines: {
        object: 'list',
        data: lines.map((line) => ({ ...line, invoice: id })),
        has_more: false,
        url: `/v1/invoices/${id}/lines`,
      },
      number: id.toUpperCase(),
      parent: {
        type: 'subscription_details',
        quote_details: null,
        subscription_details: { metadata: {}, subscription: subscriptionId },
      },
      payments: {
        object: 'list',
        data: intent
          ? [
              {
                id: world.makeId('invoice_payment'),
                object: 'invoice_payment',
                amount_requested: amount,
                created: now,
                currency,
                invoice: id,
                is_default: true,
                livemode: world.livemode,
                payment: { type: 'payment_intent', payment_intent: intent['id'] },
                status: 'open',
              },
            ]
          : [],
        has_more: false,
        url: `/v1/invoices/${id}/payments`,
      },
      period_start: first?.['current_period_start'] ?? now,
      period_end: first?.['current_period_end'] ?? now,
      status: 'open',
      status_transitions: { finalized_at: now },
    },
    'invoice.created',
    'invoice.finalized',
  );
  world.change('subscription', subscriptionId, (each) => {
    each['latest_invoice'] = id;
  });
  return id;
}

function paymentOf(invoice: StripeObject): StripeObject | undefined {
  const { data } = invoice['payments'] as { readonly data: readonly StripeObject[] };
  return data.at(-1);
}

const intentOf = (invoice: StripeObject) =>
  ((paymentOf(invoice)?.['payment'] ?? {}) as StripeObject)['payment_intent'];

function chargeOnce(world: StripeWorld, invoice: StripeObject, failure?: string): void {
  const intent = intentOf(invoice);
  if (intent === undefined) return;
  const isPaid = failure === undefined;
  const { amount_due: amount, currency, customer } = invoice;
  const charge = world.create(
    'charge',
    {
      amount,
      amount_captured: isPaid ? amount : 0,
      captured: isPaid,
      currency,
      customer,
      failure_code: isPaid ? null : 'card_declined',
      failure_message: isPaid ? null : 'Your card was declined.',
      outcome: isPaid
        ? null
        : { network_status: 'declined_by_network', reason: failure, type: 'issuer_declined' },
      paid: isPaid,
      payment_intent: intent,
      status: isPaid ? 'succeeded' : 'failed',
    },
    isPaid ? 'charge.succeeded' : 'charge.failed',
  );
  world.change(
    'payment_intent',
    String(intent),
    (each) => {
      each['latest_charge'] = charge['id'];
      each['status'] = isPaid ? 'succeeded' : 'requires_payment_method';
      each['amount_received'] = isPaid ? amount : 0;
      each['last_payment_error'] = isPaid
        ? null
        : {
            charge: charge['id'],
            code: 'card_declined',
            decline_code: failure,
            message: 'Your card was declined.',
            type: 'card_error',
          };
    },
    isPaid ? 'payment_intent.succeeded' : 'payment_intent.payment_failed',
  );
}

/** Collects an open invoice. */
export function pay(world: StripeWorld, id: string): void {
  const open = world.get('invoice', id);
  chargeOnce(world, open);
  const types = ['invoice.updated', 'invoice.paid', 'invoice.payment_succeeded'];
  world.change(
    'invoice',
    id,
    (each) => {
      each['amount_paid'] = each['amount_due'];
      each['amount_remaining'] = 0;
      each['attempt_count'] = Number(each['attempt_count']) + 1;
      each['attempted'] = true;
      each['auto_advance'] = false;
      each['next_payment_attempt'] = null;
      each['status'] = 'paid';
      (each['status_transitions'] as StripeObject)['paid_at'] = world.now;
      const payment = paymentOf(each);
      if (!payment) return;
      payment['amount_paid'] = each['amount_due'];
      payment['status'] = 'paid';
      (payment['status_transitions'] as StripeObject)['paid_at'] = world.now;
    },
    ...types,
  );
}

/** Tries to collect an open invoice in vain. */
export function decline(world: StripeWorld, id: string, failure = 'insufficient_funds'): void {
  chargeOnce(world, world.get('invoice', id), failure);
  world.change(
    'invoice',
    id,
    (each) => {
      each['attempt_count'] = Number(each['attempt_count']) + 1;
      each['attempted'] = true;
      each['next_payment_attempt'] = world.now + 3 * 24 * 60 * 60;
    },
    'invoice.updated',
    'invoice.payment_failed',
  );
}

/** Gives back what was paid for an invoice, or a part of it. */
export function refund(world: StripeWorld, invoiceId: string, part = 1): StripeObject {
  const invoice = world.get('invoice', invoiceId);
  const intent = String(intentOf(invoice));
  const charge = String(world.get('payment_intent', intent)['latest_charge']);
  const amount = Math.round(Number(invoice['amount_paid']) * part);
  const made = world.create(
    'refund',
    { amount, charge, currency: invoice['currency'], payment_intent: intent, status: 'succeeded' },
    'refund.created',
  );
  world.change(
    'charge',
    charge,
    (each) => {
      each['amount_refunded'] = Number(each['amount_refunded']) + amount;
      each['refunded'] = each['amount_refunded'] === each['amount'];
    },
    'charge.refunded',
  );
  return made;
}

/** Withdraws what was paid for an invoice, since the customer disputes it. */
export function dispute(world: StripeWorld, invoiceId: string): string {
  const { amount_paid: amount, currency, ...invoice } = world.get('invoice', invoiceId);
  const intent = String(intentOf(invoice));
  const charge = String(world.get('payment_intent', intent)['latest_charge']);
  const made = world.create(
    'dispute',
    {
      amount,
      charge,
      currency,
      payment_intent: intent,
      reason: 'fraudulent',
      status: 'needs_response',
      balance_transactions: [transfer(world, -Number(amount), currency, charge)],
    },
    'charge.dispute.created',
    'charge.dispute.funds_withdrawn',
  );
  world.change('charge', charge, (each) => {
    each['disputed'] = true;
  });
  return String(made['id']);
}

/** Ends a dispute: what was withdrawn is lost, or comes back. */
export function closeDispute(world: StripeWorld, id: string, outcome: 'lost' | 'won'): void {
  const isWon = outcome === 'won';
  world.change(
    'dispute',
    id,
    (each) => {
      each['status'] = outcome;
      if (!isWon) return;
      const { amount, currency, charge } = each;
      (each['balance_transactions'] as StripeObject[]).push(
        transfer(world, Number(amount), currency, String(charge)),
      );
    },
    'charge.dispute.closed',
    ...(isWon ? ['charge.dispute.funds_reinstated'] : []),
  );
}

const transfer = (world: StripeWorld, amount: number, currency: unknown, source: string) => ({
  id: world.makeId('balance_transaction'),
  object: 'balance_transaction',
  amount,
  net: amount,
  created: world.now,
  available_on: world.now,
  currency,
  reporting_category: amount < 0 ? 'dispute' : 'dispute_reversal',
  source,
  status: 'available',
  type: 'adjustment',
});

/** Credits a part of a paid invoice, by a refund. */
export function credit(world: StripeWorld, invoiceId: string, part: number): void {
  const { customer, currency } = world.get('invoice', invoiceId);
  const given = refund(world, invoiceId, part);
  const { amount } = given;
  world.create(
    'credit_note',
    {
      amount,
      subtotal: amount,
      total: amount,
      post_payment_amount: amount,
      currency,
      customer,
      invoice: invoiceId,
      number: `${invoiceId}-CN`,
      refunds: [{ amount_refunded: amount, refund: given['id'], type: 'refund' }],
      type: 'post_payment',
    },
    'credit_note.created',
  );
}
