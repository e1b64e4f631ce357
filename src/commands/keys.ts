import { expiryAfter, usualDays } from '../access/keys/key-policy.ts';
import { apiKeys } from '../access/keys/keys.ts';
import { isScope, scopeDescriptions } from '../access/scopes.ts';
import { createSecret, revokeSecret } from '../access/secrets.ts';
import { systemClock } from '../clock.ts';
import { CommandError, UsageError } from '../errors.ts';
import { Outbox } from '../mail/outbox.ts';
import { openMailer } from '../mail/mailer.ts';
import { networkProblem, splitNetworks } from '../config/networks.ts';
import { newKeyLetters } from '../owner/keys/letters.ts';
import { type KeyListing, type RevokedKey, listKeys, listRevokedKeys } from '../store/keys/keys.ts';
import { firstVersion, listMissingMigrations } from '../store/migrate.ts';
import { type Store, openStore } from '../store/open.ts';
import type { Sql } from '../store/database.ts';
import { type Shop, findShop, listShops } from '../store/shops.ts';
import { type Scope, scopes as allScopes } from '../vocabulary.ts';
import { awaitRefusal, lockedError, shopOption, serviceUrl, withShop } from './store.ts';
import {
  type Context,
  type Value,
  defineCommand,
  exitStatus,
  duration,
  id,
  jsonFlag,
  optional,
  past,
  required,
  text,
} from './framework/command.ts';
import { printSecret, tell, table } from './framework/io.ts';

const scopeList: Value<readonly Scope[]> = {
  hint: 'a,b',
  choices: allScopes,
  read(typed, name) {
    const scopes = [...new Set(typed.split(',').map((each) => each.trim()))];
    if (scopes.every(isScope)) return scopes;
    throw new UsageError(
      `${name} takes one or more of ${allScopes.join(', ')}, separated by commas.`,
    );
  },
};

const networkList: Value<readonly string[]> = {
  hint: 'a,b',
  read(typed, name) {
    const networks = splitNetworks(typed);
    // An empty variable of a script must not make a key that works from everywhere.
    const problem = networks.length === 0 ? 'give at least one network.' : networkProblem(typed);
    if (problem === undefined) return networks;
    throw new UsageError(`${name}: ${problem}`);
  },
};

/** Prepared before the key is shown, so that nothing fails after that. */
async function mailOfNewKey({ config, log, actor }: Context, sql: Sql, shop: Shop) {
  const { mail } = config;
  const baseUrl = await serviceUrl(config, sql);
  const mailer = mail && (await openMailer(mail, new URL(baseUrl).hostname));
  return async (key: Parameters<typeof newKeyLetters>[2]): Promise<void> => {
    const outbox = new Outbox(() => mailer, log);
    outbox.post('a new key', () => newKeyLetters(sql, { shop, baseUrl }, key, actor));
    await outbox.settle();
    mailer?.close();
  };
}

const create = defineCommand({
  name: 'keys create',
  acts: ['key_created'],
  about: 'creates an API key and prints it once',
  notes: [
    'The shop must be on a tier with API access: growth or higher. Scopes:',
    ...allScopes.map((scope) => `  ${scope.padEnd(20)}${scopeDescriptions[scope]}`),
  ],
  options: {
    ...shopOption,
    name: required(text('TEXT'), 'the name of the key'),
    scopes: required(scopeList, 'one or more, separated by commas'),
    expiresIn: optional(
      duration,
      "when the key expires, in whole hours or days: 24h, 30d; at most 3650d; by default as the shop's policy says",
    ),
    networks: optional(
      networkList,
      'the networks and addresses that it may be used from; without it, everywhere',
    ),
    json: jsonFlag,
  },
  async run({ shop: shopId, name, scopes, expiresIn, networks = [], json }, context) {
    const { io } = context;
    await withShop(context, shopId, async (store, shop) => {
      const expiresAt =
        expiresIn === undefined
          ? expiryAfter(usualDays(shop), systemClock)
          : new Date(systemClock.now() + expiresIn);
      const request = { name, scopes, networks, expiresAt };
      const keyId = apiKeys.newId();
      const show = (key: string) =>
        printSecret(io, json ? JSON.stringify({ id: keyId, key, ...request }) : key);
      const sendMail = await mailOfNewKey(context, store.write, shop);
      const made = await createSecret(
        apiKeys,
        { sql: store.write, clock: systemClock, log: context.log, show },
        { shopId, id: keyId, actor: context.actor },
        request,
      );
      if (made.kind === 'locked') throw lockedError(shop, made.tier);
      if (made.kind === 'outlives') {
        throw new CommandError(
          `New keys of shop ${shopId} are valid for at most ${shop.keyMaxDays} days; give --expires-in ${shop.keyMaxDays}d or less.`,
        );
      }
      if (made.kind !== 'created') throw new CommandError('No key was created; try again.');
      if (!json) {
        tell(io, `This is key ${keyId}. Copy it now: only a fingerprint of it is kept.`);
        if (expiresAt) tell(io, `It expires at ${expiresAt.toISOString()}.`);
      }
      await sendMail(request);
    });
    return exitStatus.done;
  },
});

