import { randomBytes } from 'node:crypto';
import { StripeRefusal } from './refusals.ts';
import type { StripeWorld } from './world.ts';

/** The permission that a restricted key needs for the paths of a resource. Prices are plans to Stripe. */
const permissionOf: Readonly<Record<string, string>> = {
  account: 'rak_accounts_kyc_basic_read',
  charges: 'rak_charge_read',
  coupons: 'rak_coupon_read',
  credit_notes: 'rak_credit_note_read',
  customers: 'rak_customer_read',
  disputes: 'rak_dispute_read',
  events: 'rak_event_read',
  invoice_payments: 'rak_invoice_read',
  invoices: 'rak_invoice_read',
  payment_intents: 'rak_payment_intent_read',
  prices: 'rak_plan_read',
  products: 'rak_product_read',
  refunds: 'rak_charge_read',
  subscription_items: 'rak_subscription_read',
  subscriptions: 'rak_subscription_read',
};

export interface Key {
  readonly value: string;
  readonly world: StripeWorld;
  readonly without: readonly string[];
  isExpired: boolean;
}

export interface KeyOptions {
  /** Secret keys may do everything; by default keys are restricted. */
  readonly kind?: 'rk' | 'sk';
  /** The permissions that a restricted key lacks. */
  readonly without?: readonly string[];
}

export function makeKey(world: StripeWorld, { kind = 'rk', without = [] }: KeyOptions): Key {
  for (const each of without) {
    if (!Object.values(permissionOf).includes(each)) throw new Error(`Nothing here needs ${each}.`);
  }
  const mode = world.livemode ? 'live' : 'test';
  return {
    value: `${kind}_${mode}_${randomBytes(24).toString('hex')}`,
    world,
    without: kind === 'sk' ? [] : without,
    isExpired: false,
  };
}

/** A key as Stripe shows it. */
const redacted = (value: string) =>
  `${value.slice(0, 8)}${'*'.repeat(Math.max(0, value.length - 12))}${value.slice(-4)}`;

/** The key of a request, from a bearer token or the user of basic authentication. */
export function authenticate(header: string | undefined, keys: ReadonlyMap<string, Key>): Key {
  const [, scheme = '', given = ''] = /^(Bearer|Basic) (.+)$/i.exec(header ?? '') ?? [];
  const value =
    scheme.toLowerCase() === 'basic'
      ? (Buffer.from(given, 'base64').toString().split(':')[0] ?? '')
      : given;
  if (value === '') {
    throw new StripeRefusal(
      401,
      "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY').",
    );
  }
  const key = keys.get(value);
  if (!key) throw new StripeRefusal(401, `Invalid API Key provided: ${redacted(value)}`);
  if (key.isExpired) {
    throw new StripeRefusal(401, `Expired API Key provided: ${redacted(value)}`, {
      code: 'api_key_expired',
    });
  }
  return key;
}

export function permit(key: Key, resource: string): void {
  const needed = permissionOf[resource];
  if (needed === undefined) throw new Error(`No permission is known for ${resource}.`);
  if (!key.without.includes(needed)) return;
  throw new StripeRefusal(
    403,
    `The provided key '${redacted(key.value)}' does not have the required permissions for this endpoint on account '${key.world.account}'. Having the '${needed}' permission would allow this request to continue.`,
  );
}
