import type { Tables } from './tables.ts';
import { coupon, expected, invoices, prices, refunds, subscriptions } from './stripe-tables.ts';

const list = (text: string) => text.trim().replaceAll(/\s+/g, ' ');
const time = (seconds: unknown) =>
  typeof seconds === 'number' ? new Date(seconds * 1000).toISOString().slice(0, -1) : null;

const subscriptionColumns = {
  text: list(`id billing customer_id default_source_id latest_invoice_id default_payment_method_id
    pending_setup_intent_id metadata status pause_collection_behavior`),
  timestamp:
    list(`_fivetran_synced billing_cycle_anchor cancel_at canceled_at created current_period_end
    current_period_start ended_at start_date trial_end trial_start pause_collection_resumes_at`),
  boolean: 'billing_threshold_reset_billing_cycle_anchor cancel_at_period_end livemode',
  integer: 'billing_threshold_amount_gte days_until_due quantity',
  'double precision': 'application_fee_percent tax_percent',
};

/** Fivetran's connector for Stripe, by the columns and seeds of fivetran/dbt_stripe. */
const shapes: Tables = {
  subscription: subscriptionColumns,
  subscription_history: {
    ...subscriptionColumns,
    boolean: `${subscriptionColumns.boolean} _fivetran_active`,
  },
  subscription_item: {
    text: 'id metadata plan_id subscription_id',
    timestamp: '_fivetran_synced created current_period_end current_period_start',
    integer: 'quantity',
  },
  price: {
    text: list(`id billing_scheme currency invoice_item_id lookup_key metadata nickname product_id
      recurring_aggregate_usage recurring_interval recurring_usage_type tiers_mode
      transform_quantity_round type unit_amount_decimal`),
    timestamp: '_fivetran_synced created',
    boolean: 'active is_deleted livemode',
    integer: 'recurring_interval_count transform_quantity_divide_by unit_amount',
  },
  plan: {
    text: list(`id aggregate_usage billing_scheme currency interval nickname product_id tiers_mode
      transform_usage_round usage_type`),
    timestamp: '_fivetran_synced created',
    boolean: 'active is_deleted livemode',
    integer: 'amount interval_count transform_usage_divide_by trial_period_days',
  },
  product: {
    text: 'id name description',
    timestamp: '_fivetran_synced created',
    boolean: 'active',
  },
  subscription_discount: {
    text: 'id checkout_session coupon_id customer_id invoice_id invoice_item_id subscription_id',
    timestamp: '_fivetran_synced start end',
  },
  coupon: {
    text: 'id currency duration metadata name',
    timestamp: '_fivetran_synced created redeem_by',
    integer: 'amount_off duration_in_months max_redemptions times_redeemed',
    'double precision': 'percent_off',
    boolean: 'livemode valid',
  },
  invoice: {
    text: list(`id billing billing_reason charge_id currency customer_id default_source_id description footer
      hosted_invoice_url invoice_pdf metadata number default_payment_method_id payment_intent_id
      subscription_id receipt_number statement_descriptor status`),
    timestamp:
      list(`_fivetran_synced created date due_date finalized_at next_payment_attempt period_end
      period_start status_transitions_finalized_at status_transitions_marked_uncollectible_at
      status_transitions_paid_at status_transitions_voided_at webhooks_delivered_at`),
    integer: list(`amount_due amount_paid amount_remaining application_fee_amount attempt_count
      ending_balance starting_balance subtotal tax total`),
    boolean: 'attempted auto_advance is_deleted livemode paid',
  },
  charge: {
    text: list(`id currency customer_id failure_code failure_message invoice_id payment_intent_id
      receipt_email status`),
    timestamp: '_fivetran_synced created',
    integer: 'amount amount_refunded',
    boolean: 'captured paid refunded livemode',
  },
  refund: {
    text: list(`id balance_transaction_id charge_id currency description failure_reason metadata reason
      receipt_number status`),
    timestamp: '_fivetran_synced created',
    integer: 'amount',
  },
};

type Form = 'history and prices' | 'present rows and plans';

const flat = (row: object) => {
  const { id, status, customer, ...times } = row as Record<string, unknown>;
  const names = [
    'cancel_at',
    'created',
    'start_date',
    'ended_at',
    'canceled_at',
    'trial_start',
    'trial_end',
  ];
  return {
    id,
    status,
    customer_id: customer,
    cancel_at_period_end: false,
    current_period_end: time(times['current_period_end']),
    ...Object.fromEntries(names.map((name) => [name, time(times[name])])),
  };
};

/** The same world in these tables; those of the older connector lack discounts. */
export function fivetran(form: Form) {
  const isHistory = form === 'history and prices';
  const lacking = isHistory
    ? ['subscription', 'plan']
    : ['subscription_history', 'price', 'product', 'subscription_discount', 'coupon'];
  const tables = Object.fromEntries(
    Object.entries(shapes).filter(([name]) => !lacking.includes(name)),
  );
  const flattened = subscriptions.map(flat);
  const rows: Record<string, readonly object[]> = {
    subscription: flattened,
    subscription_history: [
      ...flattened.map((each) => ({ ...each, _fivetran_active: true })),
      { ...flattened[1], status: 'active', ended_at: null, _fivetran_active: false },
    ],
    subscription_item: subscriptions.map(({ id, items }) => ({
      id: items.data[0]?.id,
      subscription_id: id,
      plan_id: items.data[0]?.price?.id,
      quantity: items.data[0]?.quantity,
    })),
    price: prices.map(({ recurring, product, ...each }) => ({
      ...each,
      product_id: product,
      recurring_interval: recurring.interval,
      recurring_interval_count: recurring.interval_count,
      recurring_usage_type: recurring.usage_type,
    })),
    plan: prices.map(({ id, currency, unit_amount: amount, billing_scheme, recurring }) => {
      return { id, currency, amount, billing_scheme, ...recurring };
    }),
    product: prices.map(({ product: id }) => ({ id, name: 'A box' })),
    coupon: [coupon],
    subscription_discount: ['sub_1', 'sub_4'].map((id) => ({
      id: `di_${id}`,
      subscription_id: id,
      coupon_id: coupon.id,
      start: '2026-01-05T00:00:00',
    })),
    invoice: invoices.map(
      ({ created, status_transitions: { finalized_at: finalized, paid_at: paid }, ...each }) => ({
        ...each,
        subscription_id: each.subscription,
        created: time(created),
        status_transitions_finalized_at: time(finalized),
        status_transitions_paid_at: time(paid),
      }),
    ),
    charge: invoices.map(({ id, payment_intent: intent }, index) => ({
      id: `ch_${id}`,
      invoice_id: id,
      payment_intent_id: intent,
      status: index === 1 ? 'failed' : 'succeeded',
      failure_code: index === 1 ? 'card_declined' : null,
    })),
    refund: refunds.map(({ charge, created, ...each }) => {
      return { ...each, charge_id: charge, created: time(created) };
    }),
  };
  return {
    tables,
    rows: Object.fromEntries(Object.keys(tables).map((name) => [name, rows[name] ?? []])),
  };
}

export function fivetranExpected(form: Form) {
  const full = (each: string) =>
    form === 'history and prices' ? each : each.replace(/ x 12 /, ' x 15 ');
  return {
    ...expected,
    subscriptions: expected.subscriptions.map(full),
    payments: expected.payments.map((each) =>
      each.replace(/failed 24$/, 'failed 24 card_declined'),
    ),
  };
}
