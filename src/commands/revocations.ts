import { setTimeout as sleep } from 'node:timers/promises';
import { leaseDrainMilliseconds } from '../access/keys/key-leases.ts';
import { systemClock } from '../clock.ts';
import { CommandError } from '../errors.ts';
import { revokeKey } from '../access/keys/keys.ts';
import { type RevokedKey, listRevokedKeys } from '../store/keys/keys.ts';
import { firstVersion, listMissingMigrations } from '../store/migrate.ts';
import { type Store, openStore } from '../store/open.ts';
import { findShop, listShops } from '../store/shops.ts';
import {
  type Command,
  exitStatus,
  formatTable,
  parseId,
  print,
  printDone,
  printJson,
  requiredOption,
} from './command.ts';
import { awaitCommit, warnAboutFailover } from './failover.ts';
import { withShop } from './keys.ts';
import { parsePast } from './terminal/times.ts';

const revoke: Command = {
  name: 'keys revoke',
  synopsis: '--shop ID KEY_ID [--json]',
  summary: 'revokes a key: every request that begins after this returns is refused',
  options: { shop: { type: 'string' }, json: { type: 'boolean' } },
  positionals: [1, 1],
  async run(context) {
    const keyId = context.positionals[0] as string;
    await withShop(context, async (store, shop) => {
      const keyContext = { sql: store.write, clock: systemClock, log: context.log };
      const isKnown = await awaitCommit(revokeKey(keyContext, shop.id, 'command line', keyId));
      if (!isKnown) {
        throw new CommandError(
          `Shop ${shop.id} has no key ${keyId}; "retention keys list" lists its keys.`,
        );
      }
      await sleep(leaseDrainMilliseconds);
      const document = { shop: shop.id, id: keyId, state: 'revoked' };
      printDone(context, document, `Key ${keyId} is revoked.`);
      await warnAboutFailover(context.config, store.write);
    });
    return exitStatus.done;
  },
};

const revoked: Command = {
  name: 'keys revoked',
  synopsis: '--since TIME [--shop ID] [--json]',
  summary: 'lists the keys revoked or rotated since a given time, of one shop or all',
  details: [
    '--since  an ISO 8601 time such as 2026-11-21T16:00:00Z, or how long ago: 2h, 7d',
    'After a failover, the new server may not know of these keys: ask the old server, or save the output',
    'elsewhere beforehand; see "After a failover" in docs/operations.md. This command writes nothing.',
  ],
  options: { since: { type: 'string' }, shop: { type: 'string' }, json: { type: 'boolean' } },
  async run(context) {
    const { config, options } = context;
    const since = parsePast(requiredOption(context, 'since'), '--since');
    const shop = options['shop'];
    const shopId = typeof shop === 'string' ? parseId(shop, '--shop') : undefined;
    // Does not migrate: the server may be a former primary, or a standby.
    const store = await openStore({ ...config, role: 'command' });
    try {
      const keys = await listAll(store, shopId, since);
      if (options['json']) printJson(keys);
      else print(describe(keys, since));
    } finally {
      await store.close();
    }
    return exitStatus.done;
  },
};

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

function describe(keys: readonly RevokedKey[], since: Date): string {
  if (keys.length === 0) return `No key was revoked or rotated since ${since.toISOString()}.`;
  const rows = keys.map(({ shopId, keyId, name, revokedAt, expiresAt, replacedBy }) => [
    String(shopId),
    keyId,
    name,
    revokedAt?.toISOString() ?? '-',
    replacedBy === null ? '-' : `${replacedBy}, expires ${expiresAt?.toISOString()}`,
  ]);
  return formatTable(['SHOP', 'ID', 'NAME', 'REVOKED', 'REPLACED BY'], rows);
}

export const revocationCommands = [revoke, revoked];
