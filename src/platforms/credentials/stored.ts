import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { CommandError } from '../../errors.ts';
import type { Sql } from '../../store/database.ts';
import {
  type StoredConnection,
  claimRenewal,
  endRenewal,
  findConnection,
  listConnections,
  replaceSealed,
} from '../../store/feeds/platforms.ts';
import { type Backoff, realBackoff } from '../backoff.ts';
import type { CredentialSource, Credentials } from '../platform.ts';
import type { Sealing } from './sealing.ts';

export interface CredentialStore {
  readonly sql: Sql;
  /** The platform's name. */
  readonly platform: string;
  readonly sealing: Sealing;
  readonly backoff?: Backoff;
}

/** Longer than a renewal takes, with its retries: until then no other process may ask the platform. */
const renewalSeconds = 120;
const pollMilliseconds = 250;

/** What sealed credentials belong to; also says in errors which ones are meant. */
export function contextOf(platform: string, shopId: number): string {
  return `${platform} of shop ${shopId}`;
}

/** Encrypts credentials for the database. @throws CommandError without CREDENTIALS_KEY */
export function seal(
  { sealing, platform }: CredentialStore,
  { shop, ...fields }: Credentials,
): string {
  return sealing.seal(JSON.stringify(fields), contextOf(platform, shop));
}

/** The credentials of a shop in the database. */
export function storedCredentials(store: CredentialStore, shopId: number): CredentialSource {
  const { sql, platform, sealing, backoff = realBackoff } = store;

  async function read(): Promise<Credentials> {
    const found = await findConnection(sql, shopId, platform);
    if (!found) throw new CommandError(`Shop ${shopId} is no longer connected to ${platform}.`);
    const text = sealing.open(found.credentials, contextOf(platform, shopId));
    return { ...JSON.parse(text), shop: shopId };
  }

  return {
    read,
    async renew(stale, ask, signal) {
      const renewal = { shopId, platform, by: randomUUID() };
      for (;;) {
        const current = await read();
        if (!isDeepStrictEqual(current, stale)) return current;
        if (await claimRenewal(sql, renewal, renewalSeconds)) break;
        await backoff.wait(pollMilliseconds * (1 + backoff.random()), signal);
      }
      try {
        // The claim before this one may have just ended.
        const current = await read();
        if (!isDeepStrictEqual(current, stale)) return current;
        const fresh = await ask(current);
        if (await endRenewal(sql, renewal, seal(store, fresh))) return fresh;
        throw new CommandError(
          `Shop ${shopId} was connected to ${platform} anew, or disconnected, while its credentials were renewed.`,
        );
      } finally {
        // No effect if it has ended. If the database is away, the claim ends by itself.
        await endRenewal(sql, renewal).catch(() => {});
      }
    },
  };
}

/** Encrypts credentials anew that were encrypted with an older key. @returns how many */
export async function resealAll({ sql, platform, sealing }: CredentialStore): Promise<number> {
  let count = 0;
  for (const { shopId, credentials } of await listConnections(sql, platform)) {
    const fresh = sealing.reseal(credentials, contextOf(platform, shopId));
    if (fresh === credentials) continue;
    await replaceSealed(sql, { shopId, platform }, { old: credentials, new: fresh });
    count += 1;
  }
  return count;
}

/** Which shops' credentials cannot be decrypted: the key is missing, or they are damaged. */
export function listUnreadable(
  { platform, sealing }: Pick<CredentialStore, 'platform' | 'sealing'>,
  connections: readonly Pick<StoredConnection, 'shopId' | 'credentials'>[],
): number[] {
  return connections
    .filter(({ shopId, credentials }) => !sealing.canOpen(credentials, contextOf(platform, shopId)))
    .map(({ shopId }) => shopId);
}
