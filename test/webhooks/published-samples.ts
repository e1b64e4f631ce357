/*
 * The shapes of the samples that Shopify publishes, and sends with `shopify app webhook trigger`:
 * attempts have no ids, cycles have no id field, and the shop is another one.
 * https://shopify.dev/docs/api/webhooks
 */

const gid = (type: string, id: number) => `gid://shopify/${type}/${id}`;
const policy = { interval: 'month', interval_count: 1 };

const contract = {
  admin_graphql_api_id: gid('SubscriptionContract', 5001),
  id: 5001,
  billing_policy: { ...policy, min_cycles: null, max_cycles: null },
  currency_code: 'USD',
  customer_id: 601,
  admin_graphql_api_customer_id: gid('Customer', 601),
  delivery_policy: policy,
  status: 'active',
  admin_graphql_api_origin_order_id: gid('Order', 701),
  origin_order_id: 701,
  revision_id: 801,
};

const attempt = {
  id: null,
  admin_graphql_api_id: null,
  idempotency_key: '9a453bd8-4b8e-4b21-8a4d-1c5d1f0f5d0a',
  order_id: 702,
  admin_graphql_api_order_id: gid('Order', 702),
  subscription_contract_id: 5002,
  admin_graphql_api_subscription_contract_id: gid('SubscriptionContract', 5002),
  ready: true,
  error_message: null,
  error_code: null,
};

const cycle = {
  subscription_contract_id: 5003,
  cycle_start_at: '2026-11-01T00:00:00Z',
  cycle_end_at: '2026-12-01T00:00:00Z',
  cycle_index: 3,
  contract_edit: null,
  billing_attempt_expected_date: '2026-12-01T00:00:00Z',
  skipped: true,
  edited: false,
};

const planGroup = { admin_graphql_api_id: gid('SellingPlanGroup', 5004), id: 5004 };
const wholePlanGroup = {
  ...planGroup,
  admin_graphql_api_app: null,
  name: 'Subscribe & save',
  merchant_code: 'subscribe-save',
  options: ['Deliver every'],
  selling_plans: [{ name: 'Monthly', billing_policy: policy, delivery_policy: policy }],
};

const shop = { shop_id: 954889, shop_domain: '{shop}.myshopify.com' };
const customer = { id: 191167, email: 'john@example.com', phone: '555-625-1199' };

/** By topic, for each topic that has an effect. */
export const publishedSamples: Readonly<Record<string, object>> = {
  'subscription_contracts/create': contract,
  'subscription_contracts/update': contract,
  'subscription_contracts/activate': contract,
  'subscription_contracts/pause': { ...contract, status: 'paused' },
  'subscription_contracts/cancel': { ...contract, status: 'cancelled' },
  'subscription_contracts/expire': { ...contract, status: 'expired' },
  'subscription_contracts/fail': { ...contract, status: 'failed' },
  'subscription_billing_attempts/success': attempt,
  'subscription_billing_attempts/failure': { ...attempt, error_code: 'card_declined' },
  'subscription_billing_attempts/challenged': { ...attempt, ready: false },
  'subscription_billing_cycles/skip': cycle,
  'subscription_billing_cycles/unskip': { ...cycle, skipped: false },
  'subscription_billing_cycle_edits/create': { ...cycle, edited: true },
  'subscription_billing_cycle_edits/update': { ...cycle, edited: true },
  'subscription_billing_cycle_edits/delete': cycle,
  'selling_plan_groups/create': wholePlanGroup,
  'selling_plan_groups/update': wholePlanGroup,
  'selling_plan_groups/delete': planGroup,
  'app/uninstalled': {
    id: 548380009,
    name: 'Super Toys',
    email: 'super@supertoys.com',
    domain: null,
    myshopify_domain: null,
    updated_at: '2026-11-01T00:00:00-05:00',
    currency: 'USD',
  },
  'customers/data_request': {
    ...shop,
    orders_requested: [299938],
    customer,
    data_request: { id: 9999 },
  },
  'customers/redact': { ...shop, customer, orders_to_redact: [299938] },
  'shop/redact': shop,
};
