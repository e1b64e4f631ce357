import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { leaseDrainMilliseconds } from '../access/keys/key-leases.ts';
import { systemClock } from '../clock.ts';
import { CommandError } from '../errors.ts';
import { revokeKeysOfShop, logUninstall } from '../access/keys/keys.ts';
import { listAllOfCustomer } from '../store/records/customers.ts';
import { listSourceIdsOfCustomer } from '../store/records/source-ids.ts';
import { listDataRequests } from '../platforms/shopify/store/data-requests.ts';
import { requireSynchronousCommit } from '../store/failover.ts';
import { retryFailedJobs } from '../store/feeds/jobs.ts';
import { markReinstalled, markUninstalled } from '../platforms/shopify/store/shops.ts';
import { awaitCommit, warnAboutFailover, shopOption, withShop } from './store.ts';
import { defineCommand, exitStatus, id, required } from './framework/command.ts';
import { printJson, table } from './framework/io.ts';

const dataRequest = defineCommand({
  name: 'shopify data-request',
  about: 'prints everything held about a customer, as JSON',
  options: { ...shopOption, customer: required({ ...id, hint: 'N' }, 'the id of the customer') },
  async run({ shop: shopId, customer }, context) {
    await withShop(context, shopId, async ({ write: sql }, { currency }) => {
      const requests = await listDataRequests(sql, shopId);
      printJson(context.io, {
        shop: shopId,
        customer,
        currency,
        requestedAt: requests
          .filter(({ customerId }) => customerId === customer)
          .map(({ receivedAt }) => receivedAt),
        subscriptions: await listAllOfCustomer(sql, shopId, customer),
        sourceIds: await listSourceIdsOfCustomer(sql, shopId, customer),
      });
    });
    return exitStatus.done;
  },
});

const requests = defineCommand({
  name: 'shopify requests',
  about: 'lists the customers who requested their data through Shopify',
  options: shopOption,
  async run({ shop }, context) {
    const all = await withShop(context, shop, ({ write: sql }) => listDataRequests(sql, shop));
    return all.map(({ customerId, receivedAt }) => ({ customer: customerId, receivedAt }));
  },
  show: (all) =>
    all.length === 0
      ? 'No requests.'
      : table(all, {
          CUSTOMER: ({ customer }) => customer,
          REQUESTED: ({ receivedAt }) => receivedAt,
        }),
});

const reinstalled = defineCommand({
  name: 'shopify reinstalled',
  about: 'records that the app was installed again',
  notes: ['Syncs and webhooks resume. The old keys stay revoked, so create new ones.'],
  options: shopOption,
  run: ({ shop }, context) =>
    withShop(context, shop, async ({ write: sql }) => ({
      shop,
      wasUninstalled: await markReinstalled(sql, shop, new Date(systemClock.now())),
    })),
  show: ({ shop, wasUninstalled }) =>
    wasUninstalled
      ? `Shop ${shop} is synced again.`
      : `The app was not uninstalled from shop ${shop}.`,
});

const uninstalled = defineCommand({
  name: 'shopify uninstalled',
  about: 'records an uninstall that no webhook reported',
  notes: [
    "Revokes the shop's keys. From then on, Shopify can request that the shop be deleted (shop/redact);",
    'if it already has, run "retention shopify retry" next.',
  ],
  options: shopOption,
  run: ({ shop }, context) =>
    withShop(context, shop, async ({ write: sql }) => {
      const at = new Date(systemClock.now());
      const uninstalling = sql.begin(async (tx) => {
        await requireSynchronousCommit(tx);
        if (!(await markUninstalled(tx, shop, randomUUID(), at))) {
          throw new CommandError(
            `Shop ${shop} is not connected to Shopify; "serve" connects the shops of SHOPIFY_CREDENTIALS_FILE.`,
          );
        }
        return revokeKeysOfShop(tx, shop, at);
      });
      const revokedKeys = await awaitCommit(uninstalling, context.io);
      logUninstall(context.log, shop, revokedKeys, at);
      await sleep(leaseDrainMilliseconds);
      await warnAboutFailover(context, sql);
      return { shop, revokedKeys };
    }),
  show: ({ shop }) => `The keys of shop ${shop} are revoked, and the shop is no longer synced.`,
});

const retry = defineCommand({
  name: 'shopify retry',
  about: 'retries webhooks that failed permanently',
  notes: ['A running server picks them up within seconds; "retention feeds status" counts them.'],
  options: shopOption,
  run: ({ shop }, context) =>
    withShop(context, shop, async ({ write: sql }) => ({
      shop,
      retried: await retryFailedJobs(sql, shop),
    })),
  show: ({ shop, retried }) =>
    `${retried} failed webhook${retried === 1 ? '' : 's'} of shop ${shop} will be retried.`,
});

export const shopifyCommands = [dataRequest, requests, uninstalled, reinstalled, retry];
