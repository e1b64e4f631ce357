import type { ShopifyClient } from '../api/client.ts';
import {
  createWebhookSubscription,
  deleteWebhookSubscription,
  updateWebhookSubscription,
  webhookSubscriptions,
} from '../api/queries.ts';
import { subscribedTopics } from './topics.ts';

/** What was changed, by topic as in the header of a webhook. */
interface SubscriptionChanges {
  readonly created: readonly string[];
  readonly updated: readonly string[];
  readonly deleted: readonly string[];
  readonly refused: readonly { readonly topic: string; readonly reason: string }[];
}

interface Subscription {
  readonly id: string;
  readonly name: string | null;
  readonly topic: string;
  readonly uri: string;
  readonly format: string;
}

/**
 * The app has other subscriptions when its own backend uses webhooks too; the names tell ours
 * apart. At most 50 letters, digits, hyphens and underscores, unique in a shop.
 */
const namePrefix = 'retention_';
const nameOf = (topic: string) => `${namePrefix}${topic.replace('/', '_')}`;
const valueOf = (topic: string) => topic.replace('/', '_').toUpperCase();

/**
 * Makes the app subscribe to every topic that has an effect, once, at this address. The app's
 * other subscriptions stay as they are. Idempotent.
 * @param address begins with https://, as Shopify demands
 * @throws PlatformError
 */
export async function ensureSubscriptions(
  client: ShopifyClient,
  address: string,
): Promise<SubscriptionChanges> {
  const all = await listSubscriptions(client);
  const isDone = ({ uri, format }: Subscription) => uri === address && format === 'JSON';
  const ours = all
    .filter((each) => each.name?.startsWith(namePrefix) === true || isDone(each))
    .toSorted((a, b) => Number(isDone(b)) - Number(isDone(a)));
  const changes = {
    created: [] as string[],
    updated: [] as string[],
    deleted: [] as string[],
    refused: [] as SubscriptionChanges['refused'][number][],
  };
  const change = async (
    kind: 'created' | 'updated' | 'deleted',
    topic: string,
    document: string,
    variables: Readonly<Record<string, unknown>>,
  ) => {
    const data = await client.query<Record<string, MutationResult>>(document, variables);
    const reasons = Object.values(data).flatMap((result) => result.userErrors);
    if (reasons.length === 0) changes[kind].push(topic);
    else changes.refused.push({ topic, reason: reasons.map(({ message }) => message).join('; ') });
  };

  const kept = new Set<Subscription>();
  for (const topic of subscribedTopics) {
    const subscription = { uri: address, format: 'JSON', name: nameOf(topic) };
    const existing = ours.find((each) => each.topic === valueOf(topic));
    if (!existing) {
      const variables = { topic: valueOf(topic), subscription };
      await change('created', topic, createWebhookSubscription, variables);
      continue;
    }
    kept.add(existing);
    if (isDone(existing)) continue;
    const variables = { id: existing.id, subscription };
    await change('updated', topic, updateWebhookSubscription, variables);
  }
  for (const each of ours) {
    if (kept.has(each)) continue;
    const topic = subscribedTopics.find((known) => valueOf(known) === each.topic) ?? each.topic;
    await change('deleted', topic, deleteWebhookSubscription, { id: each.id });
  }
  return changes;
}

interface MutationResult {
  readonly userErrors: readonly { readonly message: string }[];
}

interface SubscriptionPage {
  readonly webhookSubscriptions: {
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
    readonly nodes: readonly Subscription[];
  };
}

async function listSubscriptions(client: ShopifyClient): Promise<Subscription[]> {
  const all: Subscription[] = [];
  let after: string | null = null;
  do {
    const page: SubscriptionPage = await client.query(webhookSubscriptions, { after });
    const { nodes, pageInfo } = page.webhookSubscriptions;
    for (const node of nodes) all.push(node);
    after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  } while (after !== null);
  return all;
}
