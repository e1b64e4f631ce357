import type { Clock } from '../../clock.ts';
import { LookupRefused } from '../../store/keys/key-lookups.ts';
import type { KeyRecord } from '../../store/keys/keys.ts';
import { clientNetwork } from '../client-network.ts';
import { hashKey, isWellFormedKey } from './key-format.ts';

/** The sender of a request, as far as the network shows. */
export interface Client {
  readonly ip: string | undefined;
}

type FindKey = (hash: string, client: string) => Promise<KeyRecord | undefined>;

/**
 * How long an instance may trust a key's record, counted from before the read was sent. It is safe to change
 * only if no running instance has a lease longer than the time that revocations wait.
 */
const leaseMilliseconds = 1000;

/**
 * How long a revocation, or a change of tier, waits between its commit and its acknowledgement. By then no
 * lease from before the commit is valid on any instance, without comparing clocks. The extra tenth allows
 * for clocks that run at different speeds.
 */
export const leaseDrainMilliseconds = leaseMilliseconds * 1.1;

interface Lease {
  readonly end: number;
  readonly record: Promise<KeyRecord | undefined>;
}

const unknownKey = Promise.resolve(undefined);

/**
 * Caches key records, including those of unknown keys, for the length of a lease. Indexed by the key itself:
 * hashing it on every request would cost as much as the rest of the gate.
 */
export class KeyLeases {
  readonly #clock: Clock;
  readonly #find: FindKey;
  /** Ordered by end, since all leases are equally long. */
  readonly #leases = new Map<string, Lease>();

  /** @param find reads the key from the primary database, never from a replica, which may lag */
  constructor(clock: Clock, find: FindKey) {
    this.#clock = clock;
    this.#find = find;
  }

  /** Number of leases in memory. */
  get size(): number {
    return this.#leases.size;
  }

  /**
   * @param client used only if the key must be looked up
   * @returns the key's record; undefined if the key is malformed or unknown
   */
  find(key: string, client: Client): Promise<KeyRecord | undefined> {
    const now = this.#clock.monotonic();
    const held = this.#leases.get(key);
    if (held && now < held.end) return held.record;
    if (!isWellFormedKey(key)) return unknownKey;

    this.#dropExpired(now);
    const lease: Lease = {
      end: now + leaseMilliseconds,
      record: this.#find(hashKey(key), clientNetwork(client.ip)).catch((error) => {
        // No record was read, so the next request tries again.
        if (this.#leases.get(key) === lease) this.#leases.delete(key);
        if (error instanceof LookupRefused) return undefined;
        throw error;
      }),
    };
    this.#leases.delete(key);
    this.#leases.set(key, lease);
    return lease.record;
  }

  #dropExpired(now: number): void {
    for (const [key, lease] of this.#leases) {
      if (now < lease.end) return;
      this.#leases.delete(key);
    }
  }
}
