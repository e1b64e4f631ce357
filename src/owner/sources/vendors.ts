import type { SchemeName } from '../../push/signature.ts';

/** A vendor whose webhooks an owner can have sent here. */
export interface Vendor {
  readonly title: string;
  /** What its webhooks bring. */
  readonly brings: string;
  /** What to do at the vendor, before and after the address is given. */
  readonly steps: readonly string[];
  /** What the vendor calls the secret. */
  readonly secretLabel: string;
}

export type VendorName = Exclude<SchemeName, 'standard'>;

/** Docs: docs/vendors.md names the sources. */
export const vendors: Readonly<Record<VendorName, Vendor>> = {
  churnkey: {
    title: 'Churnkey',
    brings: 'cancel-flow sessions',
    steps: [
      'In Churnkey, open the settings of webhooks and add one with this address.',
      'Choose the events of sessions.',
      'Copy the secret that Churnkey shows for signatures, and paste it below.',
    ],
    secretLabel: 'Churnkey’s webhook secret',
  },
  'chargebee-retention': {
    title: 'Chargebee Retention',
    brings: 'cancel-flow sessions',
    steps: [
      'In Chargebee Retention, open the settings of webhooks and add one with this address.',
      'Copy the key that it shows for signatures, and paste it below.',
    ],
    secretLabel: 'Chargebee Retention’s webhook key',
  },
  stripe: {
    title: 'Stripe',
    brings: 'plans, subscriptions, payments and refunds',
    steps: [
      'In Stripe, open Webhooks and add an endpoint (a destination) with this address.',
      'Choose these events: customer.subscription.created, .updated, .deleted, .paused and .resumed, invoice.paid, invoice.payment_failed, refund.created and refund.updated.',
      'Copy the signing secret of the endpoint (whsec_…), and paste it below.',
    ],
    secretLabel: 'Stripe’s signing secret',
  },
  paddle: {
    title: 'Paddle',
    brings: 'plans, subscriptions, payments and refunds',
    steps: [
      'In Paddle, open Developer tools, Notifications, and add a destination for webhooks with this address.',
      'Choose all events of subscriptions, transaction.completed, transaction.payment_failed, adjustment.created and adjustment.updated.',
      'Copy the secret key of the destination, and paste it below.',
    ],
    secretLabel: 'Paddle’s secret key',
  },
};

export function isVendor(scheme: string): scheme is VendorName {
  return Object.hasOwn(vendors, scheme);
}
