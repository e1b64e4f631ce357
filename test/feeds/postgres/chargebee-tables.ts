import type { Tables } from './tables.ts';

const list = (text: string) => text.trim().replaceAll(/\s+/g, ' ');
const at = (day: string) => Date.parse(`${day}T00:00:00Z`) / 1000;

/** Airbyte's source-chargebee, by its schemas of streams, as its destination PostgreSQL types them. */
const airbyte = {
  text: '_airbyte_raw_id',
  jsonb: '_airbyte_meta',
  bigint: '_airbyte_generation_id',
};
export const chargebee: Tables = {
  subscription: {
    text: list(`id currency_code po_number customer_id status trial_end_action cancel_reason created_from_ip
      payment_source_id base_currency_code invoice_notes object coupon cancel_reason_code free_period_unit
      business_entity_id channel plan_id billing_period_unit auto_collection gift_id ${airbyte.text}`),
    bigint: list(`start_date trial_end remaining_billing_cycles trial_start current_term_start
      current_term_end next_billing_at created_at started_at activated_at pause_date resume_date
      cancelled_at resource_version updated_at due_invoices_count due_since total_dues mrr free_period
      billing_period plan_quantity plan_unit_price plan_amount setup_fee ${airbyte.bigint}`),
    jsonb:
      list(`metadata coupons shipping_address referral_info contract_term subscription_items item_tiers
      charged_items meta_data addons event_based_addons discounts custom_fields ${airbyte.jsonb}`),
    boolean: 'has_scheduled_changes deleted override_relationship',
    numeric: 'exchange_rate',
    timestamptz: '_airbyte_extracted_at',
  },
  transaction: {
    text: list(`id customer_id subscription_id gateway_account_id payment_source_id payment_method gateway type
      currency_code id_at_gateway status fraud_flag initiator_type error_code masked_card_number
      reference_transaction_id refunded_txn_id iin last4 object error_text payment_method_details
      ${airbyte.text}`),
    bigint: list(`date settled_at amount voided_at resource_version updated_at amount_unused
      ${airbyte.bigint}`),
    jsonb: list(`linked_invoices linked_credit_notes linked_refunds linked_payments custom_fields
      ${airbyte.jsonb}`),
    boolean: 'three_d_source deleted',
    numeric: 'exchange_rate',
    timestamptz: '_airbyte_extracted_at',
  },
};
const read = { _airbyte_extracted_at: '2026-11-01T00:00:00Z' };
const item = (id: string, cents: number, quantity = 1) => ({
  item_type: 'plan',
  item_price_id: id,
  quantity,
  unit_price: cents / quantity,
  amount: cents,
});
const billed = (id: string, created: string, items: readonly object[], more: object = {}) => ({
  ...read,
  id,
  customer_id: `customer_of_${id}`,
  status: 'active',
  currency_code: 'USD',
  created_at: at(created),
  started_at: at(created),
  updated_at: at(created),
  current_term_end: at('2026-12-05'),
  next_billing_at: at('2026-12-05'),
  due_invoices_count: 0,
  billing_period: 1,
  billing_period_unit: 'month',
  subscription_items: items,
  shipping_address: { email: 'person@example.com' },
  deleted: false,
  ...more,
});
const paid = (id: string, subscription: string, day: string, cents: number, more: object = {}) => ({
  ...read,
  id,
  type: 'payment',
  status: 'success',
  subscription_id: subscription,
  amount: cents,
  currency_code: 'USD',
  date: at(day),
  updated_at: at(day),
  ...more,
});
export const chargebeeRows = {
  subscription: [
    billed('s1', '2026-01-05', [item('box-USD-Monthly', 3000, 2)], {
      discounts: [
        {
          id: 'd1',
          percentage: 20,
          duration_type: 'forever',
          apply_on: 'invoice_amount',
          coupon_id: 'c1',
        },
      ],
      coupons: [{ coupon_id: 'c1' }],
    }),
    billed('s2', '2026-02-05', [item('year-USD-Yearly', 12_000)], {
      status: 'cancelled',
      cancelled_at: at('2026-05-05'),
      next_billing_at: null,
      billing_period_unit: 'year',
    }),
    billed('s3', '2026-03-05', [item('box-USD-Monthly', 1500)], {
      status: 'in_trial',
      trial_end: at('2026-12-20'),
    }),
  ],
  transaction: [
    paid('t1', 's1', '2026-01-05', 2400),
    paid('t2', 's1', '2026-02-05', 2400, { status: 'failure', error_code: 'card_declined' }),
    paid('t3', 's2', '2026-02-06', 12_000),
    paid('t4', 's2', '2026-02-10', 1000, { type: 'refund', linked_payments: [{ id: 't3' }] }),
  ],
};
