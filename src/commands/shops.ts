import { setTimeout as sleep } from 'node:timers/promises';
import { leaseDrainMilliseconds } from '../access/keys/key-leases.ts';
import { systemClock } from '../clock.ts';
import { CommandError, UsageError } from '../errors.ts';
import { visible } from '../log/visible.ts';
import { ensureCustomerKey, replaceCustomerKey } from '../store/records/customer-keys.ts';
import { audited } from '../store/owners/audit.ts';
import { type Shop, insertShop, listShops, updateShopTier } from '../store/shops.ts';
import { tierNames } from '../vocabulary.ts';
import {
  type Parameter,
  defineCommand,
  currency,
  exitStatus,
  flag,
  id,
  oneOf,
  required,
  text,
  withDefault,
  optional,
} from './framework/command.ts';
import { table, tell } from './framework/io.ts';
import { deleteCommand } from './shop-data/delete.ts';
import { exportCommand } from './shop-data/export.ts';
import { keepCommand } from './shop-data/keep.ts';
import { keyPolicyCommand } from './shop-data/key-policy.ts';
import { copyCommand, moveCommand } from './shop-data/move.ts';
import { resolvePlace, withPlace } from './shop-data/place.ts';
import { withStore, shopOption, withShop } from './store.ts';
import { findRecord } from '../platforms/source-ids.ts';
import { recordKinds } from '../store/records/export-dates.ts';

const tier = oneOf('TIER', tierNames);

const create = defineCommand({
  name: 'shops create',
  acts: ['shop_created'],
  about: 'adds a shop',
  options: {
    id: required({ ...id, hint: 'N' }, 'the id of the shop, which you choose'),
    name: required(text('TEXT'), 'the name of the shop'),
    currency: required(currency, 'an ISO 4217 code, such as USD'),
    tier: withDefault(tier, 'growth', 'decides whether it has API access, and how much'),
  },
  run: (given, context) =>
    withStore(context, async (store) => {
      const { id: shopId, name, tier: its, currency: code } = given;
      const createdAt = new Date(systemClock.now());
      const shop = { id: shopId, name, tier: its, currency: code, createdAt };
      const happened = {
        at: createdAt,
        by: context.actor,
        what: 'shop_created',
        target: its,
      } as const;
      const isNew = await audited(store.write, shopId, happened, (tx) => insertShop(tx, shop));
      if (isNew) return shop;
      throw new CommandError(`Shop ${shopId} already exists.`);
    }),
  show: (shop) =>
    `Created shop ${shop.id} (${visible(shop.name)}): ${shop.tier}, ${shop.currency}.`,
});

const list = defineCommand({
  name: 'shops list',
  about: 'lists the shops',
  options: {
    servers: optional(text('env:NAME,…'), 'lists those of several databases, with where each is'),
  },
  async run({ servers }, context) {
    if (servers === undefined) {
      return withStore(context, (store) => listShops(store.primary.keys));
    }
    const lists = servers
      .split(',')
      .map((each) => resolvePlace(each.trim(), '--servers', context))
      .map((place) =>
        withPlace(place, '--servers', async (sql) =>
          (await listShops(sql)).map((shop) => ({ ...shop, server: place.address })),
        ),
      );
    return (await Promise.all(lists)).flat();
  },
  show: (shops: readonly (Shop & { readonly server?: string })[]) =>
    table(shops, {
      ID: (shop) => shop.id,
      NAME: (shop) => shop.name,
      TIER: (shop) => shop.tier,
      CURRENCY: (shop) => shop.currency,
      CREATED: (shop) => shop.createdAt,
      ...(shops.some(({ server }) => server) && { SERVER: (shop) => shop.server }),
    }),
});

