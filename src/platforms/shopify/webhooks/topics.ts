import { z } from 'zod';
import { numberOf, parseGid } from '../api/gid.ts';

/** What to fetch again. */
type Hint =
  | { readonly kind: 'contract'; readonly id: number }
  | { readonly kind: 'planGroup'; readonly id: number };

/** What Shopify requires of an app. */
export type Duty =
  | { readonly kind: 'dataRequest'; readonly customerId: number }
  | { readonly kind: 'redactCustomer'; readonly customerId: number }
  | { readonly kind: 'redactShop' };

/** What a webhook is about: only numbers, never an address, a name or a phone number. */
export type Notice =
  | { readonly queue: 'hints'; readonly task: Hint }
  | { readonly queue: 'duties'; readonly task: Duty; readonly domain: string }
  /** Handled before it is acknowledged. */
  | {
      readonly queue: undefined;
      readonly task: 'uninstall';
      readonly domain: string;
      /** When the shop last changed, by Shopify's clock; null if the body has no time. */
      readonly updatedAt: Date | null;
    };

/** Some topics send ids as text. */
const id = z
  .union([z.number(), z.string().regex(/^\d+$/).transform(Number)])
  .pipe(z.int().positive());
const domain = z.string().toLowerCase();

/** Reads an id from its field or, if that is null or missing, from the GID beside it. */
function idOrGid(field: string, type: string) {
  const gidField = `admin_graphql_api_${field}`;
  const gid = z
    .string()
    .transform(parseGid)
    .refine((parsed) => parsed?.type === type)
    .transform((parsed) => numberOf(parsed?.key ?? ''))
    .pipe(z.int());
  return z.union([
    z.object({ [field]: id }).transform((body) => body[field] as number),
    z.object({ [gidField]: gid }).transform((body) => body[gidField] as number),
  ]);
}

const hint = (kind: Hint['kind']) => (subject: number) => ({
  queue: 'hints' as const,
  task: { kind, id: subject },
});
const contract = idOrGid('id', 'SubscriptionContract').transform(hint('contract'));
const ofContract = idOrGid('subscription_contract_id', 'SubscriptionContract').transform(
  hint('contract'),
);
const planGroup = idOrGid('id', 'SellingPlanGroup').transform(hint('planGroup'));
const dataRequest = z
  .object({ shop_domain: domain, customer: z.object({ id }) })
  .transform((body): Notice => ({
    queue: 'duties',
    task: { kind: 'dataRequest', customerId: body.customer.id },
    domain: body.shop_domain,
  }));
// No other topic lists orders to redact. Stops at the first that is none: a body may have a hundred thousand.
const orders = z
  .array(z.unknown())
  .refine((list) => list.every((each) => id.safeParse(each).success));
const customerRedact = z
  .object({
    shop_id: id,
    shop_domain: domain,
    customer: z.object({ id }),
    orders_to_redact: orders,
  })
  .transform((body): Notice => ({
    queue: 'duties',
    task: { kind: 'redactCustomer', customerId: body.customer.id },
    domain: body.shop_domain,
  }));
// Strict, because other topics have the same two fields along with others.
const shopRedact = z
  .strictObject({ shop_id: id, shop_domain: domain })
  .transform((body): Notice => ({
    queue: 'duties',
    task: { kind: 'redactShop' },
    domain: body.shop_domain,
  }));
// The body is the shop itself, as in shop/update, to which the app must not subscribe.
const uninstalled = z
  .object({
    id,
    myshopify_domain: domain,
    updated_at: z.iso.datetime({ offset: true }).nullish(),
  })
  .transform((body): Notice => ({
    queue: undefined,
    task: 'uninstall',
    domain: body.myshopify_domain,
    updatedAt: body.updated_at == null ? null : new Date(body.updated_at),
  }));

interface Topic {
  readonly schema: z.ZodType<Notice>;
  /**
   * It deletes data or revokes keys. Only the body is signed, so the schema must reject the bodies
   * of other topics, and the body identifies the event: see docs/decisions/0014-webhooks.md.
   */
  readonly isDestructive?: boolean;
  /** The next sync brings what it reports. */
  readonly isHint?: boolean;
  /** It can only be part of the app's configuration: the Admin API does not know it. */
  readonly isConfigured?: boolean;
}

/** The events of one kind of record. */
function family(name: string, events: readonly string[], schema: z.ZodType<Notice>) {
  return events.map((event): [string, Topic] => [`${name}/${event}`, { schema, isHint: true }]);
}

const edits = ['create', 'update', 'delete'];
const statusChanges = ['activate', 'pause', 'cancel', 'expire', 'fail'];

/** Every topic that has an effect. */
const topics: ReadonlyMap<string, Topic> = new Map([
  ...family('subscription_contracts', ['create', 'update', ...statusChanges], contract),
  ...family('subscription_billing_attempts', ['success', 'failure', 'challenged'], ofContract),
  ...family('subscription_billing_cycles', ['skip', 'unskip'], ofContract),
  ...family('subscription_billing_cycle_edits', edits, ofContract),
  ...family('selling_plan_groups', edits, planGroup),
  ['app/uninstalled', { schema: uninstalled, isDestructive: true }],
  ['customers/data_request', { schema: dataRequest, isConfigured: true }],
  ['customers/redact', { schema: customerRedact, isDestructive: true, isConfigured: true }],
  ['shop/redact', { schema: shopRedact, isDestructive: true, isConfigured: true }],
]);

/** The topics that the Admin API can subscribe to. */
export const subscribedTopics: readonly string[] = [...topics.keys()].filter(
  (name) => topics.get(name)?.isConfigured !== true,
);

export function isDestructive(topic: string): boolean {
  return topics.get(topic)?.isDestructive === true;
}

export function isHint(topic: string): boolean {
  return topics.get(topic)?.isHint === true;
}

/** @returns `unknown` for an unhandled topic, `unreadable` for a body that does not match it */
export function readNotice(topic: string, body: Buffer): Notice | 'unknown' | 'unreadable' {
  const schema = topics.get(topic)?.schema;
  if (!schema) return 'unknown';
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch {
    return 'unreadable';
  }
  const parsed = schema.safeParse(value);
  return parsed.success ? parsed.data : 'unreadable';
}
