import { setTimeout as sleep } from 'node:timers/promises';
import { leaseDrainMilliseconds } from '../access/keys/key-leases.ts';
import { systemClock } from '../clock.ts';
import { CommandError } from '../errors.ts';
import { visible } from '../log/visible.ts';
import { insertShop, listShops, updateShopTier } from '../store/shops.ts';
import { tierNames } from '../vocabulary.ts';
import { defineCommand } from './framework/command.ts';
import { currency, id, oneOf, required, text, withDefault } from './framework/parameters.ts';
import { table } from './framework/table.ts';
import { withStore } from './store.ts';

const tier = oneOf('TIER', tierNames);

const create = defineCommand({
  name: 'shops create',
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
      if (await insertShop(store.write, shop)) return shop;
      throw new CommandError(`Shop ${shopId} already exists.`);
    }),
  show: (shop) =>
    `Created shop ${shop.id} (${visible(shop.name)}): ${shop.tier}, ${shop.currency}.`,
});

const list = defineCommand({
  name: 'shops list',
  about: 'lists the shops',
  run: (_, context) => withStore(context, (store) => listShops(store.primary.keys)),
  show: (shops) =>
    table(shops, {
      ID: (shop) => shop.id,
      NAME: (shop) => shop.name,
      TIER: (shop) => shop.tier,
      CURRENCY: (shop) => shop.currency,
      CREATED: (shop) => shop.createdAt,
    }),
});

const setTier = defineCommand({
  name: 'shops set-tier',
  about: "changes a shop's tier; takes effect by the time this returns",
  arguments: { shop: required(id, 'the id of the shop'), tier: required(tier, 'its new tier') },
  async run({ shop, tier: its }, context) {
    const isKnown = await withStore(context, (store) => updateShopTier(store.write, shop, its));
    if (!isKnown) throw new CommandError(`There is no shop ${shop}.`);
    await sleep(leaseDrainMilliseconds);
    return { id: shop, tier: its };
  },
  show: (shop) => `Shop ${shop.id} is now ${shop.tier}.`,
});

export const shopCommands = [create, list, setTier];
