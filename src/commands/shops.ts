import { leaseDrainMilliseconds } from '../access/keys/key-leases.ts';
import { isTier } from '../access/tiers.ts';
import { systemClock } from '../clock.ts';
import { CommandError, UsageError } from '../errors.ts';
import { minorDigitsOf } from '../money.ts';
import { insertShop, listShops, updateShopTier } from '../store/shops.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Command,
  exitStatus,
  formatTable,
  parseId,
  print,
  printDone,
  printJson,
  requiredOption,
  withStore,
} from './command.ts';
import { visible } from '../log/visible.ts';
import { tierNames } from '../vocabulary.ts';

function parseTier(text: string) {
  if (!isTier(text))
    throw new UsageError(`The tier must be one of ${tierNames.join(', ')}, not "${text}".`);
  return text;
}

const create: Command = {
  name: 'shops create',
  synopsis: '--id N --name TEXT --currency CUR [--tier TIER] [--json]',
  summary: 'adds a shop',
  details: [
    `--currency  an ISO 4217 code, such as USD`,
    `--tier      ${tierNames.join(', ')} (growth)`,
  ],
  options: {
    id: { type: 'string' },
    name: { type: 'string' },
    tier: { type: 'string', default: 'growth' },
    currency: { type: 'string' },
    json: { type: 'boolean' },
  },
  values: { '--tier': tierNames },
  async run(context) {
    const currency = requiredOption(context, 'currency').toUpperCase();
    if (minorDigitsOf(currency) === undefined) {
      throw new UsageError(`--currency must be an ISO 4217 code such as USD, not "${currency}".`);
    }
    const shop = {
      id: parseId(requiredOption(context, 'id'), '--id'),
      name: requiredOption(context, 'name'),
      tier: parseTier(requiredOption(context, 'tier')),
      currency,
      createdAt: new Date(systemClock.now()),
    };
    const isNew = await withStore(context.config, (store) => insertShop(store.write, shop));
    if (!isNew) throw new CommandError(`Shop ${shop.id} already exists.`);
    const sentence = `Created shop ${shop.id} (${visible(shop.name)}): ${shop.tier}, ${shop.currency}.`;
    printDone(context, shop, sentence);
    return exitStatus.done;
  },
};

const list: Command = {
  name: 'shops list',
  synopsis: '[--json]',
  summary: 'lists the shops',
  options: { json: { type: 'boolean' } },
  async run({ config, options }) {
    const shops = await withStore(config, (store) => listShops(store.primary.keys));
    if (options['json']) {
      printJson(shops);
      return exitStatus.done;
    }
    const rows = shops.map((shop) => [
      String(shop.id),
      shop.name,
      shop.tier,
      shop.currency,
      shop.createdAt.toISOString(),
    ]);
    print(formatTable(['ID', 'NAME', 'TIER', 'CURRENCY', 'CREATED'], rows));
    return exitStatus.done;
  },
};

const setTier: Command = {
  name: 'shops set-tier',
  synopsis: 'ID TIER [--json]',
  summary: "changes a shop's tier; takes effect by the time this returns",
  options: { json: { type: 'boolean' } },
  positionals: [2, 2],
  values: { 2: tierNames },
  async run(context) {
    const { config, positionals } = context;
    const [idText = '', tierText = ''] = positionals;
    const shopId = parseId(idText, 'The shop id');
    const tier = parseTier(tierText);
    const isKnown = await withStore(config, (store) => updateShopTier(store.write, shopId, tier));
    if (!isKnown) throw new CommandError(`There is no shop ${shopId}.`);
    await sleep(leaseDrainMilliseconds);
    printDone(context, { id: shopId, tier }, `Shop ${shopId} is now ${tier}.`);
    return exitStatus.done;
  },
};

export const shopCommands = [create, list, setTier];
