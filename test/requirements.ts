/** A testable sentence or table row of the contract. Tests cite its id in a comment above them. */
export interface Requirement {
  /** Cited in `// Requirements:`; `rest.fields.<resource>.*` cites every field of a resource. */
  readonly id: string;
  /** Its heading in the contract. */
  readonly section: string;
  readonly text: string;
}

/** The contract's requirements for REST: authentication, scopes, errors, limits, versions and fields. */
export const restRequirements: readonly Requirement[] = [
  ...under('What the service does', {
    'rest.service.base-path': 'REST API under {base_url}/api/external/v1.',
    'rest.service.read-only': 'No operation creates, changes or deletes data.',
    'rest.service.shop-scoped': 'All data is scoped to the shop that owns the API key.',
    'rest.service.no-cors': 'Server-to-server; it sends no CORS headers.',
  }),
  ...under('Resources and their fields', {
    'rest.fields.timestamps': 'Timestamps are ISO 8601 UTC strings with milliseconds.',
    'rest.fields.money': "Money values are numbers in the shop's currency.",
    'rest.subscription.line-items-only-in-detail': 'lineItems: only in the detail response.',
    'rest.subscription.current-price': 'currentPrice: per-cycle value, line prices times quantity.',
    'rest.subscription.no-personal-data': 'customerId: opaque internal id, not personal data.',
    'rest.line-item.catalog-fields': "Line items carry the shop's own catalog fields.",
    'rest.metrics-summary.aggregate-only': 'Aggregate only; no per-customer rows.',
    'rest.metrics-summary.fractions': 'churnRate30d, saveRate and recoveryRate are in [0, 1].',
    'rest.cancellations.no-personal-data': 'No customer personal data is included.',
    'rest.cancellations.null-in-progress': 'outcome is null for a session in progress.',
    'rest.cancellations.null-no-offer':
      'offerType is one of offer_discount, pause, swap, skip_next; null if no offer was shown.',
  }),
  ...fieldsOf('Entitlement entry', 'entitlement', {
    subscriptionId: 'integer',
    planId: 'integer',
    planName: 'string',
    planType: 'string',
    status: 'string',
    isEntitled: 'boolean',
    paidThroughAt: 'timestamp or null; an addition that the contract permits',
  }),
  ...fieldsOf('Subscription', 'subscription', {
    subscriptionId: 'integer',
    customerId: 'integer',
    status: 'string',
    planId: 'integer',
    planName: 'string',
    planType: 'string',
    currentPrice: 'number',
    nextBillingDate: 'timestamp',
    createdAt: 'timestamp',
    lineItems: 'array of line item',
  }),
  ...fieldsOf('Line item', 'line-item', {
    lineId: 'integer',
    productId: 'integer',
    productTitle: 'string',
    variantId: 'integer',
    variantTitle: 'string',
    quantity: 'integer',
    currentPrice: 'number',
  }),
  ...fieldsOf('Metrics summary', 'metrics-summary', {
    activeSubscribers: 'integer',
    pausedSubscribers: 'integer',
    mrr: 'number, money',
    revenue30d: 'number, money',
    newSubscribers30d: 'integer',
    cancelled30d: 'integer',
    churnRate30d: 'number, fraction',
    saveRate: 'number, fraction',
    cancelSessions30d: 'integer',
    dunningActive: 'integer',
    recoveryRate: 'number, fraction',
    failedPayments30d: 'integer',
    avgSubscriptionValue: 'number, money',
    upcomingRenewals7d: 'integer',
    upcomingRenewalsValue7d: 'number, money',
    generatedAt: 'timestamp',
    currency: 'string, ISO 4217; an addition that the contract permits',
  }),
  ...fieldsOf('Selling plan', 'plan', {
    id: 'integer',
    name: 'string',
    groupName: 'string',
    intervalUnit: 'string',
    intervalCount: 'integer',
    active: 'boolean',
    productCount: 'integer',
    pricing: 'object: discountType (string), discountValue (number), summary (string)',
  }),
  ...fieldsOf('Cancellation session', 'cancellation', {
    sessionId: 'integer',
    detectedReason: 'string',
    outcome: 'string or null',
    offerType: 'string or null',
    createdAt: 'timestamp',
  }),
  ...under('States and transitions', {
    'rest.states.subscription': 'status: active, paused, cancelled, expired, failed.',
    'rest.states.cancellation': 'outcome: saved, cancelled, abandoned, null (in progress).',
  }),
  ...under('Endpoints', {
    'rest.endpoints.get-only': 'All endpoints are GET and take no request body.',
    'rest.endpoints.json': 'All endpoints return JSON.',
    'rest.endpoints.envelope': 'Every non-2xx response uses the error envelope.',
    'rest.entitlements':
      'GET /entitlements, read:entitlements, customerId required: { subscriptions: [entitlement entry] }.',
    'rest.subscriptions':
      'GET /subscriptions, read:subscriptions, limit, cursor, status: { subscriptions, nextCursor }.',
    'rest.subscription':
      'GET /subscriptions/{id}, read:subscriptions: { subscription with lineItems }.',
    'rest.metrics-summary': 'GET /metrics/summary, read:metrics: { summary }.',
    'rest.plans': 'GET /plans, read:plans: { plans: [selling plan] }.',
    'rest.cancellations':
      'GET /cancellations, read:metrics, limit, cursor, outcome: { cancellations, nextCursor }.',
    'rest.subscriptions.status-filter':
      'status is one of active, paused, cancelled, expired, failed.',
    'rest.cancellations.outcome-filter': 'outcome is one of saved, cancelled, abandoned.',
    'rest.entitlements.one-per-subscription':
      'One entry per subscription the customer has in the shop.',
    'rest.entitlements.unknown-customer':
      'A customer id that does not exist gives an empty array with 200, never 404.',
    'rest.entitlements.no-subscriptions':
      'A customer id without subscriptions gives an empty array with 200.',
    'rest.entitlements.other-shop': 'A customer id of another shop gives an empty array with 200.',
    'rest.entitlements.alias':
      '/api/external/entitlements is a permanent alias of /v1/entitlements.',
    'rest.subscription.not-found':
      '404 for a missing, non-numeric or other-shop id, with an identical body in all three cases.',
    'rest.plans.unpaged': '/plans returns the full set with no pagination.',
    'rest.cancellations.scope': '/cancellations needs read:metrics; there is no separate scope.',
  }),
  ...under('Authentication', {
    'rest.auth.bearer': 'Every request carries Authorization: Bearer <API_KEY>.',
    'rest.auth.key-format': 'A key is a fixed prefix followed by 43 URL-safe characters.',
    'rest.auth.only-hash-stored': 'Only a hash of a key is stored.',
    'rest.auth.revoked-at-once': 'A revoked key fails at once.',
    'rest.auth.tier-required': 'Free and Starter are refused with 403.',
    'rest.auth.tier-admitted': 'Growth or higher has developer API access.',
    'rest.auth.same-401':
      'Missing, malformed, unknown or revoked: 401 with the same body whatever the cause.',
    'rest.scopes.entitlements': 'read:entitlements governs customer entitlement status.',
    'rest.scopes.subscriptions': 'read:subscriptions governs subscription records and detail.',
    'rest.scopes.metrics': 'read:metrics governs aggregate metrics and cancel-save outcomes.',
    'rest.scopes.plans': 'read:plans governs selling-plan definitions.',
    'rest.scopes.exactly-one': 'Each endpoint requires exactly one scope.',
    'rest.scopes.lacking': 'A key lacking the scope gets 403.',
  }),
  ...under('Errors', {
    'rest.errors.envelope': 'Every non-2xx body is { success: false, message: <string> }.',
    'rest.errors.400-customer-id': '400: customerId missing or not a positive integer.',
    'rest.errors.400-limit': '400: invalid limit.',
    'rest.errors.400-cursor': '400: invalid cursor.',
    'rest.errors.400-status': '400: invalid status.',
    'rest.errors.400-outcome': '400: invalid outcome.',
    'rest.errors.401': '401 `Unauthorized`: any authentication failure.',
    'rest.errors.403-tier': '403 `Developer API access requires the Growth plan or higher.`',
    'rest.errors.403-scope': "403: key lacks the endpoint's scope.",
    'rest.errors.404': '404 `Subscription not found.`, of /subscriptions/{id} only.',
    'rest.errors.429': '429: rate limited; Retry-After carries seconds to wait.',
    'rest.errors.500': '500: server-side failure; safe to retry later.',
    'rest.errors.entitlements': '/entitlements: 400, 401, 403, 429, 500.',
    'rest.errors.listings': '/subscriptions and /cancellations: 400, 401, 403, 429.',
    'rest.errors.subscription': '/subscriptions/{id}: 401, 403, 404, 429.',
    'rest.errors.unparameterised': '/metrics/summary and /plans: 401, 403, 429.',
  }),
  ...under('Limits', {
    'rest.limits.growth': 'Growth: 60 requests per key in a rolling minute.',
    'rest.limits.pro': 'Pro: 300 requests per key in a rolling minute.',
    'rest.limits.enterprise-plus': 'Enterprise Plus: uncapped.',
    'rest.limits.rolling': 'The window is a rolling minute.',
    'rest.limits.per-key': 'The limit is per API key.',
    'rest.limits.shared': 'All endpoints share the window of a key.',
    'rest.limits.retry-after': 'Over the limit: 429 with Retry-After (seconds).',
    'rest.limits.page-size': 'limit is an integer from 1 to 100, default 50.',
    'rest.limits.cursor': "cursor is opaque, from the previous response's nextCursor.",
    'rest.limits.next-cursor': 'nextCursor: string when more rows remain; null on the last page.',
    'rest.limits.invalid': 'Invalid limit or cursor: 400.',
    'rest.limits.paginated': 'Paginated: /subscriptions and /cancellations only.',
  }),
  ...under('Versioning', {
    'rest.versions.in-path': 'The version is in the path (/v1).',
    'rest.versions.side-by-side': 'A breaking change ships as a new version alongside /v1.',
    'rest.versions.deprecation': 'During wind-down every response carries a Deprecation header.',
    'rest.versions.sunset':
      'During wind-down every response carries a Sunset header (HTTP-date, RFC 8594), after which the version stops responding.',
    'rest.versions.v1-unset': 'No sunset is scheduled for v1.',
    'rest.versions.contract': 'The machine-readable contract is generated from the same source.',
  }),
];

function under(section: string, texts: Readonly<Record<string, string>>): Requirement[] {
  return Object.entries(texts).map(([id, text]) => ({ id, section, text }));
}

function fieldsOf(
  section: string,
  resource: string,
  types: Readonly<Record<string, string>>,
): Requirement[] {
  return Object.entries(types).map(([field, type]) => ({
    id: `rest.fields.${resource}.${field}`,
    section,
    text: `${field}: ${type}`,
  }));
}
