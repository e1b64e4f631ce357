import { deleteStreams, noteAccount } from '../../store/feeds/streams.ts';
import type { Intake } from '../intake.ts';
import type { ConnectContext, ConnectedShop, Connection, PlatformCode } from '../platform.ts';
import { Catalogue } from './catalogue.ts';
import { Forbidden, type StripeClient, newPace, openClient } from './client.ts';
import { streams } from './streams.ts';
import { type Account, StripeSync } from './sync.ts';

const needed = [
  'account',
  'subscriptions',
  'invoices',
  'refunds',
  'disputes',
  'events',
  'prices',
  'products',
  'coupons',
] as const;

export const stripeCode: PlatformCode = {
  async identify(credentials, { baseUrl, context }) {
    const client = openClient(String(credentials['key']), baseUrl, context);
    const missing = new Set<string>();
    for (const each of needed) {
      const permission = await findMissing(client, each);
      if (permission !== undefined) missing.add(permission);
    }
    if (missing.size > 0) throw new Forbidden([...missing]);
    const seesCustomers = (await findMissing(client, 'customers')) === undefined;
    return { ...credentials, account: (await client.account())['id'], seesCustomers };
  },
  connect,
  // The key was asked for everything when it was identified.
  verify: async () => {},
  partsOf: async () =>
    streams.map(({ name, types }) => ({ name, types, reads: 'changes, every two minutes' })),
  noteConnected: (tx, shopId, account) => noteAccount(tx, shopId, 'stripe', account),
  noteDisconnected: (tx, shopId) => deleteStreams(tx, shopId, 'stripe'),
};

/** The permission that a key lacks to read something. */
async function findMissing(
  client: StripeClient,
  what: (typeof needed)[number] | 'customers',
): Promise<string | undefined> {
  try {
    if (what === 'account') await client.account();
    else for await (const _ of client.list(what, { limit: 1 })) break;
    return undefined;
  } catch (error) {
    if (error instanceof Forbidden) return error.permissions[0];
    throw error;
  }
}

/** Of the accounts that this process reads. */
const paces = new Map<string, ReturnType<typeof newPace>>();

function connect(
  { account, baseUrl, credentials }: ConnectedShop,
  context: ConnectContext,
): Connection {
  // Credentials stay as they are for as long as this connection is used.
  let opened: Account | undefined;
  const open = async (intake: Intake): Promise<StripeSync> => {
    if (!opened) {
      const { key, seesCustomers } = await credentials.read();
      const client = openClient(String(key), baseUrl, {
        ...context,
        pace: paces.getOrInsertComputed(account, newPace),
      });
      const catalogue = new Catalogue(client, context.clock);
      opened = { account, client, catalogue, seesCustomers: seesCustomers === true };
    }
    return StripeSync.open(opened, intake);
  };
  return {
    account,
    usage: () => ({ requests: opened?.client.requests() ?? 0 }),
    sync: async (intake, options) => (await open(intake)).run(options),
    follow: async (intake, hint) => (await open(intake)).follow(hint),
  };
}
