import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chargebee, chargebeeRows } from './chargebee-tables.ts';
import { onMerchant } from './merchant.ts';
import { openSuggesting } from './suggesting.ts';
import { type Tables, createTablesOf } from './tables.ts';

const list = (text: string) => text.trim().replaceAll(/\s+/g, ' ');
const loaded = { _fivetran_synced: '2026-11-01T00:00:00' };

/** Fivetran's connector for Recharge, by the columns and seeds of fivetran/dbt_recharge. */
const rechargeVersion = {
  bigint: 'address_id customer_id external_product_id_ecommerce external_variant_id_ecommerce',
  timestamp: list(`created_at updated_at cancelled_at next_charge_scheduled_at _fivetran_synced`),
  text: list(`price cancellation_reason status cancellation_reason_comments product_title variant_title sku
    order_interval_unit`),
  integer: list(`quantity order_interval_frequency charge_interval_frequency order_day_of_week
    order_day_of_month expire_after_specific_number_of_charges`),
  boolean: '_fivetran_deleted',
};
const recharge: Tables = {
  subscription_history: { ...rechargeVersion, bigint: `subscription_id ${rechargeVersion.bigint}` },
  subscription: { ...rechargeVersion, bigint: `id ${rechargeVersion.bigint}` },
  charge: {
    bigint: 'id address_id customer_id external_order_id_ecommerce',
    text: list(`customer_hash note tags type status external_transaction_id_payment_processor email
      payment_processor error_type error client_details_browser_ip client_details_user_agent`),
    timestamp:
      list(`created_at updated_at processed_at scheduled_at retry_date last_charge_attempt_date
      _fivetran_synced`),
    'double precision':
      list(`subtotal_price tax_lines total_discounts total_line_items_price total_price
      total_tax total_weight_grams total_refunds`),
    integer: 'orders_count charge_attempts',
    boolean: '_fivetran_deleted has_uncommitted_changes',
  },
  charge_line_item: {
    bigint:
      'charge_id external_product_id_ecommerce external_variant_id_ecommerce purchase_item_id',
    text: 'variant_title title sku vendor purchase_item_type',
    'double precision': 'grams total_price unit_price tax_due taxable_amount',
    integer: 'index quantity',
    boolean: 'taxable unit_price_includes_tax',
    timestamp: '_fivetran_synced',
  },
};

const box = (id: number, created: string, more: object = {}) => ({
  ...loaded,
  id,
  subscription_id: id,
  customer_id: 90_000_000 + id,
  address_id: 30_000_000 + id,
  created_at: created,
  updated_at: created,
  next_charge_scheduled_at: null,
  price: '18.50',
  quantity: 1,
  status: 'ACTIVE',
  product_title: 'Box',
  external_product_id_ecommerce: 6_800_000,
  external_variant_id_ecommerce: 4_800_000,
  order_interval_unit: 'month',
  order_interval_frequency: 1,
  charge_interval_frequency: 1,
  ...more,
});
const cancelled = {
  status: 'CANCELLED',
  cancelled_at: '2026-06-05',
  updated_at: '2026-06-05',
  next_charge_scheduled_at: null,
};
const boxes = [
  box(601, '2026-01-05', { quantity: 2, next_charge_scheduled_at: '2026-12-05' }),
  box(602, '2026-02-05', cancelled),
  box(603, '2026-03-05', {
    order_interval_unit: 'day',
    order_interval_frequency: 28,
    charge_interval_frequency: 28,
  }),
  // A year is paid for at once, and sent monthly.
  box(604, '2026-04-05', { price: '240.00', charge_interval_frequency: 12 }),
];
const charge = (id: number, day: string, status: string, more: object = {}) => ({
  ...loaded,
  id,
  status,
  type: 'RECURRING',
  total_price: 37,
  created_at: day,
  updated_at: day,
  processed_at: day,
  email: 'person@example.com',
  ...more,
});
const rechargeExpected = {
  subscriptions: [
    '2026-01-05 active 2026-01-05 for 2 x 18.5 every 1 month next 2026-12-05',
    '2026-02-05 cancelled 2026-06-05 for 1 x 18.5 every 1 month',
    '2026-03-05 active 2026-03-05 for 1 x 18.5 every 28 day',
    '2026-04-05 active 2026-04-05 for 1 x 240 every 12 month',
  ],
  payments: [
    '2026-01-05 succeeded 37',
    '2026-02-05 failed 37 CARD_DECLINED',
    '2026-02-06 succeeded 18.5',
  ],
  refunds: [],
};

