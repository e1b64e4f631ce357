import { deleteStreams, noteAccount } from '../../store/feeds/streams.ts';
import type { ConnectContext, ConnectedShop, Connection, PlatformCode } from '../platform.ts';
import { suggest } from '../presets/suggest.ts';
import { parseTarget } from './address.ts';
import { withSource } from './connection.ts';
import { checkColumns } from './read.ts';
import { checkRights } from './rights.ts';
import { type StreamSpec, openStreams } from './streams.ts';
import { type SyncedSource, syncStreams } from './sync.ts';

const platform = 'postgres';
/** More than the columns of all streams take. */
const maxBytes = 16 * 1024 * 1024;

export const postgresCode: PlatformCode = {
  connect,
  async verify(shop, _currency, context) {
    const { target, streams } = await openSource(shop);
    // In the process that answers requests.
    await withSource(target, { ...optionsOf(context), maxBytes }, async (source) => {
      await checkRights(source, target.user);
      for (const stream of streams) await checkColumns(source, stream);
    });
  },
  suggest,
  partsOf: async ({ streams }) =>
    (await openStreams(streams as StreamSpec[])).map((stream) => {
      const { name, types, key, cursor, isComplete, isUnpriced } = stream;
      const rows = cursor === undefined ? 'all rows' : `changes, by ${cursor}`;
      const reads = isComplete ? `${rows}; what is gone, once a day` : rows;
      return { name, types, key, reads, isUnpriced };
    }),
  noteConnected: (tx, shopId, account) => noteAccount(tx, shopId, platform, account),
  noteDisconnected: (tx, shopId) => deleteStreams(tx, shopId, platform),
};

const optionsOf = ({ sourceNetworks = [], signal }: ConnectContext) => ({
  networks: sourceNetworks,
  signal,
});

async function openSource({ credentials }: ConnectedShop) {
  const { url, streams } = await credentials.read();
  const target = parseTarget(url);
  if (!target) throw new TypeError('Not an address that connecting has accepted.');
  return { target, streams: await openStreams(streams as StreamSpec[]) };
}

function connect(shop: ConnectedShop, context: ConnectContext): Connection {
  const { account } = shop;
  return {
    account,
    usage: () => ({}),
    async sync(intake, options) {
      const { target, streams } = await openSource(shop);
      const source = { ...optionsOf(context), signal: intake.signal };
      const read: SyncedSource['read'] = (work) =>
        withSource(target, source, async (opened) => {
          // Rights may have been given since.
          await checkRights(opened, target.user);
          return work(opened);
        });
      return syncStreams({ account, streams, read }, intake, options);
    },
  };
}