const list = defineCommand({
  name: 'keys list',
  about: 'lists the keys of a shop, without the keys themselves',
  options: shopOption,
  run: ({ shop }, context) => withShop(context, shop, (store) => listKeys(store.write, shop)),
  show: (keys) =>
    table(keys, {
      ID: (key) => key.id,
      KEY: (key) => `…${key.lastFour}`,
      NAME: (key) => key.name,
      SCOPES: (key) => key.scopes.join(','),
      NETWORKS: (key) => key.networks.join(',') || 'all',
      CREATED: (key) => key.createdAt,
      'LAST USED': (key) => key.lastUsedAt ?? 'never',
      STATE: stateOf,
    }),
});

function stateOf({ revokedAt, expiresAt }: KeyListing): string {
  if (revokedAt) return `revoked ${revokedAt.toISOString()}`;
  if (!expiresAt) return 'active';
  const word = expiresAt.getTime() <= systemClock.now() ? 'expired' : 'active until';
  return `${word} ${expiresAt.toISOString()}`;
}

const revoke = defineCommand({
  name: 'keys revoke',
  acts: ['key_revoked'],
  about: 'revokes a key: every request that begins after this returns is refused',
  options: shopOption,
  arguments: { key: required(text('KEY_ID'), 'as "retention keys list" shows it') },
  run: ({ shop, key }, context) =>
    withShop(context, shop, async ({ write: sql }) => {
      const parts = { sql, clock: systemClock, log: context.log };
      const target = { shopId: shop, id: key, actor: context.actor };
      const revoking = revokeSecret(apiKeys, parts, target).then((isKnown) => {
        if (isKnown) return;
        throw new CommandError(
          `Shop ${shop} has no key ${key}; "retention keys list" lists its keys.`,
        );
      });
      await awaitRefusal(revoking, context, sql);
      return { shop, id: key, state: 'revoked' };
    }),
  show: ({ id: keyId }) => `Key ${keyId} is revoked.`,
});

const revoked = defineCommand({
  name: 'keys revoked',
  about: 'lists the keys revoked or rotated since a given time, of one shop or all',
  notes: [
    'After a failover, the new server may not know of these keys: ask the old server, or save the output',
    'elsewhere beforehand; see "After a failover" in docs/operations.md. This command writes nothing.',
  ],
  options: {
    since: required(
      past,
      'a date, an ISO 8601 time such as 2026-11-21T16:00:00Z, or how long ago: 2h, 7d',
    ),
    shop: optional(id, 'one shop'),
  },
  async run({ since, shop }, { config }) {
    // Does not migrate: the server may be a former primary, or a standby.
    const store = await openStore({ ...config, role: 'command' });
    try {
      return await listAll(store, shop, since);
    } finally {
      await store.close();
    }
  },
  show: (keys, { since }) =>
    keys.length === 0
      ? `No key was revoked or rotated since ${since.toISOString()}.`
      : table(keys, {
          SHOP: (key) => key.shopId,
          ID: (key) => key.keyId,
          NAME: (key) => key.name,
          REVOKED: (key) => key.revokedAt ?? '-',
          'REPLACED BY': ({ replacedBy, expiresAt }) =>
            replacedBy === null ? '-' : `${replacedBy}, expires ${expiresAt?.toISOString()}`,
        }),
});

async function listAll(
  { primary: { keys: sql } }: Store,
  shopId: number | undefined,
  since: Date,
): Promise<RevokedKey[]> {
  const missing = await listMissingMigrations(sql);
  if (missing.includes(firstVersion)) {
    throw new CommandError('The schema is not up to date; run "retention migrate".');
  }
  const shops = shopId === undefined ? await listShops(sql) : [await findShop(sql, shopId)];
  const ids = shops.map((shop) => {
    if (!shop) throw new CommandError(`There is no shop ${shopId}.`);
    return shop.id;
  });
  return listRevokedKeys(sql, ids, since);
}

export const keyCommands = [create, list, revoke, revoked];
