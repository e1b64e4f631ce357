import { isScope, scopeDescriptions } from '../access/scopes.ts';
import { systemClock } from '../clock.ts';
import { CommandError, UsageError } from '../errors.ts';
import { createKey } from '../access/keys/keys.ts';
import { type KeyListing, listKeys } from '../store/keys/keys.ts';
import type { Store } from '../store/open.ts';
import { type Shop, findShop } from '../store/shops.ts';
import {
  type Command,
  type CommandContext,
  exitStatus,
  formatTable,
  parseId,
  print,
  printJson,
  printSecret,
  requiredOption,
  tell,
  withStore,
} from './command.ts';
import { parseDuration } from './terminal/times.ts';
import { type Tier, scopes as allScopes } from '../vocabulary.ts';

/** Opens the store and finds the shop that --shop names. */
export async function withShop<T>(
  context: CommandContext,
  work: (store: Store, shop: Shop) => Promise<T>,
): Promise<T> {
  const shopId = parseId(requiredOption(context, 'shop'), '--shop');
  return withStore(context.config, async (store) => {
    const shop = await findShop(store.write, shopId);
    if (!shop) {
      throw new CommandError(`There is no shop ${shopId}; "retention shops create" creates one.`);
    }
    return work(store, shop);
  });
}

/** For a shop on a tier without API access. */
export function lockedError({ id }: Pick<Shop, 'id'>, tier: Tier): CommandError {
  return new CommandError(
    `Shop ${id} is on the ${tier} tier, which has no API access, so nothing was changed. ` +
      `Change the tier first: "retention shops set-tier ${id} growth".`,
  );
}

const create: Command = {
  name: 'keys create',
  synopsis: '--shop ID --name TEXT --scopes a,b [--expires-in DURATION] [--json]',
  summary: 'creates an API key and prints it once',
  details: [
    '--scopes  one or more, separated by commas:',
    ...allScopes.map((scope) => `            ${scope.padEnd(20)}${scopeDescriptions[scope]}`),
    '--expires-in  when the key expires, in whole hours or days: 24h, 30d; at most 3650d',
    'The shop must be on a tier with API access: growth or higher.',
  ],
  options: {
    shop: { type: 'string' },
    name: { type: 'string' },
    scopes: { type: 'string' },
    'expires-in': { type: 'string' },
    json: { type: 'boolean' },
  },
  values: { '--scopes': allScopes },
  async run(context) {
    const name = requiredOption(context, 'name');
    const scopes = [
      ...new Set(
        requiredOption(context, 'scopes')
          .split(',')
          .map((each) => each.trim()),
      ),
    ];
    if (!scopes.every(isScope)) {
      throw new UsageError(
        `--scopes takes one or more of ${allScopes.join(', ')}, separated by commas.`,
      );
    }
    const duration = context.options['expires-in'];
    const milliseconds = typeof duration === 'string' ? parseExpiry(duration) : undefined;
    await withShop(context, async (store, shop) => {
      const expiresAt =
        milliseconds === undefined ? null : new Date(systemClock.now() + milliseconds);
      const made = await createKey(store.write, systemClock, shop.id, 'command line', {
        name,
        scopes,
        expiresAt,
        show: (id, key) =>
          printSecret(
            context.options['json'] ? JSON.stringify({ id, key, name, scopes, expiresAt }) : key,
          ),
      });
      if (made.kind === 'locked') throw lockedError(shop, made.tier);
      if (made.kind === 'already') throw new CommandError('No key was created; try again.');
      if (context.options['json']) return;
      tell(`This is key ${made.id}. Copy it now: only a fingerprint of it is kept.`);
      if (expiresAt) tell(`It expires at ${expiresAt.toISOString()}.`);
    });
    return exitStatus.done;
  },
};

/** @returns milliseconds */
function parseExpiry(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined) {
    throw new UsageError(
      `--expires-in takes a whole number of hours or days, such as 24h or 30d, and at most 3650d, not "${text}".`,
    );
  }
  return milliseconds;
}

const list: Command = {
  name: 'keys list',
  synopsis: '--shop ID [--json]',
  summary: 'lists the keys of a shop, without the keys themselves',
  options: { shop: { type: 'string' }, json: { type: 'boolean' } },
  async run(context) {
    const keys = await withShop(context, (store, shop) => listKeys(store.primary.keys, shop.id));
    if (context.options['json']) {
      printJson(keys);
      return exitStatus.done;
    }
    const rows = keys.map((key) => [
      key.id,
      `…${key.lastFour}`,
      key.name,
      key.scopes.join(','),
      key.createdAt.toISOString(),
      key.lastUsedAt?.toISOString() ?? 'never',
      stateOf(key),
    ]);
    print(formatTable(['ID', 'KEY', 'NAME', 'SCOPES', 'CREATED', 'LAST USED', 'STATE'], rows));
    return exitStatus.done;
  },
};

function stateOf({ revokedAt, expiresAt }: KeyListing): string {
  if (revokedAt) return `revoked ${revokedAt.toISOString()}`;
  if (!expiresAt) return 'active';
  const word = expiresAt.getTime() <= systemClock.now() ? 'expired' : 'active until';
  return `${word} ${expiresAt.toISOString()}`;
}

export const keyCommands = [create, list];
