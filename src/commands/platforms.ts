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
import { listSyncStates } from '../store/platforms/syncs.ts';
import {
  type Command,
  type CommandContext,
  exitStatus,
  formatTable,
  print,
  printDone,
  printJson,
  withStore,
} from './command.ts';
import { withShop } from './keys.ts';

const platformAndShop = {
  options: { shop: { type: 'string' }, json: { type: 'boolean' } },
  positionals: [1, 1],
  values: { 1: platforms.map(({ name }) => name) },
} as const;

function platformOf({ positionals: [name = ''] }: CommandContext): Platform {
  const platform = findPlatform(name);
  if (platform) return platform;
  const known = platforms.map((each) => each.name).join(', ');
  throw new UsageError(`There is no platform "${name}"; there is: ${known}.`);
}

function openFor({ config, log }: CommandContext, platform: Platform) {
  const { signal } = new AbortController();
  return openPlatform(platform, { config, clock: systemClock, log, signal });
}

const connect: Command = {
  name: 'platforms connect',
  synopsis: 'PLATFORM --shop ID [--json] < CREDENTIALS.json',
  summary: 'connects a shop to a platform, or gives it new credentials',
  details: [
    'Reads one JSON object from standard input, with the fields of an entry of the credentials file:',
    '  {"domain":"sample-shop.myshopify.com","accessToken":"shpat_…"}',
    '  {"domain":"sample-shop.myshopify.com","clientId":"…","clientSecret":"…"}',
    'The platform is asked whether it accepts them; only then are they stored, encrypted with CREDENTIALS_KEY.',
  ],
  ...platformAndShop,
  async run(context) {
    const { config, log } = context;
    const platform = platformOf(context);
    if (config.credentialsKeys.length === 0) {
      throw new UsageError(
        'CREDENTIALS_KEY is not set: it encrypts the credentials. "openssl rand -base64 32" makes one.',
      );
    }
    const given = await readObject();
    await withShop(context, async ({ write: sql }, shop) => {
      const credentials = checkEntry(platform, { ...given, shop: shop.id }, 'The object');
      const settings = config.platforms[platform.name];
      const parts = {
        opened: await openFor(context, platform),
        sql,
        sealing: new Sealing(config.credentialsKeys),
        baseUrl: settings?.baseUrl,
        context: { app: appOf(settings), clock: systemClock, log },
      };
      await connectShop(parts, shop, credentials);
      printDone(
        context,
        { platform: platform.name, shop: shop.id, state: 'connected' },
        `Shop ${shop.id} is connected to ${String(credentials[platform.accountField])}. "serve" or "sync ${platform.name}" fetches its data.`,
      );
    });
    return exitStatus.done;
  },
};

async function readObject(): Promise<Record<string, unknown>> {
  const given = await text(process.stdin);
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

const disconnect: Command = {
  name: 'platforms disconnect',
  synopsis: 'PLATFORM --shop ID [--json]',
  summary: "deletes a shop's credentials; its data stays, but is no longer synced",
  ...platformAndShop,
  async run(context) {
    const platform = platformOf(context);
    const { settings, title } = platform;
    await withShop(context, async ({ write: sql }, { id }) => {
      const account = await disconnectShop(sql, id, platform);
      if (account !== undefined) {
        const document = { platform: platform.name, shop: id, state: 'disconnected' };
        return printDone(context, document, `Shop ${id} is no longer connected to ${account}.`);
      }
      const { shops } = await openFor(context, platform);
      if ((await shops.find(sql, id))?.origin === 'file') {
        throw new CommandError(
          `Shop ${id} is connected by ${settings.credentialsFile}; remove its entry there.`,
        );
      }
      throw new CommandError(`Shop ${id} is not connected to ${title}.`);
    });
    return exitStatus.done;
  },
};

interface Listed {
  readonly platform: string;
  readonly shop: number;
  readonly account: string;
  readonly origin: 'file' | 'database';
  /** Why its data does not arrive. */
  readonly problem: string | null;
}

const list: Command = {
  name: 'platforms list',
  synopsis: '[--json]',
  summary: 'lists the shops that are connected to a platform',
  options: { json: { type: 'boolean' } },
  async run(context) {
    const listed = await withStore(context.config, async ({ write: sql }) => {
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
    });
    if (context.options['json']) printJson(listed);
    else if (listed.length === 0) print('No shop is connected to a platform.');
    else {
      const rows = listed.map(({ platform, shop, account, origin, problem }) => [
        platform,
        String(shop),
        account,
        origin,
        problem ?? '',
      ]);
      print(formatTable(['PLATFORM', 'SHOP', 'ACCOUNT', 'FROM', 'PROBLEM'], rows));
    }
    return exitStatus.done;
  },
};

export const platformCommands: readonly Command[] = [connect, disconnect, list];
