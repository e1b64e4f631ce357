import type { Clock } from '../clock.ts';
import type { Log } from '../log/log.ts';
import { GroupedWrites } from '../store/keys/grouped-writes.ts';
import { addKeyUses, addLoggedRequests } from '../store/keys/requests.ts';
import { findKeyGeneration, listKeysByHash } from '../store/keys/keys.ts';
import { LookupAllowance, SecretLookups } from '../store/keys/secret-lookups.ts';
import type { Store } from '../store/open.ts';
import { Gate } from './gate.ts';
import { Calls, RequestLog } from './keys/request-log.ts';
import { KeyLeases } from './keys/key-leases.ts';
import { KeyUsage } from './keys/key-usage.ts';
import type { RateLimiter } from './limiter/rate-limiter.ts';

/** Who may call, and what is recorded of their calls. */
export interface Access {
  readonly gate: Gate;
  readonly leases: KeyLeases;
  readonly calls: Calls;
  /** How many entries each cache has, by the name it has in the metrics. */
  readonly caches: Readonly<Record<string, () => number>>;
}

interface AccessParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly limiter: RateLimiter;
}

export function createAccess({ store, clock, log, limiter }: AccessParts): Access {
  const uses = new GroupedWrites(store.write, addKeyUses);
  const usage = new KeyUsage(clock, log, ({ shopId, keyId }, at, counts) =>
    uses.add({ shopId, keyId, lastUsedAt: at === 0 ? null : new Date(at), counts }),
  );
  const batches = new GroupedWrites(store.write, addLoggedRequests);
  const requests = new RequestLog(clock, log, (shopId, logged) =>
    batches.add({ shopId, requests: logged }),
  );
  const allowance = new LookupAllowance(clock);
  const lookups = new SecretLookups(
    (hashes) => listKeysByHash(store.primary.keys, hashes),
    allowance,
  );
  const leases = new KeyLeases(
    clock,
    (hash, client) => lookups.find(hash, client),
    () => findKeyGeneration(store.primary.keys),
  );
  return {
    gate: new Gate({ clock, leases, limiter }),
    leases,
    calls: new Calls(usage, requests),
    caches: {
      found_keys: () => lookups.remembered,
      known_keys: () => leases.remembered,
      unknown_key_clients: () => allowance.size,
      limiter_keys: () => limiter.size,
    },
  };
}
