import type { Tables } from './tables.ts';

const at = (day: string) => Date.parse(`${day}T00:00:00Z`) / 1000;

const price = (id: string, unit: number, interval: string, more: object = {}) => ({
  id,
  object: 'price',
  product: `prod_${id}`,
  currency: 'usd',
  nickname: id,
  billing_scheme: 'per_unit',
  unit_amount: unit,
  unit_amount_decimal: String(unit),
  recurring: { interval, interval_count: 1, usage_type: 'licensed' },
  ...more,
});
export const prices = [
  price('price_box', 1500, 'month'),
  price('price_year', 12_000, 'year'),
  price('price_big', 3000, 'month'),
];

export const coupon = {
  id: 'TWENTY',
  object: 'coupon',
  duration: 'forever',
  percent_off: 20,
  currency: null,
  amount_off: null,
};

const subscription = (id: string, created: string, index: number, more: object = {}) => ({
  id,
  object: 'subscription',
  status: 'active',
  customer: `cus_${id}`,
  created: at(created),
  start_date: at(created),
  cancel_at_period_end: false,
  current_period_start: at('2026-11-05'),
  current_period_end: at('2026-12-05'),
  discount: null as object | null,
  metadata: { email: 'person@example.com' },
  items: { object: 'list', data: [{ id: `si_${id}`, price: prices[index], quantity: 1 }] },
  ...more,
});

/**
 * Two units with a fifth off forever; one of a year that was cancelled; one on trial; one of a customer's discount,
 * which ends with its period.
 */
export const subscriptions = [
  subscription('sub_1', '2026-01-05', 0, {
    discount: { id: 'di_1', object: 'discount', start: at('2026-01-05'), end: null, coupon },
    items: { object: 'list', data: [{ id: 'si_sub_1', price: prices[0], quantity: 2 }] },
  }),
  subscription('sub_2', '2026-02-05', 1, {
    status: 'canceled',
    canceled_at: at('2026-05-05'),
    ended_at: at('2026-05-05'),
  }),
  subscription('sub_3', '2026-03-05', 2, {
    status: 'trialing',
    trial_start: at('2026-03-05'),
    trial_end: at('2026-12-20'),
  }),
  subscription('sub_4', '2026-04-05', 0, { cancel_at: at('2026-12-05') }),
];

/** The last one has a discount for all that it buys. */
export const customers = subscriptions.map(({ customer: id }, index) => ({
  id,
  object: 'customer',
  email: 'person@example.com',
  discount:
    index === 3 ? { id: 'di_4', object: 'discount', start: at('2026-04-05'), coupon } : null,
}));

const invoice = (id: string, subscriptionId: string, day: string, cents: number, more = {}) => ({
  id,
  object: 'invoice',
  status: 'paid',
  billing_reason: 'subscription_cycle',
  attempted: true,
  attempt_count: 1,
  currency: 'usd',
  amount_due: cents,
  amount_paid: cents,
  created: at(day),
  status_transitions: { finalized_at: at(day), paid_at: at(day) },
  subscription: subscriptionId,
  payment_intent: `pi_${id}`,
  customer_email: 'person@example.com',
  ...more,
});

/** Paid, failed, of a year; a draft, and one of no subscription, which are skipped. */
export const invoices = [
  invoice('in_1', 'sub_1', '2026-01-05', 2400),
  invoice('in_2', 'sub_1', '2026-02-05', 2400, {
    status: 'open',
    amount_paid: 0,
    status_transitions: { finalized_at: at('2026-02-05'), paid_at: null },
  }),
  invoice('in_3', 'sub_2', '2026-02-06', 12_000),
  invoice('in_4', 'sub_1', '2026-03-05', 2400, { status: 'draft', attempted: false }),
  invoice('in_5', 'sub_1', '2026-03-06', 500, { billing_reason: 'manual', subscription: null }),
];

const refund = (id: string, more: object = {}) => ({
  id,
  object: 'refund',
  amount: 1000,
  currency: 'usd',
  payment_intent: 'pi_in_3',
  charge: 'ch_in_3',
  status: 'succeeded',
  created: at('2026-02-10'),
  ...more,
});

/** The second did not succeed, and is skipped. */
export const refunds = [refund('re_1'), refund('re_2', { status: 'failed' })];

/** What a shop has of it all, worked out by hand. */
export const expected = {
  subscriptions: [
    '2026-01-05 active 2026-01-05 for 2 x 12 every 1 month paid until 2026-12-05 next 2026-12-05',
    '2026-02-05 cancelled 2026-05-05 for 1 x 120 every 1 year',
    '2026-03-05 active 2026-03-05 for 1 x 30 every 1 month trial until 2026-12-20 next 2026-12-05',
    '2026-04-05 active 2026-04-05 for 1 x 12 every 1 month paid until 2026-12-05',
  ],
  payments: ['2026-01-05 succeeded 24', '2026-02-05 failed 24', '2026-02-06 succeeded 120'],
  refunds: ['2026-02-10 10 of 120'],
};

const list = (text: string) => text.trim().replaceAll(/\s+/g, ' ');

