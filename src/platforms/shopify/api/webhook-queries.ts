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