/** Fivetran's connector for Recurly, by the columns and seeds of fivetran/dbt_recurly. */
const recurly: Tables = {
  subscription_history: {
    text: list(
      `id account_id plan_id object uuid state currency collection_method expiration_reason`,
    ),
    timestamp: list(`_fivetran_synced created_at updated_at activated_at canceled_at expires_at
      current_period_started_at current_period_ends_at current_term_started_at current_term_ends_at
      trial_started_at trial_ends_at paused_at`),
    integer: list(`remaining_billing_cycles total_billing_cycles renewal_billing_cycles
      remaining_pause_cycles quantity`),
    'double precision': 'unit_amount add_ons_total subtotal',
    boolean: 'auto_renew',
  },
  plan_history: {
    text: list(`id code state name description interval_unit trial_unit accounting_code
      setup_fee_accounting_code tax_code`),
    timestamp: '_fivetran_synced created_at updated_at deleted_at',
    integer: 'interval_length trial_length total_billing_cycles',
    boolean: 'auto_renew tax_exempt',
  },
  coupon_redemption_history: {
    text: 'id account_id coupon_id currency state',
    timestamp: 'updated_at _fivetran_synced created_at removed_at',
    'double precision': 'discounted',
  },
  coupon_discount: {
    text: 'coupon_id fivetran_id currency trial_unit type',
    timestamp: '_fivetran_synced',
    'double precision': 'amount percentage',
    integer: 'trial_length',
  },
  transaction: {
    text: list(`id original_transaction_id account_id invoice_id voided_by_invoice_id uuid type origin
      currency status billing_first_name billing_last_name collection_method payment_method_object
      status_code status_message customer_message`),
    timestamp: '_fivetran_synced created_at voided_at collected_at',
    'double precision': 'amount gateway_response_time',
    boolean: 'success refunded',
  },
  transaction_subscription: {
    text: 'subscription_id transaction_id',
    timestamp: '_fivetran_synced',
  },
};
const plan = (id: string, name: string, months: number) => ({
  ...loaded,
  id,
  name,
  state: 'active',
  interval_unit: 'months',
  interval_length: months,
  updated_at: '2025-01-01',
});
const recurring = (id: string, plan_id: string, created: string, more: object = {}) => ({
  ...loaded,
  id,
  plan_id,
  account_id: `account_of_${id}`,
  object: 'subscription',
  state: 'active',
  currency: 'USD',
  unit_amount: 20,
  quantity: 1,
  add_ons_total: 0,
  created_at: created,
  activated_at: created,
  updated_at: created,
  current_period_ends_at: '2026-12-05',
  ...more,
});
const ended = {
  state: 'expired',
  canceled_at: '2026-05-01',
  expires_at: '2026-05-05',
  updated_at: '2026-05-05',
  expiration_reason: 'canceled',
};
const transaction = (id: string, day: string, amount: number, more: object = {}) => ({
  ...loaded,
  id,
  type: 'purchase',
  status: 'success',
  currency: 'USD',
  amount,
  invoice_id: `invoice_${id}`,
  created_at: day,
  collected_at: day,
  billing_first_name: 'Person',
  ...more,
});
const recurlyRows = {
  plan_history: [
    plan('plan_month', 'Old name', 2),
    { ...plan('plan_month', 'Box', 1), updated_at: '2025-06-01' },
    plan('plan_year', 'Year', 12),
  ],
  subscription_history: [
    recurring('s1', 'plan_month', '2026-01-05', { quantity: 2, add_ons_total: 5 }),
    recurring('s2', 'plan_year', '2026-02-05', { unit_amount: 120 }),
    recurring('s2', 'plan_year', '2026-02-05', { unit_amount: 120, ...ended }),
    recurring('s3', 'plan_month', '2026-03-05', { trial_ends_at: '2026-12-20' }),
    recurring('s4', 'plan_month', '2026-04-05'),
  ],
  coupon_redemption_history: [
    {
      id: 'r1',
      account_id: 'account_of_s4',
      coupon_id: 'c1',
      state: 'active',
      updated_at: '2026-04-05',
    },
    {
      id: 'r2',
      account_id: 'account_of_s1',
      coupon_id: 'c1',
      state: 'active',
      updated_at: '2026-01-05',
    },
    {
      id: 'r2',
      account_id: 'account_of_s1',
      coupon_id: 'c1',
      state: 'inactive',
      updated_at: '2026-02-05',
    },
  ],
  coupon_discount: [{ coupon_id: 'c1', type: 'percent', percentage: 50 }],
  transaction: [
    transaction('t1', '2026-01-05', 45),
    transaction('t2', '2026-02-05', 45, { status: 'declined', status_code: 'insufficient_funds' }),
    transaction('t3', '2026-02-06', 120),
    transaction('t4', '2026-02-10', 30, { type: 'refund', original_transaction_id: 't3' }),
    transaction('t5', '2026-02-11', 0, { type: 'verify' }),
  ],
  transaction_subscription: [
    ['t1', 's1'],
    ['t2', 's1'],
    ['t3', 's2'],
    ['t4', 's2'],
  ].map(([transaction_id, subscription_id]) => ({ transaction_id, subscription_id })),
};