/** supabase/stripe-sync-engine, migrations 0000 to 0042. */
export const syncEngine: Tables = {
  customers: {
    text: list(
      `id object description email name phone currency default_source invoice_prefix tax_exempt`,
    ),
    jsonb: list(`address metadata shipping discount invoice_settings preferred_locales`),
    integer: 'balance created next_invoice_sequence',
    boolean: 'delinquent livemode deleted',
    timestamptz: 'updated_at last_synced_at',
  },
  subscriptions: {
    text: list(`id object status default_payment_method pending_setup_intent collection_method default_source
      schedule customer latest_invoice plan`),
    jsonb:
      list(`items metadata pending_update billing_thresholds default_tax_rates discount pause_collection
      pending_invoice_item_interval transfer_data trial_end trial_start billing_mode`),
    integer:
      list(`current_period_end current_period_start billing_cycle_anchor cancel_at canceled_at created
      days_until_due ended_at next_pending_invoice_item_invoice start_date`),
    boolean: 'cancel_at_period_end livemode',
    'double precision': 'application_fee_percent',
    timestamptz: 'updated_at last_synced_at',
  },
  invoices: {
    text: list(`id object collection_method currency description hosted_invoice_url status account_country
      account_name billing_reason customer_email customer_name customer_phone customer_tax_exempt footer
      invoice_pdf number receipt_number statement_descriptor customer subscription payment_intent
      default_payment_method default_source on_behalf_of charge`),
    jsonb: list(`lines metadata account_tax_ids custom_fields customer_address customer_shipping
      customer_tax_ids default_tax_rates discount discounts last_finalization_error payment_settings
      status_transitions total_discount_amounts total_tax_amounts transfer_data`),
    bigint: 'total amount_due amount_paid amount_remaining application_fee_amount',
    integer:
      list(`period_end period_start attempt_count created due_date ending_balance next_payment_attempt
      post_payment_credit_notes_amount pre_payment_credit_notes_amount starting_balance subtotal tax
      webhooks_delivered_at`),
    boolean: 'auto_advance attempted livemode paid',
    timestamptz: 'updated_at last_synced_at',
  },
  invoice_payments: {
    text: 'id object currency invoice status',
    bigint: 'amount_paid amount_requested',
    integer: 'created',
    boolean: 'is_default livemode',
    jsonb: 'payment status_transitions',
    timestamptz: 'updated_at last_synced_at',
  },
  refunds: {
    text: list(`id object balance_transaction charge currency payment_intent reason receipt_number
      source_transfer_reversal status transfer_reversal`),
    integer: 'amount created',
    jsonb: 'destination_details metadata',
    timestamptz: 'updated_at last_synced_at',
  },
};

const loadedColumns: Tables[string] = {
  text: '_airbyte_raw_id',
  timestamptz: '_airbyte_extracted_at',
  jsonb: '_airbyte_meta',
  bigint: '_airbyte_generation_id',
};
const loadedBy = (columns: Tables[string]) => {
  const types = new Set([...Object.keys(columns), ...Object.keys(loadedColumns)]);
  return Object.fromEntries(
    [...types].map((type) => [
      type,
      [columns, loadedColumns].flatMap((each) => each[type] ?? []).join(' '),
    ]),
  );
};

/** Airbyte's source-stripe, by its schemas of streams, as its destination PostgreSQL types them. */
export const airbyte: Tables = {
  customers: loadedBy({
    text: 'id object email name phone currency default_source description tax_exempt',
    jsonb: 'metadata address shipping discount invoice_settings',
    bigint: 'created updated balance',
    boolean: 'delinquent livemode is_deleted',
  }),
  subscriptions: loadedBy({
    text: list(`id object status customer currency application test_clock billing collection_method
      default_source default_payment_method latest_invoice pending_setup_intent description schedule
      on_behalf_of`),
    jsonb:
      list(`metadata items billing_cycle_anchor_config invoice_settings discount plan transfer_data
      automatic_tax payment_settings pending_invoice_item_interval default_tax_rates pause_collection
      cancellation_details pending_update trial_settings billing_thresholds`),
    bigint: list(`canceled_at cancel_at start_date trial_start trial_end billing_cycle_anchor
      current_period_end current_period_start quantity days_until_due created updated ended_at
      next_pending_invoice_item_invoice`),
    boolean: 'livemode cancel_at_period_end is_deleted',
    numeric: 'application_fee_percent tax_percent',
  }),
  invoices: loadedBy({
    text: list(`id object charge description receipt_number payment statement_descriptor hosted_invoice_url
      billing number billing_reason invoice_pdf customer currency statement_description subscription status
      customer_name application customer_tax_exempt footer test_clock default_source payment_intent
      default_payment_method collection_method latest_revision quote customer_phone on_behalf_of
      customer_email account_name account_country`),
    jsonb:
      list(`metadata customer_tax_ids discounts discount lines subscription_details status_transitions
      total_discount_amounts shipping_cost custom_fields transfer_data customer_shipping from_invoice
      total_tax_amounts automatic_tax payment_settings shipping_details default_tax_rates
      last_finalization_error issuer rendering_options account_tax_ids customer_address rendering`),
    bigint:
      list(`created updated tax attempt_count amount_paid amount_remaining ending_balance subtotal
      application_fee starting_balance amount_due total post_payment_credit_notes_amount
      application_fee_amount amount_shipping effective_at total_excluding_tax subtotal_excluding_tax
      pre_payment_credit_notes_amount`),
    numeric:
      'next_payment_attempt due_date webhooks_delivered_at period_end tax_percent period_start',
    boolean: 'auto_advance paid livemode attempted closed forgiven paid_out_of_band is_deleted',
  }),
  refunds: loadedBy({
    text: list(`id object balance_transaction charge currency payment_intent reason receipt_number
      source_transfer_reversal status transfer_reversal`),
    bigint: 'amount created updated',
    jsonb: 'metadata destination_details',
  }),
};
