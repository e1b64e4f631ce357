import { deleteStreams, noteAccount } from '../../store/feeds/streams.ts';
import { PlatformError } from '../errors.ts';
import type {
  ConnectContext,
  ConnectedShop,
  Connection,
  Credentials,
  PlatformCode,
} from '../platform.ts';
import { type StripeClient, openClient } from './client.ts';
import { needed, optionals } from './streams.ts';
import { type Account, StripeSync } from './sync.ts';

export const stripeCode: PlatformCode = {
  identify,
  connect,
  // The key was asked for everything when it was identified.
  verify: async () => {},
  noteConnected: (tx, shopId, account) => noteAccount(tx, shopId, 'stripe', account),
  noteDisconnected: (tx, shopId) => deleteStreams(tx, shopId, 'stripe'),
};

/** Finds out whose key it is, and what it may read. */
async function identify(
  credentials: Credentials,
  { baseUrl, context }: { baseUrl: string | undefined; context: ConnectContext },
): Promise<Credentials> {
  const client = openClient(String(credentials['key']), baseUrl, context);
  const missing = await listMissing(client, needed);
  if (missing.length > 0) {
    const all = new Intl.ListFormat('en-GB').format(missing);
    throw new PlatformError(
      'refused',
      `The key lacks permissions that the sync needs: ${all}. Edit the key at dashboard.stripe.com/apikeys, or create another one.`,
    );
  }
  const may: string[] = [];
  for (const each of optionals) {
    if ((await listMissing(client, [each])).length === 0) may.push(each);
  }
  const { id } = await client.account();
  return { ...credentials, account: id, may };
}

async function listMissing(
  client: StripeClient,
  resources: readonly Parameters<StripeClient['findMissingPermission']>[0][],
): Promise<readonly string[]> {
  const missing = new Set<string>();
  for (const each of resources) {
    const permission = await client.findMissingPermission(each);
    if (permission !== undefined) missing.add(permission);
  }
  return [...missing];
}

function connect(shop: ConnectedShop, context: ConnectContext): Connection {
  const { account, baseUrl } = shop;
  // Credentials stay as they are for as long as the connection is kept.
  let opened: Promise<Account> | undefined;
  let requests = () => 0;
  const open = () =>
    (opened ??= shop.credentials.read().then(({ key, may }) => {
      const client = openClient(String(key), baseUrl, context);
      requests = client.requests;
      return { account, client, may: may as readonly string[] };
    }));
  return {
    account,
    usage: () => ({ requests: requests() }),
    sync: async (intake, options) => (await StripeSync.open(await open(), intake)).run(options),
    follow: async (intake, { kind, id }) =>
      (await StripeSync.open(await open(), intake)).follow(kind, String(id)),
  };
}
