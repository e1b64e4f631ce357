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
import { noteInstall, noteUninstall } from '../platforms/shopify/store/shops.ts';
import {
  type Command,
  exitStatus,
  formatTable,
  parseId,
  print,
  printJson,
  requiredOption,
} from './command.ts';
import { committed, tellOfFailover } from './failover.ts';
import { withShop } from './keys.ts';

const shopOption = { shop: { type: 'string' } } as const;

const dataRequest: Command = {
  name: 'shopify data-request',
  synopsis: '--shop ID --customer N',
  summary: 'prints all that is held about a customer, as JSON',
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
  summary: 'lists the customers who asked, through Shopify, what is held about them',
  options: { ...shopOption, json: { type: 'boolean' } },
  async run(context) {
    const all = await withShop(context, ({ write: sql }, { id }) => listDataRequests(sql, id));
    if (context.options['json']) {
      printJson(all.map(({ customerId, receivedAt }) => ({ customer: customerId, receivedAt })));
    } else if (all.length === 0) print('No requests.');
    else {
      const rows = all.map((each) => [String(each.customerId), each.receivedAt.toISOString()]);
      print(formatTable(['CUSTOMER', 'ASKED'], rows));
    }
    return exitStatus.done;
  },
};

const reinstalled: Command = {
  name: 'shopify reinstalled',
  synopsis: '--shop ID',
  summary: 'says that the app is back in a shop that had uninstalled it',
  details: ['Synchronisation and webhooks go on; the keys stay revoked, so make new ones.'],
  options: shopOption,
  async run(context) {
    await withShop(context, async ({ write: sql }, { id }) => {
      const wasAway = await noteInstall(sql, id, new Date(systemClock.now()));
      print(
        wasAway ? `Shop ${id} is followed again.` : `The app was not uninstalled from shop ${id}.`,
      );
    });
    return exitStatus.done;
  },
};

const uninstalled: Command = {
  name: 'shopify uninstalled',
  synopsis: '--shop ID',
  summary: 'says that the app was uninstalled from a shop, where no webhook did',
  details: [
    'Ends the keys of the shop. From then on Shopify can have the shop deleted (shop/redact);',
    'if it has asked already, run "retention shopify retry" next.',
  ],
  options: shopOption,
  async run(context) {
    await withShop(context, async ({ write: sql }, { id }) => {
      const at = new Date(systemClock.now());
      const uninstalling = sql.begin(async (tx) => {
        await requireSynchronousCommit(tx);
        if (!(await noteUninstall(tx, id, randomUUID(), at))) {
          throw new CommandError(
            `Shop ${id} is not connected to Shopify; "serve" connects the shops of SHOPIFY_CREDENTIALS_FILE.`,
          );
        }
        return revokeKeysOfShop(tx, id, at);
      });
      const keyIds = await committed(uninstalling);
      logUninstall(context.log, id, keyIds, at);
      await sleep(leaseDrainMilliseconds);
      print(`The keys of shop ${id} are revoked, and it is not followed any more.`);
      await tellOfFailover(context.config, sql);
    });
    return exitStatus.done;
  },
};

const retry: Command = {
  name: 'shopify retry',
  synopsis: '--shop ID',
  summary: 'lets webhooks that failed for good be followed once more',
  details: ['A running server takes them up within seconds; "retention feeds status" counts them.'],
  options: shopOption,
  async run(context) {
    await withShop(context, async ({ write: sql }, { id }) => {
      const count = await retryFailedJobs(sql, id);
      print(`${count} failed webhook${count === 1 ? '' : 's'} of shop ${id} will be tried again.`);
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
