import { z } from 'zod';

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

/**
 * Topics that delete data or revoke keys. Only the body is signed, so their schemas must reject the
 * bodies of other topics, and the body identifies the event: see decision 0023.
 */
export const destructiveTopics: ReadonlySet<string> = new Set([
  'app/uninstalled',
  'customers/redact',
  'shop/redact',
]);

/** Some topics send ids as text. */
const id = z
  .union([z.number(), z.string().regex(/^\d+$/).transform(Number)])
  .pipe(z.int().positive());
const domain = z.string().toLowerCase();

const contract = z
  .object({ id })
  .transform((body): Notice => ({ queue: 'hints', task: { kind: 'contract', id: body.id } }));
const ofContract = z.object({ subscription_contract_id: id }).transform((body): Notice => ({
  queue: 'hints',
  task: { kind: 'contract', id: body.subscription_contract_id },
}));
const planGroup = z
  .object({ id })
  .transform((body): Notice => ({ queue: 'hints', task: { kind: 'planGroup', id: body.id } }));
const dataRequest = z
  .object({ shop_domain: domain, customer: z.object({ id }) })
  .transform((body): Notice => ({
    queue: 'duties',
    task: { kind: 'dataRequest', customerId: body.customer.id },
    domain: body.shop_domain,
  }));
// No other topic lists orders to redact.
const customerRedact = z
  .object({
    shop_id: id,
    shop_domain: domain,
    customer: z.object({ id }),
    orders_to_redact: z.array(id),
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

/** By topic, or by the part before its slash. */
const schemas = new Map<string, z.ZodType<Notice>>([
  ['subscription_contracts', contract],
  ['subscription_billing_attempts', ofContract],
  ['subscription_billing_cycles', ofContract],
  ['subscription_billing_cycle_edits', ofContract],
  ['selling_plan_groups', planGroup],
  ['customers/data_request', dataRequest],
  ['customers/redact', customerRedact],
  ['shop/redact', shopRedact],
  ['app/uninstalled', uninstalled],
]);

/** @returns `unknown` for an unhandled topic, `unreadable` for a body that does not match it */
export function readNotice(topic: string, body: Buffer): Notice | 'unknown' | 'unreadable' {
  const schema = schemas.get(topic) ?? schemas.get(topic.split('/', 1)[0] as string);
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
