import { text } from 'node:stream/consumers';
import { systemClock } from '../clock.ts';
import { CommandError, UsageError } from '../errors.ts';
import { isObject } from '../json.ts';
import { withoutComments } from '../mapping/read.ts';
import { connectShop, disconnectShop } from '../platforms/connect.ts';
import { checkEntry } from '../platforms/credentials/file.ts';
import { openPasswords, sealPasswords } from '../platforms/credentials/passwords.ts';
import { Sealing } from '../platforms/credentials/sealing.ts';
import { appOf, openPlatform } from '../platforms/open.ts';
import type { Platform } from '../platforms/platform.ts';
import { findPlatform, platforms } from '../platforms/registry.ts';
import { listSyncStates } from '../store/feeds/platforms.ts';
import {
  type Context,
  type Value,
  defineCommand,
  exitStatus,
  id,
  optional,
  required,
} from './framework/command.ts';
import { type Io, table, tell } from './framework/io.ts';
import { shopOption, withShop, withStore } from './store.ts';

const platformName: Value<Platform> = {
  hint: 'PLATFORM',
  choices: platforms.map(({ name }) => name),
  read(typed) {
    const platform = findPlatform(typed);
    if (platform) return platform;
    const known = platforms.map(({ name }) => name).join(', ');
    throw new UsageError(`There is no platform "${typed}"; there is: ${known}.`);
  },
};

const platformArgument = { platform: required(platformName, 'the name of the platform') };

function openFor({ config, log }: Context, platform: Platform) {
  const { signal } = new AbortController();
  return openPlatform(platform, { config, clock: systemClock, log, signal });
}

function connectContext({ config, log }: Context, { name }: Platform) {
  const { platforms: settings, sourceNetworks } = config;
  return { app: appOf(settings[name]), sourceNetworks, clock: systemClock, log };
}

const connect = defineCommand({
  name: 'platforms connect',
  acts: ['platform_connected'],
  about: 'connects a shop to a platform, or gives it new credentials',
  notes: [
    'Reads one JSON object from standard input:',
    ...platforms.flatMap(({ examples }) => examples.map((example) => `  ${example}`)),
    'The platform is asked whether it accepts them; only then are they stored, encrypted with CREDENTIALS_KEY.',
  ],
  arguments: platformArgument,
  options: shopOption,
  async run({ platform, shop: shopId }, context) {
    const { config, io } = context;
    if (config.credentialsKeys.length === 0) {
      throw new UsageError(
        'CREDENTIALS_KEY is not set: it encrypts the credentials. "openssl rand -base64 32" makes one.',
      );
    }
    const sealing = new Sealing(config.credentialsKeys);
    const read = openPasswords(await readObject(io), sealing);
    const given = (await platform.readReferences?.(read)) ?? read;
    return withShop(context, shopId, async ({ write: sql }, shop) => {
      const credentials = await checkEntry(platform, { ...given, shop: shopId }, 'The object');
      const parts = {
        opened: await openFor(context, platform),
        sql,
        sealing,
        baseUrl: config.platforms[platform.name]?.baseUrl,
        context: connectContext(context, platform),
        by: context.actor,
      };
      const account = await connectShop(parts, shop, credentials);
      return { platform: platform.name, shop: shopId, state: 'connected', account };
    });
  },
  document: ({ platform, shop, state }) => ({ platform, shop, state }),
  show: ({ platform, shop, account }) =>
    `Shop ${shop} is connected to ${account}. "serve" or "sync ${platform}" fetches its data.`,
});

async function readObject({ stdin }: Io): Promise<Record<string, unknown>> {
  const given = await text(stdin);
  let value: unknown;
  try {
    value = JSON.parse(withoutComments(given));
  } catch {
    // The parser's message would quote a secret.
    throw new UsageError('Standard input must be one JSON object with the credentials.');
  }
  if (!isObject(value)) {
    throw new UsageError('Standard input must be one JSON object with the credentials.');
  }
  // What is pasted may have spaces around it.
  const trimmed = Object.entries(value).map(([name, each]) => [
    name,
    typeof each === 'string' ? each.trim() : each,
  ]);
  return Object.fromEntries(trimmed);
}

