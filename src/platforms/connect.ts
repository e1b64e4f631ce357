import type { Actor } from '../acts.ts';
import { CommandError } from '../errors.ts';
import { type Happened, appendEntry } from '../store/owners/audit.ts';
import type { Sql } from '../store/database.ts';
import {
  deleteConnection,
  findConnection,
  listConnections,
  upsertConnection,
  startConnection,
  deleteSyncStates,
  upsertSyncState,
} from '../store/feeds/platforms.ts';
import { type Shop, findShop } from '../store/shops.ts';
import type { ConnectedShop, Credentials, ConnectContext, Platform } from './platform.ts';
import { type CredentialStore, seal } from './credentials/stored.ts';
import type { OpenPlatform } from './open.ts';

export interface ConnectParts {
  readonly opened: Pick<OpenPlatform, 'platform' | 'code' | 'shops'>;
  readonly sql: Sql;
  readonly sealing: CredentialStore['sealing'];
  readonly baseUrl: string | undefined;
  readonly context: ConnectContext;
  readonly by: Actor;
}

interface ConnectOptions {
  /** Whether the first sync may replace data that came from elsewhere. */
  readonly takesOver?: boolean;
  /** What was found, as JSON, if the owner has to start the sync; by default it is due at once. */
  readonly draft?: string | undefined;
}

/**
 * Connects a shop to a platform, or gives it other credentials, once the platform accepts them.
 * @returns the shop's name at the platform
 * @throws CommandError if the platform does not accept them, or the shop or account is taken
 */
export async function connectShop(
  { opened, sql, sealing, baseUrl, context, by }: ConnectParts,
  shop: Pick<Shop, 'id' | 'currency'>,
  given: Credentials,
  { takesOver = false, draft }: ConnectOptions = {},
): Promise<string> {
  const { platform, code, shops } = opened;
  const credentials = (await code.identify?.(given, { baseUrl, context })) ?? given;
  const account = platform.accountOf(credentials);
  // A platform that names the account itself knows whether it is another; an address may be a new one of the same source.
  const before = code.identify && (await findConnection(sql, shop.id, platform.name));
  if (before?.draft === null && before.account !== account) {
    throw new CommandError(
      `The shop is connected to ${before.account}, and this is of ${account}; disconnect first.`,
    );
  }
  const sealed = seal({ sql, platform: platform.name, sealing }, credentials);
  const known = (await shops.list(sql)).filter(({ origin }) => origin === 'file');
  if (known.some((each) => each.shop === shop.id)) {
    throw new CommandError(
      `Shop ${shop.id} is connected by the operator, in ${platform.settings.credentialsFile}.`,
    );
  }
  const { sharesAccounts } = platform;
  const isShared = sharesAccounts !== undefined;
  if (sharesAccounts === 'currencies' && before?.account !== account) {
    for (const other of await listConnections(sql, platform.name)) {
      if (other.account !== account || other.shopId === shop.id) continue;
      if ((await findShop(sql, other.shopId))?.currency !== shop.currency) continue;
      throw new CommandError(
        `Another shop here takes the subscriptions in ${shop.currency} of ${account}, and each customer would count in both. Disconnect it there first.`,
      );
    }
  }
  if (!isShared && known.some((each) => each.account === account)) throw takenError(account);
  const connected: ConnectedShop = {
    shop: shop.id,
    account,
    baseUrl,
    origin: 'database',
    version: '',
    credentials: { read: async () => credentials, renew: async (stale, ask) => ask(stale) },
  };
  await code.verify(connected, shop.currency, context);
  const connectedAt = new Date(context.clock.now());
  await sql.begin(async (tx) => {
    const stored = {
      shopId: shop.id,
      account,
      isShared,
      credentials: sealed,
      connectedAt,
      draft: draft ?? null,
    };
    if ((await upsertConnection(tx, platform.name, stored)) !== undefined) {
      throw takenError(account);
    }
    await code.noteConnected?.(tx, shop.id, account, connectedAt);
    await upsertSyncState(tx, shop.id, platform.name, dueAt(connectedAt, takesOver));
    const target = `${platform.title}: ${account}`;
    await appendEntry(tx, shop.id, { at: connectedAt, by, what: 'platform_connected', target });
  });
  return account;
}

function dueAt(at: Date, takesOver: boolean) {
  const fresh = { failures: 0, problem: null, refusedAt: null, refusedVersion: null };
  return { ...fresh, dueAt: at, takesOver };
}

/** Starts the sync of a shop whose owner has seen what would be stored. @returns false if it had started */
export async function startShop(
  sql: Sql,
  shopId: number,
  { name }: Platform,
  { at, takesOver }: { readonly at: Date; readonly takesOver: boolean },
): Promise<boolean> {
  return sql.begin(async (tx) => {
    const isStarted = await startConnection(tx, shopId, name);
    if (isStarted) await upsertSyncState(tx, shopId, name, dueAt(at, takesOver));
    return isStarted;
  });
}

/** Does not say which shop it is: that may be another owner's. */
function takenError(account: string): CommandError {
  return new CommandError(
    `Another shop here is already connected to ${account}. Disconnect it there first.`,
  );
}

/**
 * Disconnects a shop: its credentials are deleted, and it is no longer synced. Its data stays.
 * @returns the shop's name at the platform; undefined if it was not connected in the database
 */
export async function disconnectShop(
  sql: Sql,
  shopId: number,
  { name, title, load }: Platform,
  { at, by }: Pick<Happened, 'at' | 'by'>,
): Promise<string | undefined> {
  const { noteDisconnected } = await load();
  return sql.begin(async (tx) => {
    const account = await deleteConnection(tx, shopId, name);
    // With a file that names the shop too, it is still synced.
    if (account !== undefined) {
      await deleteSyncStates(tx, [shopId], name);
      await noteDisconnected?.(tx, shopId);
      const target = `${title}: ${account}`;
      await appendEntry(tx, shopId, { at, by, what: 'platform_disconnected', target });
    }
    return account;
  });
}