onMerchant('presets of other billing systems', (at) => {
  const service = openSuggesting(at);

  async function check(
    whose: string,
    schema: string,
    tables: Tables,
    rows: object,
    expected: object,
  ) {
    await createTablesOf(at.source, schema, tables, rows as Parameters<typeof createTablesOf>[3]);
    const { out, err } = await service.suggest(at.source);
    assert.ok(err.startsWith(`These are the tables of ${whose}.`), err);
    assert.deepEqual(await service.follow(out), expected);
  }

  for (const lacking of ['subscription', 'subscription_history']) {
    test(`Fivetran's Recharge, without the table ${lacking}`, () => {
      const { [lacking]: _, ...tables } = recharge;
      const rows = {
        subscription: boxes,
        subscription_history: [...boxes, box(602, '2026-02-05')],
        charge: [
          charge(401, '2026-01-05', 'SUCCESS'),
          charge(402, '2026-02-05', 'ERROR', { processed_at: null, error_type: 'CARD_DECLINED' }),
          charge(403, '2026-02-06', 'REFUNDED', { total_price: 18.5, total_refunds: 18.5 }),
          charge(404, '2026-12-05', 'QUEUED', { processed_at: null }),
        ],
        charge_line_item: [401, 402, 404]
          .map((charge_id) => ({
            charge_id,
            index: 0,
            purchase_item_id: 601,
            purchase_item_type: 'subscription',
          }))
          .concat({
            charge_id: 403,
            index: 0,
            purchase_item_id: 602,
            purchase_item_type: 'subscription',
          }),
      };
      return check("Fivetran's Recharge", 'recharge', tables, rows, rechargeExpected);
    });
  }

  test("Fivetran's Recurly", () =>
    check("Fivetran's Recurly", 'recurly', recurly, recurlyRows, {
      subscriptions: [
        '2026-01-05 active 2026-01-05 for 2 x 20 + 1 x 5 every 1 month next 2026-12-05',
        '2026-02-05 cancelled 2026-05-05 for 1 x 120 every 12 month',
        '2026-03-05 active 2026-03-05 for 1 x 20 every 1 month trial until 2026-12-20 next 2026-12-05',
        '2026-04-05 active 2026-04-05 for 1 x 20 every 1 month next 2026-12-05',
      ],
      payments: [
        '2026-01-05 succeeded 45',
        '2026-02-05 failed 45 insufficient_funds',
        '2026-02-06 succeeded 120',
      ],
      refunds: ['2026-02-10 30 of 120'],
    }));

  test("Airbyte's Chargebee", () =>
    check("Airbyte's Chargebee", 'chargebee', chargebee, chargebeeRows, {
      subscriptions: [
        '2026-01-05 active 2026-01-05 for 2 x 12 every 1 month paid until 2026-12-05 next 2026-12-05',
        '2026-02-05 cancelled 2026-05-05 for 1 x 120 every 1 year',
        '2026-03-05 active 2026-03-05 for 1 x 15 every 1 month trial until 2026-12-20 next 2026-12-05',
      ],
      payments: [
        '2026-01-05 succeeded 24',
        '2026-02-05 failed 24 card_declined',
        '2026-02-06 succeeded 120',
      ],
      refunds: ['2026-02-10 10 of 120'],
    }));
});
