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
import {
  type Command,
  exitStatus,
  formatTable,
  parseId,
  print,
  printDone,
  printJson,
  requiredOption,
} from './command.ts';
import { awaitCommit, warnAboutFailover } from './failover.ts';
import { withShop } from './keys.ts';

const shopOption = { shop: { type: 'string' } } as const;
const actionOptions = { ...shopOption, json: { type: 'boolean' } } as const;

const dataRequest: Command = {
  name: 'shopify data-request',
  synopsis: '--shop ID --customer N',
  summary: 'prints everything held about a customer, as JSON',
  options: { ...shopOption, customer: { type: 'string' } },
  async run(context) {
    const customerId = parseId(requiredOption(context, 'customer'), '--customer');
    await withShop(context, async ({ write: sql }, { id: shopId, currency }) => {
      const requests = await listDataRequests(sql, shopId);
      printJson({
        shop: shopId,
        customer: customerId,
        currency,
        requestedAt: requests
          .filter((request) => request.customerId === customerId)
          .map(({ receivedAt }) => receivedAt),
        subscriptions: await listAllOfCustomer(sql, shopId, customerId),
        sourceIds: await listSourceIdsOfCustomer(sql, shopId, customerId),
      });
    });
    return exitStatus.done;
  },
};

const requests: Command = {
  name: 'shopify requests',
  synopsis: '--shop ID [--json]',
  summary: 'lists the customers who requested their data through Shopify',
  options: { ...shopOption, json: { type: 'boolean' } },
  async run(context) {
    const all = await withShop(context, ({ write: sql }, { id }) => listDataRequests(sql, id));
    if (context.options['json']) {
      printJson(all.map(({ customerId, receivedAt }) => ({ customer: customerId, receivedAt })));
    } else if (all.length === 0) print('No requests.');
    else {
      const rows = all.map((each) => [String(each.customerId), each.receivedAt.toISOString()]);
      print(formatTable(['CUSTOMER', 'REQUESTED'], rows));
    }
    return exitStatus.done;
  },
};

const reinstalled: Command = {
  name: 'shopify reinstalled',
  synopsis: '--shop ID [--json]',
  summary: 'records that the app was installed again',
  details: ['Syncs and webhooks resume. The old keys stay revoked, so create new ones.'],
  options: actionOptions,
  async run(context) {
    await withShop(context, async ({ write: sql }, { id }) => {
      const wasAway = await markReinstalled(sql, id, new Date(systemClock.now()));
      printDone(
        context,
        { shop: id, wasUninstalled: wasAway },
        wasAway ? `Shop ${id} is synced again.` : `The app was not uninstalled from shop ${id}.`,
      );
    });
    return exitStatus.done;
  },
};

const uninstalled: Command = {
  name: 'shopify uninstalled',
  synopsis: '--shop ID [--json]',
  summary: 'records an uninstall that no webhook reported',
  details: [
    "Revokes the shop's keys. From then on, Shopify can request that the shop be deleted (shop/redact);",
    'if it already has, run "retention shopify retry" next.',
  ],
  options: actionOptions,
  async run(context) {
    await withShop(context, async ({ write: sql }, { id }) => {
      const at = new Date(systemClock.now());
      const uninstalling = sql.begin(async (tx) => {
        await requireSynchronousCommit(tx);
        if (!(await markUninstalled(tx, id, randomUUID(), at))) {
          throw new CommandError(
            `Shop ${id} is not connected to Shopify; "serve" connects the shops of SHOPIFY_CREDENTIALS_FILE.`,
          );
        }
        return revokeKeysOfShop(tx, id, at);
      });
      const keyIds = await awaitCommit(uninstalling);
      logUninstall(context.log, id, keyIds, at);
      await sleep(leaseDrainMilliseconds);
      printDone(
        context,
        { shop: id, revokedKeys: keyIds },
        `The keys of shop ${id} are revoked, and the shop is no longer synced.`,
      );
      await warnAboutFailover(context.config, sql);
    });
    return exitStatus.done;
  },
};

const retry: Command = {
  name: 'shopify retry',
  synopsis: '--shop ID [--json]',
  summary: 'retries webhooks that failed permanently',
  details: ['A running server picks them up within seconds; "retention feeds status" counts them.'],
  options: actionOptions,
  async run(context) {
    await withShop(context, async ({ write: sql }, { id }) => {
      const count = await retryFailedJobs(sql, id);
      printDone(
        context,
        { shop: id, retried: count },
        `${count} failed webhook${count === 1 ? '' : 's'} of shop ${id} will be retried.`,
      );
    });
    return exitStatus.done;
  },
};

export const shopifyCommands: readonly Command[] = [
  dataRequest,
  requests,
  uninstalled,
  reinstalled,
  retry,
];
