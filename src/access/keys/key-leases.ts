import type { Clock } from '../../clock.ts';
import { LookupRefused } from '../../store/keys/key-lookups.ts';
import type { KeyRecord } from '../../store/keys/keys.ts';
import { clientNetwork } from '../client-network.ts';
import { hashKey, isWellFormedKey } from './key-format.ts';

/** Who sent a request, as far as the network tells. */
export interface Client {
  readonly ip: string | undefined;
}

type FindKey = (hash: string, client: string) => Promise<KeyRecord | undefined>;

/**
 * How long an instance may trust what it read about a key, counted from before the read was sent.
 * Changing it is safe only when every running instance has a lease no longer than what revokers wait.
 */
const leaseMilliseconds = 1000;

/**
 * How long a revocation, or a change of tier, waits after its commit before it is acknowledged: by
 * then no lease from before the commit can still run, on any instance, without comparing clocks. The
 * tenth on top allows for clocks that run at different speeds.
 */
export const leaseDrainMilliseconds = leaseMilliseconds * 1.1;

interface Lease {
  readonly end: number;
  readonly record: Promise<KeyRecord | undefined>;
}

const nobody = Promise.resolve(undefined);

/**
 * What is known of keys, never older than a lease; a key nobody has is remembered too. Found by the
 * key itself: hashing it for every request would cost as much as all else of the gate.
 */
export class KeyLeases {
  readonly #clock: Clock;
  readonly #find: FindKey;
  /** In the order of their ends, since all leases are equally long. */
  readonly #leases = new Map<string, Lease>();

  /** @param find reads the key from the primary database, never from a replica that may lag */
  constructor(clock: Clock, find: FindKey) {
    this.#clock = clock;
    this.#find = find;
  }

  /** How many leases are held at this moment. */
  get size(): number {
    return this.#leases.size;
  }

  /**
   * @param client is looked at only where the key has to be looked up
   * @returns the key's record, or undefined where the key is malformed, unknown or revoked
   */
  find(key: string, client: Client): Promise<KeyRecord | undefined> {
    const now = this.#clock.monotonic();
    const held = this.#leases.get(key);
    if (held && now < held.end) return held.record;
    if (!isWellFormedKey(key)) return nobody;

    this.#dropEnded(now);
    const lease: Lease = {
      end: now + leaseMilliseconds,
      record: this.#find(hashKey(key), clientNetwork(client.ip)).catch((error) => {
        // Nothing was read of the key: the next request asks again.
        if (this.#leases.get(key) === lease) this.#leases.delete(key);
        if (error instanceof LookupRefused) return undefined;
        throw error;
      }),
    };
    this.#leases.delete(key);
    this.#leases.set(key, lease);
    return lease.record;
  }

  #dropEnded(now: number): void {
    for (const [key, lease] of this.#leases) {
      if (now < lease.end) return;
      this.#leases.delete(key);
    }
  }
}
