import { type StripeObject, document, isObject } from './schema.ts';
import type { StripeWorld } from './world.ts';

/** Newest first: what a version changed, and how objects were before it. */
const changes: readonly (readonly [
  version: string,
  before: Readonly<Record<string, (object: StripeObject, world: StripeWorld) => void>>,
])[] = [
  [
    '2025-09-30',
    {
      // The coupon stood in the discount itself, as an object.
      discount(discount, world) {
        const { coupon } = (discount['source'] ?? {}) as { readonly coupon?: unknown };
        delete discount['source'];
        discount['coupon'] = typeof coupon === 'string' ? world.get('coupon', coupon) : coupon;
      },
    },
  ],
  [
    '2025-03-31',
    {
      subscription(subscription, world) {
        const { data } = subscription['items'] as { readonly data: readonly StripeObject[] };
        for (const name of ['current_period_start', 'current_period_end']) {
          subscription[name] = Math.min(...data.map((item) => Number(item[name])));
          for (const item of data) delete item[name];
        }
        const [first] = subscription['discounts'] as readonly (string | StripeObject)[];
        const discount = structuredClone(
          typeof first === 'string' ? world.get('discount', first) : (first ?? null),
        );
        if (discount && !('coupon' in discount)) rewrite(discount, '2025-03-31', world);
        subscription['discount'] = discount;
      },
      invoice(invoice, world) {
        const { subscription_details: details } = (invoice['parent'] ?? {}) as {
          readonly subscription_details?: StripeObject | null;
        };
        invoice['subscription'] = details?.['subscription'] ?? null;
        const kept = world.get('invoice', String(invoice['id']))['payments'];
        const { data = [] } = (kept ?? {}) as { readonly data?: readonly StripeObject[] };
        const payment = data.at(-1)?.['payment'] as StripeObject | undefined;
        invoice['payment_intent'] = payment?.['payment_intent'] ?? null;
        invoice['charge'] = payment?.['charge'] ?? null;
        invoice['paid'] = invoice['status'] === 'paid';
        for (const name of ['parent', 'payments']) delete invoice[name];
      },
    },
  ],
];

/** A shown value as an older version of the API has it; only what matters to its readers here. */
export function inVersion(value: unknown, version: string, world: StripeWorld): unknown {
  if (version >= document.info.version) return value;
  const copy = structuredClone(value);
  rewrite(copy, version, world);
  return copy;
}

function rewrite(value: unknown, version: string, world: StripeWorld): void {
  if (Array.isArray(value)) for (const each of value) rewrite(each, version, world);
  // Events keep the form that they were recorded in.
  if (!isObject(value) || value['object'] === 'event') return;
  for (const each of Object.values(value)) rewrite(each, version, world);
  for (const [changed, before] of changes) {
    if (version < changed) before[String(value['object'])]?.(value, world);
  }
}
