import { randomUUID } from 'node:crypto';
import { logUninstall, revokeKeysOfShop } from '../../access/keys/keys.ts';
import { CommandError } from '../../errors.ts';
import { listAllOfCustomer } from '../../store/records/customers.ts';
import { listSourceIdsOfCustomer } from '../../store/records/source-ids.ts';
import { retryFailedJobs } from '../../store/feeds/jobs.ts';
import type { ShopCommand } from '../platform.ts';
import { listDataRequests, markReinstalled, markUninstalled } from './store/shops.ts';

interface Request {
  readonly customer: number;
  readonly receivedAt: Date;
}

const dataRequest: ShopCommand = {
  name: 'data-request',
  about: 'prints everything held about a customer, as JSON',
  isOfCustomer: true,
  async run({ sql, shop: { id: shop, currency }, customer }) {
    const requests = await listDataRequests(sql, shop);
    return {
      shop,
      customer,
      currency,
      requestedAt: requests
        .filter(({ customerId }) => customerId === customer)
        .map(({ receivedAt }) => receivedAt),
      subscriptions: await listAllOfCustomer(sql, shop, customer),
      sourceIds: await listSourceIdsOfCustomer(sql, shop, customer),
    };
  },
};

const requests: ShopCommand<readonly Request[]> = {
  name: 'requests',
  about: 'lists the customers who requested their data through Shopify',
  async run({ sql, shop }) {
    const all = await listDataRequests(sql, shop.id);
    return all.map(({ customerId, receivedAt }) => ({ customer: customerId, receivedAt }));
  },
  show: (rows) =>
    rows.length === 0
      ? 'No requests.'
      : [
          ['CUSTOMER', 'REQUESTED'],
          ...rows.map(({ customer, receivedAt }) => [customer, receivedAt]),
        ],
};

const reinstalled: ShopCommand<{ readonly shop: number; readonly wasUninstalled: boolean }> = {
  name: 'reinstalled',
  about: 'records that the app was installed again',
  notes: ['Syncs and webhooks resume. The old keys stay revoked, so create new ones.'],
  run: async ({ sql, shop: { id: shop }, at }) => ({
    shop,
    wasUninstalled: await markReinstalled(sql, shop, at),
  }),
  show: ({ shop, wasUninstalled }) =>
    wasUninstalled
      ? `Shop ${shop} is synced again.`
      : `The app was not uninstalled from shop ${shop}.`,
};

const uninstalled: ShopCommand<{
  readonly shop: number;
  readonly revokedKeys: readonly string[];
}> = {
  name: 'uninstalled',
  about: 'records an uninstall that no webhook reported',
  notes: [
    "Revokes the shop's keys. From then on, Shopify can request that the shop be deleted (shop/redact);",
    'if it already has, run "retention shopify retry" next.',
  ],
  async run({ shop: { id: shop }, at, log, revoke, actor }) {
    const revokedKeys = await revoke(async (tx) => {
      if (!(await markUninstalled(tx, shop, randomUUID(), at))) {
        throw new CommandError(
          `Shop ${shop} is not connected to Shopify; "serve" connects the shops of SHOPIFY_CREDENTIALS_FILE.`,
        );
      }
      return revokeKeysOfShop(tx, shop, at, actor);
    });
    logUninstall(log, shop, revokedKeys, at);
    return { shop, revokedKeys };
  },
  show: ({ shop }) => `The keys of shop ${shop} are revoked, and the shop is no longer synced.`,
};

const retry: ShopCommand<{ readonly shop: number; readonly retried: number }> = {
  name: 'retry',
  about: 'retries webhooks that failed permanently',
  notes: [
    'Of any platform. A running server picks them up within seconds; "retention feeds status" counts them.',
  ],
  run: async ({ sql, shop: { id: shop } }) => ({
    shop,
    retried: await retryFailedJobs(sql, shop),
  }),
  show: ({ shop, retried }) =>
    `${retried} failed webhook${retried === 1 ? '' : 's'} of shop ${shop} will be retried.`,
};

export const shopifyCommands: readonly ShopCommand[] = [
  dataRequest,
  requests,
  uninstalled,
  reinstalled,
  retry,
];
