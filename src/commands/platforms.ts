import { text } from 'node:stream/consumers';
import { systemClock } from '../clock.ts';
import { CommandError, UsageError } from '../errors.ts';
import { isObject } from '../json.ts';
import { connectShop, disconnectShop } from '../platforms/connect.ts';
import { checkEntry } from '../platforms/credentials/file.ts';
import { Sealing } from '../platforms/credentials/sealing.ts';
import { appOf, openPlatform } from '../platforms/open.ts';
import type { Platform } from '../platforms/platform.ts';
import { findPlatform, platforms } from '../platforms/registry.ts';
import { listSyncStates } from '../store/feeds/platforms.ts';
import { type Context, type Value, defineCommand, required } from './framework/command.ts';
import { type Io, table } from './framework/io.ts';
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

const connect = defineCommand({
  name: 'platforms connect',
  about: 'connects a shop to a platform, or gives it new credentials',
  notes: [
    'Reads one JSON object from standard input:',
    ...platforms.flatMap(({ examples }) => examples.map((example) => `  ${example}`)),
    'The platform is asked whether it accepts them; only then are they stored, encrypted with CREDENTIALS_KEY.',
  ],
  arguments: platformArgument,
  options: shopOption,
  async run({ platform, shop: shopId }, context) {
    const { config, log, io } = context;
    if (config.credentialsKeys.length === 0) {
      throw new UsageError(
        'CREDENTIALS_KEY is not set: it encrypts the credentials. "openssl rand -base64 32" makes one.',
      );
    }
    const read = await readObject(io);
    const given = (await platform.readReferences?.(read)) ?? read;
    return withShop(context, shopId, async ({ write: sql }, shop) => {
      const credentials = await checkEntry(platform, { ...given, shop: shopId }, 'The object');
      const settings = config.platforms[platform.name];
      const parts = {
        opened: await openFor(context, platform),
        sql,
        sealing: new Sealing(config.credentialsKeys),
        baseUrl: settings?.baseUrl,
        context: {
          app: appOf(settings),
          sourceNetworks: config.sourceNetworks,
          clock: systemClock,
          log,
        },
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
    value = JSON.parse(given);
  } catch {
    // The parser's message would quote a secret.
    throw new UsageError('Standard input must be one JSON object with the credentials.');
  }
  if (!isObject(value)) {
    throw new UsageError('Standard input must be one JSON object with the credentials.');
  }
  return { ...value };
}

const disconnect = defineCommand({
  name: 'platforms disconnect',
  about: "deletes a shop's credentials; its data stays, but is no longer synced",
  arguments: platformArgument,
  options: shopOption,
  run: ({ platform, shop }, context) =>
    withShop(context, shop, async ({ write: sql }) => {
      const account = await disconnectShop(sql, shop, platform);
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
        for (const { shop, account, origin } of await shops.list(sql)) {
          const problem = states.find(({ shopId }) => shopId === shop)?.problem ?? null;
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

export const platformCommands = [connect, disconnect, list];
