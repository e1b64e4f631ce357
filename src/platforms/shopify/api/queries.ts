/*
 * The queries to the Admin GraphQL API. They request only what the mapping reads, so names,
 * addresses and messages never leave Shopify. https://shopify.dev/docs/api/admin-graphql/2026-10
 */

const interval = '{ interval intervalCount }';
const money = '{ amount currencyCode }';

const shopMoney = `{ shopMoney ${money} }`;

const orderFields = `
  id processedAt test
  totalPriceSet ${shopMoney}
  refunds { id processedAt totalRefundedSet ${shopMoney} }`;

const contractFields = `
  id status createdAt updatedAt currencyCode nextBillingDate lastPaymentStatus
  billingPolicy ${interval}
  deliveryPolicy ${interval}
  customer { id }
  originOrder {
    ${orderFields}
    subtotalLineItemsQuantity
    subtotalPriceSet ${shopMoney}
  }`;

const lineFields = `
  id title variantTitle quantity productId variantId requiresShipping sellingPlanId sellingPlanName
  currentPrice ${money}`;

/** The codes of errors have different types, so they need different names. */
const attemptFields = `
  id createdAt completedAt originTime paymentGroupId
  state {
    __typename
    ... on SubscriptionBillingAttemptSuccessState { order { ${orderFields} } }
    ... on SubscriptionBillingAttemptFailedState {
      error {
        ... on SubscriptionBillingAttemptPaymentError { paymentCode: code }
        ... on SubscriptionBillingAttemptGeneralError { generalCode: code }
        ... on SubscriptionBillingAttemptInventoryError { inventoryCode: code }
      }
    }
  }`;

const groupFields = 'id name productsCount { count }';

const adjustment = `
  adjustmentType
  adjustmentValue {
    ... on SellingPlanPricingPolicyPercentageValue { percentage }
    ... on MoneyV2 ${money}
  }`;

const sellingPlanFields = `
  id name category
  billingPolicy { ... on SellingPlanRecurringBillingPolicy ${interval} }
  deliveryPolicy { ... on SellingPlanRecurringDeliveryPolicy ${interval} }
  pricingPolicies {
    ... on SellingPlanFixedPricingPolicy { ${adjustment} }
    ... on SellingPlanRecurringPricingPolicy { afterCycle ${adjustment} }
  }`;

/** For bulkOperationRunQuery, which takes connections without paging. */
export const bulkContracts = `{
  subscriptionContracts { edges { node {
    ${contractFields}
    lines { edges { node { ${lineFields} } } }
    billingAttempts { edges { node { ${attemptFields} } } }
  } } }
}`;

export const bulkPlanGroups = `{
  sellingPlanGroups { edges { node {
    ${groupFields}
    sellingPlans { edges { node { ${sellingPlanFields} } } }
  } } }
}`;

/** Bulk queries of what is new since a time, which replaces SINCE. Attempts can be filtered only by their creation. */
export const bulkAttempts = `{
  subscriptionBillingAttempts(query: "created_at:>='SINCE'") { edges { node {
    ${attemptFields}
    subscriptionContract { id }
  } } }
}`;

export const bulkRefundedOrders = `{
  orders(
    query: "updated_at:>='SINCE' AND (financial_status:refunded OR financial_status:partially_refunded)"
  ) { edges { node {
    id
    lineItems { edges { node { id contract { id } } } }
  } } }
}`;

const page = 'pageInfo { hasNextPage endCursor }';

/** Which contracts changed, oldest change first. */
export const changedContracts = `query ChangedContracts($filter: String!, $after: String) {
  subscriptionContracts(first: 100, after: $after, query: $filter, sortKey: UPDATED_AT) {
    ${page}
    nodes { id updatedAt }
  }
}`;

// Few, because each attempt may cost ten points with its order, and a query at most 1,000.
const lines = `lines(first: 50, after: $after) { ${page} nodes { ${lineFields} } }`;
const attempts = `billingAttempts(first: 25, after: $after) { ${page} nodes { ${attemptFields} } }`;
const plans = `sellingPlans(first: 50, after: $after) { ${page} nodes { ${sellingPlanFields} } }`;

export const contract = `query Contract($id: ID!, $after: String) {
  subscriptionContract(id: $id) { ${contractFields} ${lines} ${attempts} }
}`;

export const contractLines = `query ContractLines($id: ID!, $after: String) {
  subscriptionContract(id: $id) { updatedAt ${lines} }
}`;

export const contractAttempts = `query ContractAttempts($id: ID!, $after: String) {
  subscriptionContract(id: $id) { updatedAt ${attempts} }
}`;

export const planGroup = `query PlanGroup($id: ID!, $after: String) {
  sellingPlanGroup(id: $id) { ${groupFields} ${plans} }
}`;

/** Whose credentials they are, and what they may read. */
export const identity = `query Identity {
  shop { myshopifyDomain currencyCode }
  currentAppInstallation { accessScopes { handle } }
}`;

/** Which of these exist: a deleted node is null. */
export const nodesById = `query NodesById($ids: [ID!]!) { nodes(ids: $ids) { id } }`;

const operationFields = `
  id status errorCode createdAt objectCount fileSize url partialDataUrl query`;

export const runBulkQuery = `mutation RunBulkQuery($query: String!) {
  bulkOperationRunQuery(query: $query, groupObjects: false) {
    bulkOperation { ${operationFields} }
    userErrors { code message }
  }
}`;

export const bulkOperation = `query BulkOperation($id: ID!) {
  node(id: $id) { ... on BulkOperation { ${operationFields} } }
}`;

export const runningBulkQueries = `query RunningBulkQueries {
  bulkOperations(first: 20, query: "operation_type:query", sortKey: CREATED_AT, reverse: true) {
    nodes { ${operationFields} }
  }
}`;

/** The app's webhook subscriptions in one shop, without those in the app's configuration. */
export const webhookSubscriptions = `query WebhookSubscriptions($after: String) {
  webhookSubscriptions(first: 100, after: $after) {
    pageInfo { hasNextPage endCursor }
    nodes { id name topic uri format }
  }
}`;

export const createWebhookSubscription = `mutation CreateWebhookSubscription(
  $topic: WebhookSubscriptionTopic!
  $subscription: WebhookSubscriptionInput!
) {
  webhookSubscriptionCreate(topic: $topic, webhookSubscription: $subscription) {
    userErrors { message }
  }
}`;

export const updateWebhookSubscription = `mutation UpdateWebhookSubscription(
  $id: ID!
  $subscription: WebhookSubscriptionInput!
) {
  webhookSubscriptionUpdate(id: $id, webhookSubscription: $subscription) {
    userErrors { message }
  }
}`;

export const deleteWebhookSubscription = `mutation DeleteWebhookSubscription($id: ID!) {
  webhookSubscriptionDelete(id: $id) {
    userErrors { message }
  }
}`;
