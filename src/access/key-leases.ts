import type { Clock } from '../clock.ts';
import type { KeyRecord } from '../store/keys.ts';

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

/** What is known of keys, by hash, never older than a lease; a key nobody has is remembered too. */
export class KeyLeases {
  readonly #clock: Clock;
  readonly #find: (hash: string) => Promise<KeyRecord | undefined>;
  /** In the order of their ends, since all leases are equally long. */
  readonly #leases = new Map<string, Lease>();

  /** @param find reads the key from the primary database, never from a replica that may lag */
  constructor(clock: Clock, find: (hash: string) => Promise<KeyRecord | undefined>) {
    this.#clock = clock;
    this.#find = find;
  }

  /** How many leases are held at this moment. */
  get size(): number {
    return this.#leases.size;
  }

  /** @returns the key's record, or undefined where the key is unknown or revoked */
  find(hash: string): Promise<KeyRecord | undefined> {
    const now = this.#clock.monotonic();
    const held = this.#leases.get(hash);
    if (held && now < held.end) return held.record;

    this.#dropEnded(now);
    const lease: Lease = { end: now + leaseMilliseconds, record: this.#find(hash) };
    this.#leases.delete(hash);
    this.#leases.set(hash, lease);
    lease.record.catch(() => {
      // A failed read says nothing about the key: the next request asks again.
      if (this.#leases.get(hash) === lease) this.#leases.delete(hash);
    });
    return lease.record;
  }

  #dropEnded(now: number): void {
    for (const [hash, lease] of this.#leases) {
      if (now < lease.end) return;
      this.#leases.delete(hash);
    }
  }
}
