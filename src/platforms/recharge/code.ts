import { CommandError } from '../../errors.ts';
import { deleteStreams, noteAccount } from '../../store/feeds/streams.ts';
import { Forbidden } from '../errors.ts';
import { connectLists } from '../list-sync.ts';
import type { PlatformCode } from '../platform.ts';
import { forbidden, openClient } from './client.ts';
import { streams, syncStore } from './sync.ts';

export const rechargeCode: PlatformCode = {
  async identify(credentials, { baseUrl, context }) {
    const client = openClient(String(credentials['token']), baseUrl, context);
    const missing: string[] = [];
    const note = (error: unknown) => {
      if (!(error instanceof Forbidden)) throw error;
      missing.push(...error.missing);
    };
    const store = await client.store().catch(note);
    for (const { name } of streams) await client.list(name, { limit: '1' }).next().catch(note);
    if (!store || missing.length > 0) throw new Forbidden(missing, forbidden);
    const { identifier, name, currency, enabled_presentment_currencies: others } = store;
    const all = new Set([currency, ...(Array.isArray(others) ? others : [])]);
    const currencies = [...all].filter((each) => typeof each === 'string');
    return { ...credentials, account: identifier ?? name, currencies };
  },
  connect: (connected, context) =>
    connectLists(
      connected,
      ({ token, currencies }) => ({
        account: connected.account,
        client: openClient(String(token), connected.baseUrl, context),
        currency: (currencies as readonly string[])[0],
      }),
      async (store, intake) => ({ run: (options) => syncStore(store, intake, options) }),
    ),
  // The token was asked for everything when it was identified.
  async verify({ account, credentials }, currency) {
    const currencies = (await credentials.read())['currencies'] as readonly string[];
    if (currencies.includes(currency)) return;
    const all = new Intl.ListFormat('en-GB').format(currencies);
    throw new CommandError(`${account} sells in ${all}, and this shop is in ${currency}.`);
  },
  partsOf: async () =>
    streams.map(({ name, types }) => ({ name, types, reads: 'changes, every two minutes' })),
  noteConnected: (tx, shopId, account) => noteAccount(tx, shopId, 'recharge', account),
  noteDisconnected: (tx, shopId) => deleteStreams(tx, shopId, 'recharge'),
};
