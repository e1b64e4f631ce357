import { deleteStreams, noteAccount } from '../../store/feeds/streams.ts';
import { Forbidden } from '../errors.ts';
import { connectLists } from '../list-sync.ts';
import type { PlatformCode } from '../platform.ts';
import { Catalogue } from './catalogue.ts';
import { type StripeClient, forbidden, newPace, openClient } from './client.ts';
import { streams } from './streams.ts';
import { StripeSync } from './sync.ts';

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

/** Of the accounts that this process reads: several shops may have one. */
const paces = new Map<string, ReturnType<typeof newPace>>();

export const stripeCode: PlatformCode = {
  async identify(credentials, { baseUrl, context }) {
    const client = openClient(String(credentials['key']), baseUrl, context);
    const missing = new Set<string>();
    for (const each of needed) {
      const permission = await findMissing(client, each);
      if (permission !== undefined) missing.add(permission);
    }
    if (missing.size > 0) throw new Forbidden([...missing], forbidden);
    const seesCustomers = (await findMissing(client, 'customers')) === undefined;
    return { ...credentials, account: (await client.account())['id'], seesCustomers };
  },
  connect: (connected, context) =>
    connectLists(
      connected,
      ({ key, seesCustomers }) => {
        const { account, baseUrl } = connected;
        const pace = paces.getOrInsertComputed(account, newPace);
        const client = openClient(String(key), baseUrl, { ...context, pace });
        const catalogue = new Catalogue(client, context.clock);
        return { account, client, catalogue, seesCustomers: seesCustomers === true };
      },
      StripeSync.open,
    ),
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
    if (error instanceof Forbidden) return error.missing[0];
    throw error;
  }
}
