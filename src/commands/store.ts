import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../errors.ts';
import { migrate } from '../store/migrate.ts';
import { type Store, openStore } from '../store/open.ts';
import { type Shop, findShop } from '../store/shops.ts';
import type { Tier } from '../vocabulary.ts';
import type { Context } from './framework/command.ts';
import { tell } from './framework/io.ts';
import { id, required } from './framework/parameters.ts';

const reasonTimeoutMilliseconds = 1_000;

/** Opens the store, migrates its schema, runs the work, and always closes the store. */
export async function withStore<T>(
  { config, io }: Context,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openStore({
    ...config,
    role: 'command',
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
      throw new CommandError(`There is no shop ${shopId}; "retention shops create" creates one.`);
    }
    return work(store, shop);
  });
}

/** For a shop on a tier without API access. */
export function lockedError({ id: shopId }: Pick<Shop, 'id'>, tier: Tier): CommandError {
  return new CommandError(
    `Shop ${shopId} is on the ${tier} tier, which has no API access, so nothing was changed. ` +
      `Change the tier first: "retention shops set-tier ${shopId} growth".`,
  );
}
