import { setTimeout as sleep } from 'node:timers/promises';
import { leaseDrainMilliseconds } from '../access/keys/key-leases.ts';
import { CommandError } from '../errors.ts';
import { migrate } from '../store/migrate.ts';
import { type Store, openStore } from '../store/open.ts';
import { type Shop, findShop, requireHere } from '../store/shops.ts';
import type { Tier } from '../vocabulary.ts';
import { type Context, id, required } from './framework/command.ts';
import { type Io, tell } from './framework/io.ts';
import { type Config, urlOf } from '../config/config.ts';
import { NotReplicated } from '../store/connections/session.ts';
import type { Sql } from '../store/database.ts';
import { findReplication } from '../store/failover.ts';
import { ShopLocks } from '../store/locks.ts';
import { findWhereMoved } from '../store/moves/move.ts';
import { findServiceAddress } from '../store/owners/owners.ts';

const reasonTimeoutMilliseconds = 1_000;

/** Opens the store, migrates its schema, runs the work, and always closes the store. */
export async function withStore<T>(
  { config, io }: Context,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openStore({
    ...config,
    role: 'command',
    // Standard output has the command's result.
    ...(config.auditLog === 'stdout' && { audited: (entry) => tell(io, JSON.stringify(entry)) }),
    onWait: () =>
      tell(io, 'Other commands still use the database that this one opened. It exits after them.'),
  });
  try {
    const running = migrate(store.write, { onWait: (text) => tell(io, text) })
      .then(() => work(store))
      .catch(async (error: unknown) => {
        // A connection may fail before the store reports why the embedded database stopped.
        if (config.databaseUrl === undefined && isConnectionError(error)) {
          await Promise.race([store.failed, sleep(reasonTimeoutMilliseconds)]);
        }
        throw error;
      });
    return await Promise.race([running, rejectWhenLost(store)]);
  } finally {
    await store.close();
  }
}

function isConnectionError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('CONNECTION_');
}

/** Reports the reason; statements in progress only see that their connection was closed. */
async function rejectWhenLost(store: Store): Promise<never> {
  const reason = await store.failed;
  throw new CommandError(`The embedded database stopped: ${reason.message}`, { cause: reason });
}

/**
 * The address that links lead to: without BASE_URL, that of the server; if there never was one, that of one with these
 * settings.
 */
export async function serviceUrl({ baseUrl, host, port }: Config, sql: Sql): Promise<string> {
  return baseUrl ?? (await findServiceAddress(sql)) ?? urlOf(host, port);
}

export const shopOption = { shop: required(id, 'the id of the shop') };

/** Opens the store as `withStore` does, and finds the shop. */
export async function withShop<T>(
  context: Context,
  shopId: number,
  work: (store: Store, shop: Shop) => Promise<T>,
): Promise<T> {
  return withStore(context, async (store) => {
    const shop = await findShop(store.write, shopId);
    if (!shop) {
      await requireNotMoved(store.write, shopId);
      throw new CommandError(`There is no shop ${shopId}; "retention shops create" creates one.`);
    }
    if (shop.deletingSince) await requireHere(store.write, shopId);
    requireKept(shop);
    return work(store, shop);
  });
}

/** Opens the store, and makes this process the only one that moves, copies or deletes a shop. */
export async function withShopHeld<T>(
  context: Context,
  shopId: number,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  return withStore(context, async ({ write }) => {
    const release = await new ShopLocks(write, context.config).lock('move', shopId);
    if (!release) {
      throw new CommandError(
        `Shop ${shopId} is being moved, copied or deleted by another process. Try again when it has ended.`,
      );
    }
    try {
      return await work(write);
    } finally {
      await release();
    }
  });
}

/** @throws CommandError for a shop of which a part may be deleted */
export function requireKept({ id: shopId, deletingSince }: Shop): void {
  if (!deletingSince) return;
  throw new CommandError(
    `Shop ${shopId} is being deleted. Run "retention shops delete --id ${shopId} --yes" to finish that.`,
  );
}

/** @throws CommandError for a shop that has moved and is no longer here */
export async function requireNotMoved(sql: Sql, shopId: number): Promise<void> {
  const address = await findWhereMoved(sql, shopId);
  if (address !== undefined) throw new CommandError(`Shop ${shopId} has moved to ${address}.`);
}

/** For a shop on a tier without API access. */
export function lockedError({ id: shopId }: Pick<Shop, 'id'>, tier: Tier): CommandError {
  return new CommandError(
    `Shop ${shopId} is on the ${tier} tier, which has no API access, so nothing was changed. ` +
      `Change the tier first: "retention shops set-tier ${shopId} growth".`,
  );
}

const noticeMilliseconds = 3_000;

/** Waits for a revocation to commit; if that takes long, prints why. */
export async function awaitCommit<Result>(revocation: Promise<Result>, io: Io): Promise<Result> {
  const timer = setTimeout(() => {
    tell(
      io,
      'The database has not confirmed the revocation yet. If synchronous_standby_names is set, it waits for a standby. Until this command ends, a failover can undo the revocation.',
    );
  }, noticeMilliseconds);
  try {
    return await revocation;
  } catch (error) {
    if (error instanceof NotReplicated) {
      throw new CommandError(`${error.message} Run the command again to wait again.`);
    }
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Waits until a revocation of keys has committed and no instance accepts them; warns if a failover can undo it.
 */
export async function awaitRefusal<Result>(
  revocation: Promise<Result>,
  context: Context,
  sql: Sql,
): Promise<Result> {
  const result = await awaitCommit(revocation, context.io);
  await sleep(leaseDrainMilliseconds);
  await warnAboutFailover(context, sql);
  return result;
}

/** `no standby`: neither the server nor the configuration has one. */
export type FailoverSafety = 'no standby' | 'waits' | 'blocked' | 'can be undone' | 'unknown';

/** Whether a failover can undo a revocation that this server has just acknowledged. */
export async function assessFailover(config: Config, sql: Sql): Promise<FailoverSafety> {
  if (config.databaseUrl === undefined) return 'no standby';
  try {
    const { synchronousNames, standbys } = await findReplication(sql);
    if (synchronousNames !== '') return standbys > 0 ? 'waits' : 'blocked';
    return standbys > 0 || config.databaseReadUrls.length > 0 ? 'can be undone' : 'no standby';
  } catch {
    // Some logins cannot read these views. A completed revocation must not look as if it failed.
    return 'unknown';
  }
}

/** Warns if a failover can bring back the keys that were just revoked. */
export async function warnAboutFailover({ config, io }: Context, sql: Sql): Promise<void> {
  const safety = await assessFailover(config, sql);
  if (safety === 'can be undone') {
    tell(
      io,
      'The standbys are asynchronous: a failover right now can undo this. "After a failover" in docs/operations.md says how to revoke again.',
    );
  } else if (safety === 'unknown') {
    tell(
      io,
      'This login cannot see whether a failover can undo this; "retention doctor" explains why.',
    );
  }
}