const suggest = defineCommand({
  name: 'platforms suggest',
  about: 'looks at what there is to follow, and prints what "platforms connect" reads',
  notes: [
    'Reads one JSON object from standard input: {"url":"postgres://reader:…@db.example.com/billing"}.',
    'What is unsure is marked with CHECK. A password is printed encrypted with CREDENTIALS_KEY.',
  ],
  arguments: platformArgument,
  options: { shop: optional(id, 'whose currency counts; by default that of the data') },
  async run({ platform, shop: shopId }, context) {
    const { config, io } = context;
    const { suggest: find } = await platform.load();
    if (!find) throw new UsageError(`There is nothing to choose from at ${platform.title}.`);
    const sealing = new Sealing(config.credentialsKeys);
    const given = openPasswords(await readObject(io), sealing);
    const printed = sealPasswords(given, sealing);
    const currency =
      shopId === undefined
        ? undefined
        : await withShop(context, shopId, async (_, shop) => shop.currency);
    const found = await find(given, currency, connectContext(context, platform));
    const others = Object.entries(printed).filter(([name]) => !(name in found.texts));
    const members = [
      ...others.map(([name, value]) => [name, JSON.stringify(value)] as const),
      ...Object.entries(found.texts),
    ].map(([name, value]) => `  "${name}": ${value.replaceAll('\n', '\n  ')}`);
    // Not print, which would change the mappings' text.
    io.stdout.write(`{\n${members.join(',\n')}\n}\n`);
    const whose = found.preset
      ? `These are the tables of ${found.preset.title}.`
      : 'These are tables of no program that is known here, so their first rows were looked at.';
    tell(io, [whose, ...found.notes].join('\n'));
    return exitStatus.done;
  },
});

const disconnect = defineCommand({
  name: 'platforms disconnect',
  acts: ['platform_disconnected'],
  about: "deletes a shop's credentials; its data stays, but is no longer synced",
  arguments: platformArgument,
  options: shopOption,
  run: ({ platform, shop }, context) =>
    withShop(context, shop, async ({ write: sql }) => {
      const account = await disconnectShop(sql, shop, platform, {
        at: new Date(systemClock.now()),
        by: context.actor,
      });
      if (account !== undefined) {
        return { platform: platform.name, shop, state: 'disconnected', account };
      }
      const { shops } = await openFor(context, platform);
      if ((await shops.find(sql, shop))?.origin === 'file') {
        throw new CommandError(
          `Shop ${shop} is connected by ${platform.settings.credentialsFile}; remove its entry there.`,
        );
      }
      throw new CommandError(`Shop ${shop} is not connected to ${platform.title}.`);
    }),
  document: ({ platform, shop, state }) => ({ platform, shop, state }),
  show: ({ shop, account }) => `Shop ${shop} is no longer connected to ${account}.`,
});

interface Listed {
  readonly platform: string;
  readonly shop: number;
  readonly account: string;
  readonly origin: 'file' | 'database';
  /** Why its data does not arrive. */
  readonly problem: string | null;
}

const list = defineCommand({
  name: 'platforms list',
  about: 'lists the shops that are connected to a platform',
  run: (_, context) =>
    withStore(context, async ({ write: sql }) => {
      const all: Listed[] = [];
      for (const platform of platforms) {
        const { shops } = await openFor(context, platform);
        const states = await listSyncStates(sql, platform.name);
        for (const { shop, account, origin, draft = null } of await shops.listAll(sql)) {
          const problem =
            draft === null
              ? (states.find(({ shopId }) => shopId === shop)?.problem ?? null)
              : 'Its owner has yet to start the first sync, on the page Sources.';
          all.push({ platform: platform.name, shop, account, origin, problem });
        }
      }
      return all;
    }),
  show: (listed) =>
    listed.length === 0
      ? 'No shop is connected to a platform.'
      : table(listed, {
          PLATFORM: ({ platform }) => platform,
          SHOP: ({ shop }) => shop,
          ACCOUNT: ({ account }) => account,
          FROM: ({ origin }) => origin,
          PROBLEM: ({ problem }) => problem,
        }),
});

export const platformCommands = [connect, disconnect, list, suggest];