const setTier = defineCommand({
  name: 'shops set-tier',
  acts: ['tier_set'],
  about: "changes a shop's tier; takes effect by the time this returns",
  arguments: { shop: required(id, 'the id of the shop'), tier: required(tier, 'its new tier') },
  async run({ shop, tier: its }, context) {
    const at = new Date(systemClock.now());
    const happened = { at, by: context.actor, what: 'tier_set', target: its } as const;
    await withShop(context, shop, ({ write }) =>
      audited(write, shop, happened, (tx) => updateShopTier(tx, shop, its)),
    );
    await sleep(leaseDrainMilliseconds);
    return { id: shop, tier: its };
  },
  show: (shop) => `Shop ${shop.id} is now ${shop.tier}.`,
});

export const shopCommands = [
  create,
  list,
  setTier,
  keyPolicyCommand,
  exportCommand,
  keepCommand,
  copyCommand,
  moveCommand,
  deleteCommand,
];

const kindOptions = Object.fromEntries(
  recordKinds.map((kind) => [kind, optional(text('TEXT'), `the id of a ${kind}`)]),
) as Readonly<Record<(typeof recordKinds)[number], Parameter<string | undefined>>>;

export const idsCommand = defineCommand({
  name: 'ids',
  about: "finds a record's id here by its id at the source, and vice versa",
  notes: [
    'Give one id, here (4812…) or at the source (cus_…).',
    'Only opaque source ids are kept, from the next import of a record on.',
    'An e-mail address of a customer finds the id that it has under the shop’s customer key.',
  ],
  options: { ...shopOption, ...kindOptions },
  async run({ shop, ...ids }, context) {
    const [kind, ...others] = recordKinds.filter((each) => ids[each] !== undefined);
    const typed = kind && ids[kind]?.trim();
    if (!kind || !typed || others.length > 0) {
      const names = recordKinds.map((each) => `--${each}`).join(', ');
      throw new UsageError(`Give exactly one of ${names}, with an id.`);
    }
    return withShop(context, shop, async (store) => {
      const record = await findRecord(store.write, shop, kind, typed);
      if (!record) throw new CommandError(`Shop ${shop} has no ${kind} ${typed}.`);
      return { kind, ...record };
    });
  },
  show: (found) =>
    table([found], {
      KIND: ({ kind }) => kind,
      ID: (record) => record.id,
      'SOURCE ID': ({ sourceId }) => sourceId ?? '(unknown)',
    }),
});

/** What another key means. */
const newIds =
  'Another key gives other ids to all customers that the source knows by an e-mail address, and to rows without an id that have one. Until everything is imported again with --complete, such customers count twice, and an address finds only what came since. Imports that are running still use the old key. Programs that compute ids need the new one.';

export const customerKeyCommand = defineCommand({
  name: 'customer-key',
  acts: ['customer_key_replaced'],
  about: 'prints the secret by which e-mail addresses of customers become ids',
  notes: [
    'docs/guides/ids.md has the formula. A holder of the key can test whether an address is a customer.',
  ],
  options: {
    ...shopOption,
    replace: flag('makes another one first, so that these customers get new ids'),
    yes: flag('with --replace: without it, that is only explained'),
  },
  run: ({ shop, replace, yes }, context) =>
    withShop(context, shop, async ({ write }) => {
      if (yes && !replace) throw new UsageError('--yes needs --replace.');
      if (replace && !yes) {
        throw new CommandError(`Nothing was changed. ${newIds} Add --yes to replace the key.`);
      }
      const at = new Date(systemClock.now());
      const happened = { at, by: context.actor, what: 'customer_key_replaced' } as const;
      const key = replace
        ? await audited(write, shop, happened, (tx) => replaceCustomerKey(tx, shop))
        : await ensureCustomerKey(write, shop);
      return { shop, key, isReplaced: replace };
    }),
  document: ({ shop, key }) => ({ shop, key }),
  show: ({ key }) => key,
  end({ isReplaced }, { io }) {
    if (isReplaced) tell(io, `The key was replaced. ${newIds}`);
    return exitStatus.done;
  },
});
